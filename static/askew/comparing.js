/* The mode in which the changes of a table are read: old beside new, from change to change. */

import "./edits.js";
import { t } from "./language.js";
import { MODES, Mode } from "./modes.js";
import { count, describe } from "./words.js";

export class Comparing extends Mode {
  #at = -1;
  label = t("Table with changes");

  constructor(grid) {
    super(grid);
    this.changes = changesIn(grid.edits, grid.turned);
  }

  /* Where to look first: {row, column}, or null. */
  get first() {
    return this.changes[0] ?? null;
  }

  tools() {
    if (!this.changes.length) return [];
    return [
      { name: "previous", label: t("Previous change"), keys: "Shift N", act: () => this.next(-1) },
      { name: "next", label: t("Next change"), keys: "N", act: () => this.next(1) },
    ];
  }

  next(by) {
    const { grid, changes } = this;
    if (!changes.length) {
      grid.say(t("No changes."), { shown: true });
      return;
    }
    this.#at = this.#at < 0 && by < 0 ? changes.length - 1 : (this.#at + by + changes.length) % changes.length;
    const { row, column, words } = changes[this.#at];
    grid.point({ row, column });
    grid.say(t`Change ${this.#at + 1} of ${changes.length}. ${words}`);
    grid.refreshTools();
  }

  where() {
    const number = this.changes.length;
    const words = this.#at < 0 ? (number ? count(number, "change") : t("No change")) : t`Change ${this.#at + 1} of ${number}`;
    return this.grid.turned ? t`Rows and columns exchanged. ${words}` : words;
  }
}

/* Where each operation shows, in the order of the table: [{row, column, words}]. */
function changesIn(edits, turned) {
  const { base, operations, state } = edits;
  const [firstColumn] = state.columns;
  if (!firstColumn) return [];
  const places = operations.map((operation) => {
    const words = describe(operation, base);
    const row = operation.row ?? base.header_id;
    if (operation.op === "mask_cells") {
      const [first] = operation.cells;
      return first ? { row: first[0], column: first[1], words } : null;
    }
    const column = operation.op === "split_column" ? operation.into[0].column : operation.column ?? firstColumn.id;
    return edits.columnPlaces.has(column) ? { row, column, words } : null;
  });
  const rank = ({ row, column }) => [row === base.header_id ? -1 : edits.rowPlaces.get(row) ?? -1, edits.columnPlaces.get(column)];
  return places.filter(Boolean).sort((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a[0] - b[0] || a[1] - b[1];
  });
}

MODES.compare = Comparing;
