/* The mode in which the changes of a table are read: old above new, from change to change. Where several variants of the
   table are compared, each change says whose it is (variants.js). Rows without changes are left out of a long table. */

import "./edits.js";
import { t } from "./language.js";
import { MODES, Mode } from "./modes.js";
import { PairedGrids } from "./paired-grids.js";
import { placesOf } from "./tables.js";
import { count, describe } from "./words.js";

const WHOLE = 60; // rows of a table that is shown whole at first
const FIRST = 20; // rows shown of a long table in which no row is changed
const NEAR = 1; // rows shown above and below a changed one
const SHORTEST = 3; // rows that are left out together, at least

export class Comparing extends Mode {
  #at = -1;
  /** @type {ShownTable} */
  #all; // the table with all rows
  /** @type {Set<string>} */
  #opened = new Set(); // runs of rows that somebody opened
  /** @type {boolean} */
  #cut;
  /** @type {readonly Tool[]} */
  #further;
  label = t("Table with changes");

  /** @param {GridElement} grid @param {{ whole?: boolean, tools?: readonly Tool[] }} options */
  constructor(grid, { whole = false, tools = [] } = {}) {
    super(grid);
    grid.pairing = new PairedGrids(grid);
    this.changes = grid.edits.changes?.() ?? changesIn(grid.edits);
    this.#further = tools;
    this.#all = grid.edits.state;
    this.#cut = !whole && this.#all.rows.length > WHOLE;
    // Where no row is changed (but headers are), "Only changed rows" would leave nothing to read.
    this.mayCut = !whole && this.#all.rows.some(this.#isSpecial()) && this.#withRuns(new Set()) !== this.#all.rows;
    this.#fold();
  }

  /* Where to look first: {row, column}, or null. */
  get first() {
    return this.changes[0] ?? null;
  }

  tools() {
    const steps = this.changes.length ? [
      { name: "previous", label: t("Previous change"), keys: "Shift N", act: () => this.next(-1) },
      { name: "next", label: t("Next change"), keys: "N", act: () => this.next(1) },
    ] : [];
    const fold = { name: "fold", label: () => (this.#cut ? t("Show all rows") : t("Only changed rows")), act: () => this.#turn() };
    return [...steps, ...(this.mayCut ? [fold] : []), ...this.#further];
  }

  /** @param {number} by */
  next(by) {
    const { grid, changes } = this;
    if (!changes.length) return grid.say(t("No changes."), { shown: true });
    this.#at = this.#at < 0 && by < 0 ? changes.length - 1 : (this.#at + by + changes.length) % changes.length;
    const { row, column, words } = changes[this.#at];
    grid.point({ row, column });
    grid.say(t`Change ${this.#at + 1} of ${changes.length}. ${words}`);
    grid.refreshTools();
  }

  /** @param {number} by */
  ends(by) {
    return by > 0 ? this.#at === this.changes.length - 1 : this.#at <= 0;
  }

  where() {
    const number = this.changes.length;
    const words = this.#at < 0 ? (number ? count(number, "change") : t("No change")) : t`Change ${this.#at + 1} of ${number}`;
    return this.grid.turned ? t`Rows and columns exchanged. ${words}` : words;
  }

  // --- rows without changes ----------------------------------------------------------------------------------------

  /* Show the rows of one run. */
  /** @param {string} run */
  open(run) {
    this.#opened.add(run);
    this.#again();
    this.grid.querySelector(".sheet").focus({ preventScroll: true });
  }

  /* Show all rows, so that texts are found in all of them. */
  unfold() {
    if (this.#cut) this.#turn();
  }

  #turn() {
    this.#cut = !this.#cut;
    this.#opened.clear();
    this.#again();
    this.grid.querySelector("[data-tool=fold]")?.focus();
    this.grid.say(this.#cut ? t("Only changed rows are shown.") : t("All rows are shown."));
  }

  #again() {
    this.#fold();
    this.grid.repaint();
  }

  #fold() {
    const { edits } = this.grid;
    const rows = this.#cut ? this.#withRuns(this.#opened) : this.#all.rows;
    edits.state = rows === this.#all.rows ? this.#all : { ...this.#all, rows, rowIds: rows.map(({ id }) => id) };
    edits.rowPlaces = placesOf(edits.state.rowIds);
  }

  /** @param {ReadonlySet<string>} opened */
  #withRuns(opened) {
    return withRuns(this.#all.rows, this.#isSpecial(), opened);
  }

  /* Whether a row is changed, moved or marked. */
  /** @returns {(row: ShownRow) => boolean} */
  #isSpecial() {
    const { operations } = this.grid.edits;
    const moved = new Set(operations.flatMap((operation) => (operation.op === "move_row" ? [operation.row] : [])));
    const { rows } = this.grid.evidence;
    /** @param {string} id */
    const marked = (id) => moved.has(id) || rows.has(id);
    return (row) => (row.special ?? Boolean(row.old || row.removed || row.inserted)) || marked(row.id);
  }
}

/* The rows with each run of rows in which and beside which nothing is special as one: {id, left: how many}. The same list
   if no run is long enough. */
/** @param {readonly ShownRow[]} rows @param {(row: ShownRow) => boolean} isSpecial @param {ReadonlySet<string>} opened */
export function withRuns(rows, isSpecial, opened) {
  const wanted = new Set();
  rows.forEach((row, at) => {
    if (isSpecial(row)) for (let near = at - NEAR; near <= at + NEAR; near += 1) wanted.add(near);
  });
  if (!wanted.size) for (let at = 0; at < FIRST; at += 1) wanted.add(at);
  /** @type {ShownRow[]} */
  const shown = [];
  /** @type {ShownRow[]} */
  let run = [];
  const close = () => {
    const id = `run:${run[0]?.id}`;
    if (run.length < SHORTEST || opened.has(id)) for (const row of run) shown.push(row);
    else shown.push({ id, left: run.length, number: null, removed: false, inserted: false, cells: [], old: null });
    run = [];
  };
  rows.forEach((row, at) => {
    if (!wanted.has(at)) {
      run.push(row);
      return;
    }
    close();
    shown.push(row);
  });
  close();
  return shown.length === rows.length ? rows : shown;
}

/* Where each operation shows, in the order of the table: [{row, column, words}]. */
/** @param {ShownEdits} edits @returns {Change[]} */
function changesIn(edits) {
  const { base, operations, state } = edits;
  const [firstColumn] = state.columns;
  if (!firstColumn) return [];
  const places = operations.flatMap((operation) => {
    const words = describe(operation, base);
    const row = "row" in operation ? operation.row : base.header_id;
    if (operation.op === "mask_cells") {
      const [first] = operation.cells;
      return first ? [{ row: first[0], column: first[1], words }] : [];
    }
    const column = operation.op === "split_column" ? operation.into[0].column : "column" in operation ? operation.column : firstColumn.id;
    return edits.columnPlaces.has(column) ? [{ row, column, words }] : [];
  });
  /** @param {Change} change */
  const rank = ({ row, column }) => [row === base.header_id ? -1 : edits.rowPlaces.get(row) ?? -1, edits.columnPlaces.get(column)];
  return places.sort((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a[0] - b[0] || a[1] - b[1];
  });
}

MODES.compare = Comparing;
