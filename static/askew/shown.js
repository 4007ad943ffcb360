/* A table as a page shows it: its base, what stands where in it, and what its rows and columns are called.

   Where operations may be made of it, edits.js puts Edits in the place of Shown: a page on which nothing is edited does
   not load what editing takes. */

import { t } from "./language.js";
import { marked, placesOf, withIds } from "./tables.js";
import { columnName } from "./words.js";

export class Shown {
  /** @type {readonly Operation[]} */
  operations = [];
  /** @type {MarkedMemory} */
  #memory = { shape: "", rows: new Map() };

  /** @param {Table} table */
  constructor(table) {
    this.base = this.edited = withIds(table);
    this.state = marked(this.base, this.base, this.#memory);
    this.rowPlaces = placesOf(this.state.rowIds);
    this.columnPlaces = placesOf(this.state.columnIds);
  }

  /** @param {readonly Operation[]} _operations */
  become(_operations) {
    this.shows(this.base);
  }

  /** @param {WholeTable} edited */
  shows(edited) {
    this.edited = edited;
    this.state = marked(this.base, edited, this.#memory);
    this.rowPlaces = placesOf(this.state.rowIds);
    this.columnPlaces = placesOf(this.state.columnIds);
  }

  /* Take over operations as they were stored: there are none. */
  /** @param {readonly Operation[]} operations */
  begin(operations) { return !operations.length; }

  /* The cells of a row as they are now, or undefined for one that is removed. */
  /** @param {string} id */
  rowNow(id) {
    return this.edited.rows[placesOf(this.edited.row_ids).get(id)];
  }

  /* The text of a cell or a header as it is now, or null where there is none. */
  /** @param {string} row @param {string} column */
  text(row, column) {
    const place = this.edited.column_ids.indexOf(column);
    if (place < 0) return null;
    return (row === this.base.header_id ? this.edited.header : this.rowNow(row))?.[place] ?? null;
  }

  /** @param {Contract} _contract @param {readonly Operation[]} _operations @returns {Violation[]} */
  violations(_contract, _operations) { return []; }

  /** @returns {Map<string, Map<string, string>>} */
  odd() { return new Map(); }

  /** @param {string} id */
  rowName(id) {
    if (id === this.base.header_id) return t("Header");
    const row = this.state.rows[this.rowPlaces.get(id)];
    return !row || row.number === null ? t("New row") : t`Row ${row.number}`;
  }

  /** @param {string} id */
  columnName(id) {
    return columnName(this.base.column_ids.includes(id) ? this.base : this.edited, id);
  }
}

/** @type {typeof Shown} */
let kind = Shown;

/* Have tables made as ones of this class from now on. */
/** @param {typeof Shown} edits */
export function take(edits) {
  kind = edits;
}

/** @param {Table} table */
export const tableOf = (table) => new kind(table);
export const takesOperations = () => kind !== Shown;
