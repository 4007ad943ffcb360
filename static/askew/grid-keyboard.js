/* The keys of a table: those of its mode, those that move through it, and those that act everywhere. */

import { t } from "./language.js";
import { canZoom, percent, zoom } from "./zoom.js";

export class GridKeyboard {
  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /** @param {KeyPress} event */
  onKey(event) {
    if (event.defaultPrevented) return;
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const cell = this.grid.behaviour.isGrid && event.target.matches?.("td, th") && this.grid.painting.table.contains(event.target);
    const composing = event.isComposing || event.keyCode === 229 || event.key === "Dead";
    if (composing) {
      if (cell) this.grid.behaviour.type?.(); // an input method starts: let it write into the cell
      return;
    }
    const act = this.#everywhere(key, control, event, cell) ?? (cell ? this.grid.behaviour.key(key, control, event) ?? this.#travelKey(key, control, event) : null);
    if (!act) {
      // Letters and digits belong to the table that has the focus, whatever it makes of them.
      if (cell && event.key.length === 1 && !control && !event.altKey) event.stopPropagation();
      return;
    }
    event.stopPropagation();
    if (act === "type") {
      this.grid.behaviour.type(); // the key itself lands in the field
      return;
    }
    event.preventDefault();
    act();
  }

  /* Keys that also act where there is no current cell. */
  /** @param {string} key @param {boolean} control @param {KeyPress} event @param {boolean} cell @returns {(() => unknown) | null} */
  #everywhere(key, control, event, cell) {
    if (event.altKey && !control && !event.shiftKey && key === "ArrowDown" && cell) return () => this.grid.beside.readWhole(this.grid.here);
    if (event.altKey) return null;
    if (control && !event.shiftKey && key === "f") return () => this.grid.openFind();
    if (control && (key === "+" || key === "=")) return canZoom(1) ? () => zoom(1) : null;
    if (control && key === "-") return canZoom(-1) ? () => zoom(-1) : null;
    if (control && key === "0" && percent() !== 100) return () => zoom(0);
    if (control) return null;
    if (key === "/" && !this.grid.behaviour.type && (cell || event.target === this.grid.painting.sheet)) return () => this.grid.openFind();
    if (key === "F3" && this.grid.finding.find.isOpen) return () => this.grid.finding.find.step(event.shiftKey ? -1 : 1);
    if (key === "n" && this.grid.mode === "compare") return () => this.grid.behaviour.next(event.shiftKey ? -1 : 1);
    return null;
  }

  /** @param {string} key @param {boolean} control @param {KeyPress} event @returns {(() => unknown) | null} */
  #travelKey(key, control, event) {
    const { row, column } = this.grid.placeOf(this.grid.here);
    const lastRow = this.grid.height - 1;
    const lastColumn = this.grid.edits.state.columns.length - 1;
    const extend = event.shiftKey;
    const go = (/** @type {number} */ toRow, /** @type {number} */ toColumn) => () => this.grid.goTo(toRow, toColumn, extend);
    if (event.altKey) return null;
    if (control) {
      switch (key) {
        case "z": return () => (event.shiftKey ? this.grid.redo() : this.grid.undo());
        case "y": return () => this.grid.redo();
        case "Enter": return () => this.grid.emit("grid-submit");
        case "Home": return go(0, 0);
        case "End": return go(lastRow, lastColumn);
        case "ArrowUp": return go(row <= 0 ? -1 : 0, column);
        case "ArrowDown": return go(lastRow, column);
        case "ArrowLeft": return go(row, column <= 0 ? -1 : 0);
        case "ArrowRight": return go(row, lastColumn);
        default: return null;
      }
    }
    switch (key) {
      case "ArrowUp": return go(row - 1, column);
      case "ArrowDown": return go(row + 1, column);
      case "ArrowLeft": return go(row, column - 1);
      case "ArrowRight": return go(row, column + 1);
      case "Home": return go(row, 0);
      case "End": return go(row, lastColumn);
      case "PageUp": return go(Math.max(Math.min(row, 0), row - this.#rowsPerPage()), column);
      case "PageDown": return go(row + this.#rowsPerPage(), column);
      case "Enter": return () => this.grid.emit("grid-submit");
      case "Escape": return () => this.#escape();
      default: return null;
    }
  }

  #escape() {
    const chosen = this.grid.chosen.rows.size + this.grid.chosen.columns.size;
    this.grid.chosen.rows.clear();
    this.grid.chosen.columns.clear();
    if (this.grid.dropRange() || chosen) {
      this.grid.refreshRange();
      this.grid.say(t("Nothing selected."));
    } else this.grid.emit("grid-leave");
  }

  #rowsPerPage() {
    return this.grid.painting.scroll.page(this.grid.here.row, this.grid.here.column);
  }
}
