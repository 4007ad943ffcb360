/* The mode in which cells are marked. */

import { t } from "./language.js";
import { MODES } from "./modes.js";
import { Pointed } from "./pointed.js";
import { count } from "./words.js";

export class Selecting extends Pointed {
  headsStand = true;
  label = t("Table, cells can be marked");
  help = t("Space marks the cell, on a header its column, on a row number its row. Shift with the arrow keys selects several cells. Escape leaves the table.");

  tools() {
    return [
      { name: "mark", label: t("Mark"), keys: "Space", act: () => this.toggle() },
      ...this.steps,
    ];
  }

  /** @param {string} key @param {boolean} control @param {KeyPress} event @returns {(() => void) | null} */
  key(key, control, event) {
    const { grid } = this;
    if (key === " ") return event.shiftKey ? () => this.toggle("rows") : control ? () => this.toggle("columns") : () => this.toggle();
    if (control && key === "a") return () => this.toggle("all");
    if (key === "Enter" && !control && grid.standsFor) return () => this.toggle();
    if (key === "Delete" || key === "Backspace") return () => this.#set(grid.area(), false);
    return null;
  }

  /** @param {Pressed} place @param {PressedHow} how */
  pressed({ row, column }, { dragging }) {
    if (dragging) return; // the release decides: a click or a rectangle
    if (row === null) this.toggle("all");
    else if (column === null) this.toggle("rows");
    else if (row === this.grid.edits.base.header_id) this.toggle("columns");
    else this.toggle();
  }

  /* A rectangle was drawn: it becomes what its first cell becomes. */
  /** @param {Pressed} start */
  dragged(start) {
    const { grid } = this;
    const first = start.row === grid.edits.base.header_id ? grid.rowId(0) : start.row;
    const on = !grid.marked.has(/** @type {string} */ (first), start.column ?? grid.columnIds()[0]);
    this.#set(grid.area(), on);
    grid.dropRange();
  }

  /** @param {SpanKind | "all"} what */
  toggle(what = "cells") {
    const { grid } = this;
    const area = grid.area(what === "all" ? "all" : what);
    const { rows, columns } = grid.idsIn(area);
    if (!rows.length) return;
    this.#set(area, !grid.marked.hasAll(rows, columns));
    grid.dropRange();
  }

  /** @param {Area} area @param {boolean} on */
  #set(area, on) {
    const { grid } = this;
    const { rows, columns } = grid.idsIn(area);
    const cells = grid.marked.with(rows, columns, on);
    const number = rows.length * columns.length;
    const what = number === 1 ? grid.placeInWords(rows[0], columns[0]) : grid.standsFor ? grid.hereInWords() : count(number, "cell");
    grid.mark(cells, `${what}, ${on ? t("marked") : t("no longer marked")}.`);
  }

  where() {
    const { grid } = this;
    return [t`${count(grid.marked.size, "cell")} marked`, grid.hereInWords()].filter(Boolean).join(" · "); // the count is never cut
  }
}

MODES.select = Selecting;
