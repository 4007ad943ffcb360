/* What keys and pointer do in each of the grid's modes. A mode works on the grid that it is made for: it reads where
   people are (`here`, `area()`) and what the table holds (`edits`, `cells`), and changes it by `change` and `mark`.

   Here is what all have in common, and how a table is read. The others are modules of their own (selecting.js, editing.js,
   structuring.js, comparing.js), which put themselves into MODES: a page loads those that it needs. */

import { t } from "./language.js";
import { count } from "./words.js";

export class Mode {
  isGrid = false; // an ARIA grid with a current cell, or a table to read
  hasHead = false; // whether keys reach the header
  headsStand = false; // whether headers and rows' numbers are reached too, and stand for their columns and rows
  writes = false; // whether texts are changed
  label = t("Table");
  help = "";

  /** @param {GridElement} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /** @returns {Tool[]} */
  tools() { return []; }

  /** @returns {Tool[]} */
  get steps() {
    const { grid } = this;
    return [
      { name: "undo", label: t("Undo"), keys: "Ctrl Z", act: () => grid.undo(), off: () => !grid.history.canUndo },
      { name: "redo", label: t("Redo"), keys: "Ctrl Y", act: () => grid.redo(), off: () => !grid.history.canRedo },
    ];
  }

  /* What a key does in a cell: a function, or null. */
  /** @param {string} _key @param {boolean} _control @param {KeyPress} _event @returns {(() => void) | "type" | null} */
  key(_key, _control, _event) { return null; }

  /* A cell, row number (column null) or header was pressed; `again` if it was the current cell already. */
  /** @param {Pressed} _place @param {PressedHow} _how */
  pressed(_place, _how) {}

  /** @param {Pressed} _start */
  dragged(_start) {}

  doubled() {}

  where() {
    return this.grid.hereInWords();
  }
}

export class Reading extends Mode {
  #at = -1;

  tools() {
    const { grid } = this;
    if (!grid.evidence.size) return [];
    return [{ name: "next", label: t("Next marked cell"), act: () => this.next() }];
  }

  next() {
    const { grid } = this;
    const head = grid.edits.base.header_id;
    const pairs = grid.evidence.pairs(new Map([[head, -1], ...grid.edits.rowPlaces]), grid.columnIds());
    if (!pairs.length) return;
    this.#at = (this.#at + 1) % pairs.length;
    const [row, column] = pairs[this.#at];
    grid.point({ row, column });
    const text = grid.marksHidden ? t("hidden") : grid.edits.text(row, column);
    grid.say(t`${grid.placeInWords(row, column)}: ${text}. Marked cell ${this.#at + 1} of ${pairs.length}.`);
  }

  where() {
    const { grid } = this;
    return grid.evidence.size ? `${count(grid.evidence.size, "marked cell")}${grid.marksHidden ? `, ${t("hidden")}` : ""}` : "";
  }
}

/** @type {Record<string, new (grid: GridElement, options?: object) => Mode>} */
export const MODES = { read: Reading };

/** @param {string} text */
export const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
/** @param {Pick<GridElement, "edits">} grid @param {string} id */
export function columnWords(grid, id) {
  const bare = t`column ${""}`;
  return t`column ${grid.edits.columnName(id).replace(bare, "")}`;
}
