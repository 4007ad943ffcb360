/* <askew-marked-cells>: the cells that are marked in the table so far, row by row, as text. */

import { element } from "../askew/elements.js";
import { counted, t } from "../askew/language.js";

const MOST_ROWS = 8;
const LONGEST = 40; // characters of a cell

class AskewMarkedCells extends HTMLElement {
  /** @type {AnnotatePage} */
  #page = /** @type {never} */ (undefined);

  connectedCallback() {
    this.#page = this.closest("askew-annotate");
    this.addEventListener("item-shown", () => this.#write());
    this.#page.addEventListener("grid-change", () => this.#write());
  }

  #write() {
    const { grid } = this.#page;
    const { cells, base } = grid;
    /** @type {Map<string, number[]>} */
    const rows = new Map();
    for (const [row, column] of cells) {
      if (!rows.has(row)) rows.set(row, []);
      rows.get(row).push(base.column_ids.indexOf(column));
    }
    const lines = [...rows].slice(0, MOST_ROWS).map(([row, columns]) => {
      const at = base.row_ids.indexOf(row);
      const texts = columns.map((column) => `${name(base, column)}: ${short(base.rows[at][column]) || t("empty")}`);
      return item(t`Row ${at + 1}. ${texts.join("; ")}`);
    });
    if (rows.size > MOST_ROWS) lines.push(item(counted(rows.size - MOST_ROWS, "and cells in {0} more row", "and cells in {0} more rows")));
    const byKey = element("span", { className: "key-hint", textContent: t("With the keyboard: arrow keys and Space.") });
    const none = element("p", { className: "soft small" }, t("None yet. Press a cell to mark it."), " ", byKey);
    this.replaceChildren(cells.length ? element("ul", { className: "marked-cells" }, ...lines) : none);
  }
}

/** @param {WholeTable} base @param {number} column */
function name(base, column) {
  return base.header[column].trim() || t`column ${column + 1}`;
}

/** @param {string} text */
function short(text) {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** @param {string} text */
const item = (text) => element("li", { textContent: text, dir: "auto" });

customElements.define("askew-marked-cells", AskewMarkedCells);
