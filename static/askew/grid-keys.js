/* The keys of the table, by mode, as the page's list of keys shows them: [[keys], what they do]. */

import { t } from "./language.js";

const MOVE = [
  [["←", "↑", "→", "↓"], t("move")],
  [["Ctrl ←↑→↓"], t("to the edge of the table")],
  [["Home", "End"], t("first or last column; with Ctrl the corner")],
  [["Page up", "Page down"], t("a screen up or down")],
];
const RANGE = [
  [["Shift ←↑→↓"], t("select a range; also with Ctrl, Home, End and Page")],
  [["Ctrl A"], t("all cells")],
];
const FIND = [
  [["Ctrl F"], t("find in the table; twice: the browser's own search")],
  [["Ctrl +", "Ctrl −", "Ctrl 0"], t("larger, smaller, plain size of the table")],
];
const SLASH = [[["/"], t("find in the table")]];
const COPY = [[["Ctrl C"], t("copy the range, as spreadsheets do")]];
const UNDO = [[["Ctrl Z", "Ctrl Y"], t("undo, redo")]];
const END = [[["Enter"], t("submit")], [["Esc"], t("drop the range; without one, leave the table")]];

/* What is chosen and removed where rows, columns or both may be. */
const KEEP = [["K"], t("keep what is chosen and remove everything else")];
const CHOOSE = {
  both: [
    [["Shift Space", "Ctrl Space"], t("choose the row, the column, one after the other")],
    [["X", "Del"], t("remove what is chosen, or put it back")],
    KEEP,
    [["Alt Del", "Alt Shift Del"], t("remove the row, the column, or put it back")],
  ],
  rows: [[["Space"], t("choose the row, one after the other")], [["X", "Del"], t("remove the row or what is chosen, or put it back")], KEEP],
  columns: [[["Space"], t("choose the column, one after the other")], [["X", "Del"], t("remove the column or what is chosen, or put it back")], KEEP],
};

const KEYS = {
  read: [[["←", "↑", "→", "↓"], t("scroll")], ...SLASH, ...FIND],
  select: [
    ...MOVE,
    [["Space"], t("mark the cell or the range, or take the mark away; also Enter on a header or a row's number: all of it")],
    [["Shift ←↑→↓"], t("select a range; also with Ctrl, Home, End and Page")],
    [["Shift Space", "Ctrl Space"], t("mark the row, the column")],
    [["Ctrl A"], t("mark all cells")],
    [["Del"], t("take the marks of the range away")],
    ...UNDO, ...END, ...COPY, ...SLASH, ...FIND,
  ],
  edit: [
    ...MOVE, ...RANGE,
    [["Shift Space", "Ctrl Space"], t("select the row, the column")],
    [[t("any character")], t("type a new value")],
    [["F2"], t("edit the value or the name of the column")],
    [["Enter"], t("keep the value; when not editing, submit")],
    [["Shift Enter", "Alt Enter"], t("line break, while editing")],
    [["Tab"], t("next cell")],
    [["Esc"], t("cancel the edit; drop the range; then leave the table")],
    [["Del"], t("empty the cells")],
    ...UNDO,
    [["Ctrl C", "Ctrl X", "Ctrl V"], t("copy, cut and paste cells, as spreadsheets do")],
    [["Alt Del"], t("remove the row, or put it back; with Shift the column")],
    [["Alt Enter"], t("insert a row below")],
    ...FIND,
  ],
  structure: [
    ...MOVE, ...RANGE,
    ...CHOOSE.both,
    ...UNDO, ...END, ...COPY, ...SLASH, ...FIND,
  ],
  compare: [[["N", "Shift N"], t("next change, previous change")], ...SLASH, ...FIND],
};

/* `allowed` are the operations that may be made, as the grid has them; null for all. */
export function gridKeys(mode, allowed = null) {
  const keys = KEYS[mode] ?? KEYS.read;
  const [rows, columns] = ["remove_row", "remove_column"].map((name) => !allowed || allowed.includes(name));
  if (mode !== "structure" || rows === columns) return keys;
  return keys.flatMap((line) => (line === CHOOSE.both[0] ? CHOOSE[rows ? "rows" : "columns"] : CHOOSE.both.includes(line) ? [] : [line]));
}
