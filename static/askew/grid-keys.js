/* The keys of the table, by mode, as the page's list of keys shows them: [[keys], what they do]. */

const MOVE = [
  [["←", "↑", "→", "↓"], "move"],
  [["Ctrl ←↑→↓"], "to the edge of the table"],
  [["Home", "End"], "first or last column; with Ctrl the corner"],
  [["Page up", "Page down"], "a screen up or down"],
];
const RANGE = [
  [["Shift ←↑→↓"], "select a range; also with Ctrl, Home, End and Page"],
  [["Ctrl A"], "all cells"],
];
const FIND = [
  [["Ctrl F"], "find in the table; twice: the browser's own search"],
  [["Ctrl +", "Ctrl −", "Ctrl 0"], "larger, smaller, plain size of the table"],
];
const SLASH = [[["/"], "find in the table"]];
const COPY = [[["Ctrl C"], "copy the range, as spreadsheets do"]];
const UNDO = [[["Ctrl Z", "Ctrl Y"], "undo, redo"]];
const END = [[["Enter"], "submit"], [["Esc"], "drop the range; without one, leave the table"]];

/* What is chosen and removed where rows, columns or both may be. */
const KEEP = [["K"], "keep what is chosen and remove everything else"];
const CHOOSE = {
  both: [
    [["Shift Space", "Ctrl Space"], "choose the row, the column, one after the other"],
    [["X", "Del"], "remove what is chosen, or put it back"],
    KEEP,
    [["Alt Del", "Alt Shift Del"], "remove the row, the column, or put it back"],
  ],
  rows: [[["Space"], "choose the row, one after the other"], [["X", "Del"], "remove the row or what is chosen, or put it back"], KEEP],
  columns: [[["Space"], "choose the column, one after the other"], [["X", "Del"], "remove the column or what is chosen, or put it back"], KEEP],
};

const KEYS = {
  read: [[["←", "↑", "→", "↓"], "scroll"], ...SLASH, ...FIND],
  select: [
    ...MOVE,
    [["Space"], "mark the cell or the range, or take the mark away; also Enter on a header or a row's number: all of it"],
    [["Shift ←↑→↓"], "select a range; also with Ctrl, Home, End and Page"],
    [["Shift Space", "Ctrl Space"], "mark the row, the column"],
    [["Ctrl A"], "mark all cells"],
    [["Del"], "take the marks of the range away"],
    ...UNDO, ...END, ...COPY, ...SLASH, ...FIND,
  ],
  edit: [
    ...MOVE, ...RANGE,
    [["Shift Space", "Ctrl Space"], "select the row, the column"],
    [["any character"], "type a new value"],
    [["F2"], "edit the value or the name of the column"],
    [["Enter"], "keep the value; when not editing, submit"],
    [["Shift Enter", "Alt Enter"], "line break, while editing"],
    [["Tab"], "next cell"],
    [["Esc"], "cancel the edit; drop the range; then leave the table"],
    [["Del"], "empty the cells"],
    ...UNDO,
    [["Ctrl C", "Ctrl X", "Ctrl V"], "copy, cut and paste cells, as spreadsheets do"],
    [["Alt Del"], "remove the row, or put it back; with Shift the column"],
    [["Alt Enter"], "insert a row below"],
    ...FIND,
  ],
  structure: [
    ...MOVE, ...RANGE,
    ...CHOOSE.both,
    ...UNDO, ...END, ...COPY, ...SLASH, ...FIND,
  ],
  compare: [[["N", "Shift N"], "next change, previous change"], ...SLASH, ...FIND],
};

/* `allowed` are the operations that may be made, as the grid has them; null for all. */
export function gridKeys(mode, allowed = null) {
  const keys = KEYS[mode] ?? KEYS.read;
  const [rows, columns] = ["remove_row", "remove_column"].map((name) => !allowed || allowed.includes(name));
  if (mode !== "structure" || rows === columns) return keys;
  return keys.flatMap((line) => (line === CHOOSE.both[0] ? CHOOSE[rows ? "rows" : "columns"] : CHOOSE.both.includes(line) ? [] : [line]));
}
