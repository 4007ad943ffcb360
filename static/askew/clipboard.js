/* Cells as text with tabs between them, as spreadsheets copy and paste. The texts themselves are never changed. */

export const CELLS = "application/x-askew-cells"; // the same cells as JSON, for pasting into another of our tables

/* [[text, ...], ...] as text: a cell that would be read as several, or that begins with a quote, is put in quotes. */
/** @param {readonly (readonly string[])[]} lines */
export function toText(lines) {
  return lines.map((cells) => cells.map(written).join("\t")).join("\n");
}

/** @param {string} cell */
function written(cell) {
  return /[\t\n\r]|^"/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/* The cells of a text: tabs part cells and line ends part rows, except in quotes. One line end at the end says nothing.
   Quotes around a cell that needs none belong to it: "Heroes" is a title. */
/** @param {string} text */
export function fromText(text) {
  /** @type {string[][]} */
  const lines = [[]];
  let rest = text;
  for (;;) {
    const quoted = /^"([^"]*(?:""[^"]*)*)"(?=[\t\n\r]|$)/.exec(rest);
    const cell = quoted ? quoted[0] : /^[^\t\n\r]*/.exec(rest)?.[0] ?? "";
    lines.at(-1).push(quoted && /[\t\n\r]|""/.test(quoted[1]) ? quoted[1].replaceAll('""', '"') : cell);
    rest = rest.slice(cell.length);
    const end = /^(?:\t|\r\n|\n|\r)/.exec(rest)?.[0];
    if (end === undefined) return lines;
    rest = rest.slice(end.length);
    if (end === "\t") continue;
    if (!rest) return lines;
    lines.push([]);
  }
}

/* Write cells to a clipboard event: as text for everybody, exactly for ourselves. */
/** @param {DataTransfer} data @param {readonly (readonly string[])[]} lines */
export function put(data, lines) {
  const single = lines.length === 1 && lines[0].length === 1;
  data.setData("text/plain", single ? lines[0][0] : toText(lines));
  data.setData(CELLS, JSON.stringify(lines));
}

/* The cells of a clipboard event, or null where it holds no text. Some programs copy tables as HTML alone. */
/** @param {DataTransfer} data @returns {string[][] | null} */
export function take(data) {
  const own = data.getData(CELLS);
  if (own) {
    try {
      const lines = JSON.parse(own);
      if (Array.isArray(lines) && lines.every((cells) => Array.isArray(cells) && cells.every((cell) => typeof cell === "string"))) return lines;
    } catch { /* not ours after all: then the text */ }
  }
  const text = data.getData("text/plain");
  if (text) return fromText(text);
  const html = data.getData("text/html");
  if (!html) return null;
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const rows = [...body.querySelectorAll("tr")].map((tr) => [...tr.cells].map((cell) => (cell.textContent ?? "").trim()));
  return rows.length ? rows : fromText((body.textContent ?? "").trim());
}
