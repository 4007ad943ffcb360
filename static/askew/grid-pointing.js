/* What a press, a drag and the clipboard do to a table with a current cell. */

import { t } from "./language.js";
import { count } from "./words.js";

export class GridPointing {
  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /* A press on a cell makes it the current one; on a row's number or a header it selects the row or the column. */
  /** @param {Pressed} place @param {boolean} extend */
  settleOn({ row, column }, extend) {
    this.grid.behaviour.keep?.();
    const { base } = this.grid.edits;
    if (row === null) return this.grid.selectAll();
    const head = row === base.header_id;
    const across = column === null ? "rows" : head ? "columns" : "cells";
    const goal = /** @type {GridCell} */ ({
      row: head && !this.grid.behaviour.hasHead ? this.grid.here?.row ?? this.grid.rowId(0) : row,
      column: column ?? (this.grid.behaviour.headsStand ? null : this.grid.here?.column ?? this.grid.columnIds()[0]),
    });
    if (goal.row === undefined || goal.column === undefined) return;
    if (extend && this.grid.here) this.grid.anchor ??= { ...this.grid.here };
    else this.grid.anchor = across === "cells" ? null : { ...goal };
    this.grid.rangeSpan = across;
    this.grid.here = goal;
    this.grid.select();
    this.grid.focusCell();
    if (this.grid.anchor) this.grid.sayLater(t`${this.grid.areaInWords(this.grid.area())} selected`);
  }

  /* Draw the range on to a place; false where it reaches there already. A range of cells does not leave the body. */
  /** @param {Pressed} place @param {Pressed} start */
  reach({ row, column }, start) {
    const head = row === this.grid.edits.base.header_id;
    const across = this.grid.rangeSpan;
    const above = head && across !== "columns" && !(this.grid.headIsIn && start.row === row);
    const goal = /** @type {GridCell} */ ({
      row: across === "columns" ? this.grid.here.row : above ? this.grid.rowId(0) : row,
      column: column ?? (across === "rows" ? this.grid.here.column : this.grid.columnIds()[0]),
    });
    if (goal.row === this.grid.here.row && goal.column === this.grid.here.column) return false;
    this.grid.anchor ??= { ...this.grid.here };
    this.grid.here = goal;
    this.grid.select();
    return true;
  }

  /** @param {Pressed} place */
  isHere({ row, column }) {
    return this.grid.here?.row === row && this.grid.here.column === column && document.activeElement === this.grid.cell;
  }

  /** @param {Pressed} start */
  released(start) {
    this.grid.focusCell();
    this.grid.behaviour.dragged(start);
    if (this.grid.anchor) this.grid.sayLater(t`${this.grid.areaInWords(this.grid.area())} selected`);
  }

  /** @param {At<ClipboardEvent>} event */
  onClipboard(event) {
    const { type, clipboardData } = event;
    if (!this.grid.behaviour.isGrid || this.grid.behaviour.writesIn?.(event.target) || !event.target.matches?.("td, th")) return;
    if (type !== "copy" && !this.grid.behaviour[type]) return;
    event.preventDefault();
    this.grid.behaviour[type](clipboardData);
    if (type === "copy") this.grid.say(t`${count(this.grid.areaTexts().flat().length, "cell")} copied.`);
  }
}
