/* Two tables that scroll as one, and which of their columns are out of sight. */

import { element, write } from "./elements.js";
import { t } from "./language.js";

const NAMED = 3; // hidden columns that are named one by one

export class PairedGrids {
  hiddenNote = element("p", { className: "hidden-columns", hidden: true });
  /** @type {import("./grid.js").AskewGrid | null} */
  twin = null; // the table that scrolls along with this one
  led = [0, 0]; // where this one was led, or has led from

  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /* Two tables with the same columns scroll as one, so that what is beside each other can be compared; null ends it.
     Where both begin, as much of the first change of each is in sight as there is room for. */
  /** @param {import("./grid.js").AskewGrid | null} other */
  scrollWith(other) {
    if (this.twin) this.twin.pairing.twin = null;
    this.twin = other;
    if (!other) return;
    other.pairing.twin = this.grid;
    this.grid.painting.pair.pairWith(other.painting);
    for (const one of [this.grid, other]) { // with other widths they begin anew
      one.painting.sheet.scrollTo(0, 0);
      one.pairing.led = [0, 0];
    }
    for (const one of [this.grid, other]) {
      one.pairing.lead();
      if (one.behaviour.first) one.painting.scroll.bringIntoSight(one.behaviour.first);
    }
    other.pairing.lead();
    for (const one of [this.grid, other]) one.pairing.tellHidden();
  }

  /* Which columns of a comparison are out of sight, in words among the tools. Both tables of a pair make room for them as
     long as one of them needs it. */
  tellHidden() {
    if (this.grid.modeName !== "compare") return;
    const names = this.grid.painting.scroll.hiddenColumns.map((id) => this.grid.edits.columnName(id));
    const more = names.length > NAMED ? t` and ${names.length - NAMED} more` : "";
    write(this.hiddenNote, names.length ? t`Hidden: ${names.slice(0, NAMED).join(", ")}${more}. Scroll sideways.` : "");
    const pair = this.twin ? [this.grid, this.twin] : [this.grid];
    const line = pair.some((one) => one.pairing.hiddenNote.textContent);
    for (const one of pair) {
      one.pairing.hiddenNote.hidden = !line;
      one.tools.bar.classList.toggle("crowded", line);
    }
  }

  /* The other table goes where this one is, unless that is where it was led. */
  lead() {
    const { scrollLeft, scrollTop } = this.grid.painting.sheet;
    const [left, top] = this.led;
    if (!this.twin?.isConnected || (Math.abs(scrollLeft - left) < 1 && Math.abs(scrollTop - top) < 1)) return;
    this.led = [scrollLeft, scrollTop];
    const { sheet } = this.twin.painting;
    this.twin.painting.scroll.corner = this.grid.painting.scroll.corner;
    this.twin.pairing.led = [sheet.scrollLeft, sheet.scrollTop];
  }
}
