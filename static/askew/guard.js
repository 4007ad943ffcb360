import { placesOf } from "./tables.js";

/* Cells that must stay, and why: [row id, column id] or [row id, column id, reason]. */
export class Guard {
  /** @type {Map<string, Set<string>>} */
  rows = new Map(); // row id -> the columns of it that are protected
  /** @type {Map<string, string>} */
  #reasons = new Map();
  /** @type {Map<string, string>} */
  #rows = new Map();
  /** @type {Map<string, string>} */
  #columns = new Map();

  /** @param {readonly (readonly string[])[]} cells @param {WholeTable} table */
  constructor(cells, table) {
    const [rows, columns] = [placesOf(table.row_ids), placesOf(table.column_ids)];
    for (const [row, column, reason] of cells) {
      this.#reasons.set(`${row}\n${column}`, reason || "protected");
      keep(this.rows, row, new Set());
      this.rows.get(row).add(column);
      const known = columns.has(column) && (row === table.header_id || rows.has(row));
      if (!known) continue; // what is not there protects nothing
      if (row !== table.header_id) keep(this.#rows, row, column);
      keep(this.#columns, column, row);
    }
  }

  /* Why a cell must keep its text, or null. */
  /** @param {string} row @param {string} column */
  cell(row, column) {
    return this.#reasons.get(`${row}\n${column}`) ?? null;
  }

  /* [row id, column id, reason] of a cell for which the row must stay, or null. */
  /** @param {string} row @returns {ProtectedCell | null} */
  row(row) {
    const column = this.#rows.get(row);
    return column === undefined ? null : [row, column, this.cell(row, column)];
  }

  /** @param {string} column @returns {ProtectedCell | null} */
  column(column) {
    const row = this.#columns.get(column);
    return row === undefined ? null : [row, column, this.cell(row, column)];
  }
}

/** @template T @param {Map<string, T>} map @param {string} key @param {T} value */
function keep(map, key, value) {
  if (!map.has(key)) map.set(key, value);
}
