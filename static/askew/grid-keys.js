/* The keys of the table, by mode, as the page's list of keys shows them: [[keys], what they do]. */

import { t } from "./language.js";

/** @type {KeyRow[]} */
const MOVE = [
  [["←", "↑", "→", "↓"], t("move")],
  [["Ctrl ←↑→↓"], t("to the edge of the table")],
  [["Home", "End"], t("first or last column; with Ctrl the corner")],
  [["Page up", "Page down"], t("a screen up or down")],
];
/** @type {KeyRow[]} */
const RANGE = [
  [["Shift ←↑→↓"], t("select a range; also with Ctrl, Home, End and Page")],
  [["Ctrl A"], t("all cells")],
];
/** @type {KeyRow[]} */
const FIND = [
  [["Ctrl F"], t("find in the table; twice for the browser's search")],
  [["Ctrl +", "Ctrl −", "Ctrl 0"], t("zoom the table in, out, back to normal")],
];
/** @type {KeyRow[]} */
const WHOLE = [[["Alt ↓"], t("read the whole text of the cell")]];
/** @type {KeyRow[]} */
const SLASH = [[["/"], t("find in the table")]];
/** @type {KeyRow[]} */
const COPY = [[["Ctrl C"], t("copy the range, as in a spreadsheet")]];
/** @type {KeyRow[]} */
const UNDO = [[["Ctrl Z", "Ctrl Y"], t("undo, redo")]];
/** @type {KeyRow[]} */
const END = [[["Enter"], t("submit")], [["Esc"], t("clear the range; without one, leave the table")]];

/* What is chosen and removed where rows, columns or both may be. */
/** @type {KeyRow} */
const KEEP = [["K"], t("keep only what is chosen")];
/** @type {Record<"both" | "rows" | "columns", KeyRow[]>} */
const CHOOSE = {
  both: [
    [["Shift Space", "Ctrl Space"], t("choose the row, the column; several are possible")],
    [["X", "Del"], t("remove or restore what is chosen")],
    KEEP,
    [["Alt Del", "Alt Shift Del"], t("remove or restore the row, the column")],
  ],
  rows: [[["Space"], t("choose the row; several are possible")], [["X", "Del"], t("remove or restore the row or what is chosen")], KEEP],
  columns: [[["Space"], t("choose the column; several are possible")], [["X", "Del"], t("remove or restore the column or what is chosen")], KEEP],
};

/** @type {Record<string, KeyRow[]>} */
const KEYS = {
  read: [[["←", "↑", "→", "↓"], t("scroll")], [["Tab", "Enter"], t("read the whole text of the cell")], ...SLASH, ...FIND],
  select: [
    ...MOVE,
    [["Space"], t("mark or unmark the cell or range; on a header or row number, also Enter: all of it")],
    [["Shift ←↑→↓"], t("select a range; also with Ctrl, Home, End and Page")],
    [["Shift Space", "Ctrl Space"], t("mark the row, the column")],
    [["Ctrl A"], t("mark all cells")],
    [["Del"], t("unmark the range")],
    ...UNDO, ...END, ...COPY, ...WHOLE, ...SLASH, ...FIND,
  ],
  edit: [
    ...MOVE, ...RANGE,
    [["Shift Space", "Ctrl Space"], t("select the row, the column")],
    [[t("any character")], t("type a new value")],
    [["F2"], t("edit the value or the name of the column")],
    [["Enter"], t("save the value; when not editing, submit")],
    [["Shift Enter", "Alt Enter"], t("line break, while editing")],
    [["Tab"], t("next cell")],
    [["Esc"], t("cancel the edit; clear the range; then leave the table")],
    [["Del"], t("empty the cells")],
    ...UNDO,
    [["Ctrl C", "Ctrl X", "Ctrl V"], t("copy, cut and paste cells, as in a spreadsheet")],
    [["Alt Del"], t("remove or restore the row; with Shift the column")],
    [["Alt Enter"], t("insert a row below")],
    ...WHOLE,
    ...FIND,
  ],
  structure: [
    ...MOVE, ...RANGE,
    ...CHOOSE.both,
    ...UNDO, ...END, ...COPY, ...WHOLE, ...SLASH, ...FIND,
  ],
  compare: [[["N", "Shift N"], t("next change, previous change")], ...SLASH, ...FIND],
};

/* `allowed` are the operations that may be made, as the grid has them; null for all. */
/** @param {string} mode @param {readonly string[] | null} allowed */
export function gridKeys(mode, allowed = null) {
  const keys = KEYS[mode] ?? KEYS.read;
  const [rows, columns] = ["remove_row", "remove_column"].map((name) => !allowed || allowed.includes(name));
  if (mode !== "structure" || rows === columns) return keys;
  return keys.flatMap((line) => (line === CHOOSE.both[0] ? CHOOSE[rows ? "rows" : "columns"] : CHOOSE.both.includes(line) ? [] : [line]));
}
