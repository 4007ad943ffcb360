/* Which columns hold numbers, which cells the source had merged, and what operations did to columns. */

import { formatOf } from "./cells.js";
import { t } from "./language.js";

const LOOKED_AT = 100; // rows, to tell a column of numbers

/* Whether a column is one of numbers, to be set flush right: the same rule as tableqa/cells/columns.py has. Only how
   it looks: nothing is rewritten. */
/** @param {readonly string[]} texts */
export function holdsNumbers(texts) {
  const kinds = texts.slice(0, LOOKED_AT).map((text) => formatOf(text).kind).filter((kind) => kind !== "none");
  return kinds.length > 0 && kinds.filter((kind) => kind === "number").length >= 0.9 * kinds.length;
}

/** @param {ShownTable} table */
export function numericColumns({ columns, rows }) {
  const first = rows.slice(0, LOOKED_AT);
  return columns.map((_, column) => holdsNumbers(first.map(({ cells }) => cells[column] ?? "")));
}

/* row id -> place of a column -> words. Cells that the source had merged stay cells of their own, which can be edited. */
/** @param {SourceTable} table */
export function mergedCells({ row_ids: rowIds, column_ids: columnIds, spans }) {
  const found = new Map();
  for (const { row, column, rows, columns } of spans ?? []) {
    const top = rowIds.indexOf(row);
    const left = columnIds.indexOf(column);
    if (top < 0 || left < 0) continue;
    for (const id of rowIds.slice(top, top + rows)) {
      if (!found.has(id)) found.set(id, new Map());
      for (let at = left; at < left + columns; at += 1) found.get(id).set(columnIds[at], t`One cell in the source: ${rows} by ${columns}`);
    }
  }
  return found;
}

/* What the header says of columns that operations made or moved. */
/** @param {readonly Operation[]} operations @param {WholeTable} base */
export function headNotes(operations, base) {
  const notes = new Map();
  for (const operation of operations) {
    if (operation.op === "move_column") notes.set(operation.column, t("moved"));
    if (operation.op !== "split_column") continue;
    const place = base.column_ids.indexOf(operation.column);
    const name = place < 0 ? operation.column : base.header[place].trim() || t`column ${place + 1}`;
    notes.set(operation.column, "split");
    for (const { column } of operation.into) notes.set(column, t`from ${name}`);
  }
  return notes;
}
