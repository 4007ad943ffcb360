/* Variants of one table as the grid shows them: the merged table (merged.js) with the letters of the variants. It stands
   where Shown stands for a table of its own. */

import { t } from "./language.js";
import { hasChanges, insertedBy, merge, removedBy } from "./merged.js";
import { OperationError, replay } from "./operations.js";
import { placesOf, withIds } from "./tables.js";
import { columnName } from "./words.js";

export class Variants {
  /** @type {readonly Operation[]} */
  operations = [];
  fits = true;
  /** @type {ShownTable | null} */
  #whole = null; // the state with all rows

  /* variants: [{letter, operations, cells: marked [[row id, column id], ...]}]. Operations that do not fit the table are
     left out, then `fits` is false. `state` is null where rows and columns were exchanged. */
  /** @param {Table} table @param {readonly Variant[]} variants */
  constructor(table, variants) {
    this.base = this.edited = withIds(table);
    this.letters = variants.map(({ letter }) => letter);
    const edited = variants.map(({ operations = [] }) => this.#replayed(operations));
    this.merged = /** @type {MergedTable} */ (merge(this.base, edited)); // without one, `state` is null and nothing is asked
    this.state = this.merged && this.#state(marksBy(variants));
    if (this.state) {
      this.#whole = this.state;
      this.columnPlaces = placesOf(this.state.columnIds);
      this.unfold();
    }
  }

  /* Show all rows again, after a table in which some were left out. */
  unfold() {
    this.state = /** @type {ShownTable} */ (this.#whole);
    this.rowPlaces = placesOf(this.state.rowIds);
  }

  /** @param {readonly Operation[]} operations */
  #replayed(operations) {
    try {
      return operations.length ? replay(this.base, operations) : this.base;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.fits = false;
      return this.base;
    }
  }

  /** @returns {Map<string, Map<string, string>>} */
  odd() { return new Map(); }

  /** @returns {Violation[]} */
  violations() { return []; }

  /* A header or cell of the base, or of the variant that added it. */
  /** @param {string} row @param {string} column */
  text(row, column) {
    const at = this.merged.columns.findIndex(({ id }) => id === column);
    const cells = row === this.base.header_id ? this.merged.header : this.merged.cells[this.merged.rows.findIndex(({ id }) => id === row)];
    return cells?.texts[at] ?? null;
  }

  /** @param {string} id */
  rowName(id) {
    if (id === this.base.header_id) return t("Header");
    const place = placesOf(this.base.row_ids).get(id);
    return place === undefined ? t("New row") : t`Row ${place + 1}`;
  }

  /** @param {string} id */
  columnName(id) {
    if (this.base.column_ids.includes(id)) return columnName(this.base, id);
    return this.text(this.base.header_id, id) || t("New column");
  }

  /* Where variants differ from the base, in the order of the table: [{row, column, words}]. */
  /** @returns {Change[]} */
  changes() {
    const { columns, rows, header } = this.merged;
    const [first] = columns;
    if (!first) return [];
    const heads = columns.flatMap((column, at) => {
      const words = [...this.#lineWords(column), ...this.#cellWords(header, at)];
      return words.length ? [{ row: this.base.header_id, column: column.id, words: this.#sentence(t`Header of ${this.columnName(column.id)}`, words) }] : [];
    });
    const inRows = rows.flatMap((row, place) => {
      const words = this.#lineWords(row);
      const line = words.length ? [{ row: row.id, column: first.id, words: this.#sentence(this.rowName(row.id), words) }] : [];
      return [...line, ...this.#changedCells(row, place)];
    });
    return [...heads, ...inRows];
  }

  /** @param {MergedLine} row @param {number} place */
  #changedCells(row, place) {
    const { columns, cells } = this.merged;
    const { by } = this.state.rows[place];
    return columns.flatMap((column, at) => {
      const own = row.base === null || column.base === null ? [] : this.#cellWords(cells[place], at);
      const words = [...own, ...(by?.has(at) ? [t`marked by ${by.get(at).by}`] : [])];
      if (!words.length) return [];
      return [{ row: row.id, column: column.id, words: this.#sentence(`${this.rowName(row.id)}, ${this.columnName(column.id)}`, words) }];
    });
  }

  /** @param {string} place @param {readonly string[]} words */
  #sentence(place, words) {
    return `${place}: ${words.join("; ")}`;
  }

  /** @param {MergedLine} line */
  #lineWords(line) {
    return this.#notes(line).map(({ what, by }) => `${what} ${by}`);
  }

  /** @param {MergedCells} cells @param {number} at */
  #cellWords({ texts, changes }, at) {
    if (!changes.has(at)) return [];
    const { was, now } = this.#versions(texts[at], changes.get(at), true);
    return [t`was ${was || t("(empty)")}`, ...now.map(({ text, by }) => `${by}: ${text || t("(empty)")}`)];
  }

  /** @param {MergedLine} line @returns {LineNote[]} */
  #notes(line) {
    /** @type {[what: string, numbers: readonly number[]][]} */
    const notes = [[t("removed by"), removedBy(line)], [t("new by"), insertedBy(line)], [t("moved by"), line.moved]];
    return notes.filter(([, numbers]) => numbers.length).map(([what, numbers]) => ({ what, ...this.#who(numbers) }));
  }

  /** @param {readonly number[]} numbers @returns {Owners} */
  #who(numbers) {
    return { by: numbers.map((number) => this.letters[number]).join(" "), all: numbers.length === this.letters.length };
  }

  /* What the base says and what variants say instead, the text of most variants first. */
  /** @param {string} was @param {readonly (string | null)[]} texts @param {boolean} inBase @returns {Versions} */
  #versions(was, texts, inBase) {
    /** @type {Map<string, number[]>} */
    const said = new Map();
    texts.forEach((text, number) => {
      if (text === null || (inBase && text === was)) return;
      said.set(text, [...(said.get(text) ?? []), number]);
    });
    const now = [...said].sort(([, one], [, other]) => other.length - one.length || one[0] - other[0]);
    return { was: inBase ? was : null, now: now.map(([text, numbers]) => ({ text, ...this.#who(numbers) })) };
  }

  /** @param {Map<string, number[]>} marks @returns {ShownTable} */
  #state(marks) {
    const { columns, rows, header, cells } = this.merged;
    /** @param {MergedCells} cells @param {{ base: number | null }} line @param {number} at */
    const versions = ({ texts, changes }, line, at) => (
      changes.has(at) ? this.#versions(texts[at], changes.get(at), line.base !== null && columns[at].base !== null) : undefined
    );
    const shownColumns = columns.map((column, at) => ({
      id: column.id,
      name: header.texts[at],
      old: versions(header, { base: 0 }, at) ?? null,
      removed: removedBy(column).length > 0,
      inserted: column.base === null,
      notes: this.#notes(column),
      from: column.base ?? -1,
      to: column.base ?? -1,
    }));
    const shownRows = rows.map((row, place) => {
      const old = new Map([...cells[place].changes.keys()].map((at) => [at, /** @type {Versions} */ (versions(cells[place], row, at))]));
      const by = new Map();
      columns.forEach(({ id }, at) => {
        const numbers = marks.get(JSON.stringify([row.id, id]));
        if (numbers) by.set(at, this.#who(numbers));
      });
      return {
        id: row.id,
        number: row.base === null ? null : row.base + 1,
        removed: removedBy(row).length > 0,
        inserted: row.base === null,
        notes: this.#notes(row),
        cells: cells[place].texts,
        old: old.size ? old : null,
        by: by.size ? by : null,
        special: by.size > 0 || hasChanges(this.merged, place),
      };
    });
    return { columns: shownColumns, rows: shownRows, columnIds: columns.map(({ id }) => id), rowIds: rows.map(({ id }) => id) };
  }
}

/* [row id, column id] as JSON -> the numbers of the variants in which the cell is marked. */
/** @param {readonly Variant[]} variants */
function marksBy(variants) {
  /** @type {Map<string, number[]>} */
  const marks = new Map();
  variants.forEach(({ cells = [] }, number) => {
    for (const cell of cells) {
      const key = JSON.stringify(cell);
      marks.set(key, [...new Set([...(marks.get(key) ?? []), number])]);
    }
  });
  return marks;
}
