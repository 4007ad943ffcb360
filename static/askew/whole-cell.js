/* The whole text of a cell that is clipped, over its neighbours or in a pane of its own. */

import { reachOut, versions, wholeButton } from "./cell-content.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { styled } from "./later.js";

export class WholeCell {
  #whole = element("div", { className: "full", ariaHidden: "true" });
  #hint = element("div", { className: "hint", ariaHidden: "true" });
  /** @type {HTMLElement | null} */
  #opened = null; // the cell over which something lies

  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /* A clipped cell shows its whole text over its neighbours while it has the focus; an odd one says what is odd. */
  showBeside() {
    this.#whole.remove();
    this.#hint.remove();
    if (this.#opened && !this.grid.behaviour.typing) reachOut(this.#opened, false);
    this.#opened = null;
    if (!this.grid.cell || !this.grid.here || !this.grid.behaviour.isGrid) return;
    const like = this.grid.odd.get(this.grid.here.row)?.get(this.grid.here.column);
    const isLong = this.grid.cell.querySelector(".long");
    if (isLong) {
      this.#whole.replaceChildren(this.grid.edits.text(this.grid.here.row, this.grid.here.column) ?? "", wholeButton(true));
      this.grid.cell.append(this.#whole);
    } else if (like) {
      this.#hint.textContent = t`Different format from ${like}`;
      this.grid.cell.append(this.#hint);
    } else return;
    this.#opened = this.grid.cell;
    reachOut(this.grid.cell, true);
    if (isLong) this.grid.painting.scroll.fitOver(this.grid.cell, this.#whole);
  }

  /* Open the text of a cell in a pane of its own, with what it replaces. */
  /** @param {GridCell} place */
  async readWhole({ row, column }) {
    const { base, state, rowPlaces, columnPlaces } = this.grid.edits;
    const at = columnPlaces.get(column);
    const line = row === base.header_id ? { cells: state.columns.map(({ name }) => name), old: null } : state.rows[rowPlaces.get(row)];
    const text = line?.cells[at];
    if (!text || (this.grid.marksHidden && this.grid.evidence.has(row, column))) return;
    const { openReadingPane } = await styled(() => import("./reading-pane.js"));
    const old = line.old?.get(at);
    openReadingPane(this.grid.placeInWords(row, column), old === undefined ? [text] : versions(old, text));
  }
}
