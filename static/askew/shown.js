/* A table as a page shows it: its base, what stands where in it, and what its rows and columns are called.

   Where operations may be made of it, edits.js puts Edits in the place of Shown: a page on which nothing is edited does
   not load what editing takes. */

import { t } from "./language.js";
import { marked, placesOf, withIds } from "./tables.js";
import { columnName } from "./words.js";

export class Shown {
  operations = [];
  /** @type {MarkedMemory} */
  #memory = { shape: "", rows: new Map() };

  constructor(table) {
    this.base = withIds(table);
    this.become([]);
  }

  become() {
    this.shows(this.base);
  }

  shows(edited) {
    this.edited = edited;
    this.state = marked(this.base, edited, this.#memory);
    this.rowPlaces = placesOf(this.state.rowIds);
    this.columnPlaces = placesOf(this.state.columnIds);
  }

  /* Take over operations as they were stored: there are none. */
  begin(operations) {
    return !operations.length;
  }

  /* The cells of a row as they are now, or undefined for one that is removed. */
  rowNow(id) {
    return this.edited.rows[placesOf(this.edited.row_ids).get(id)];
  }

  /* The text of a cell or a header as it is now, or null where there is none. */
  text(row, column) {
    const place = this.edited.column_ids.indexOf(column);
    if (place < 0) return null;
    return (row === this.base.header_id ? this.edited.header : this.rowNow(row))?.[place] ?? null;
  }

  violations() {
    return [];
  }

  odd() {
    return new Map();
  }

  rowName(id) {
    if (id === this.base.header_id) return t("Header");
    const row = this.state.rows[this.rowPlaces.get(id)];
    return !row || row.number === null ? t("New row") : t`Row ${row.number}`;
  }

  columnName(id) {
    return columnName(this.base.column_ids.includes(id) ? this.base : this.edited, id);
  }
}

let kind = Shown;

/* Have tables made as ones of this class from now on. */
export function take(edits) {
  kind = edits;
}

export const tableOf = (table) => new kind(table);
export const takesOperations = () => kind !== Shown;
