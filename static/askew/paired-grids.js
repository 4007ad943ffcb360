/* Two tables that scroll as one, and which of their columns are out of sight. */

import { element, write } from "./elements.js";
import { t } from "./language.js";
import { pair } from "./paired-tables.js";

const NAMED = 3; // hidden columns that are named one by one

export class PairedGrids {
  hiddenNote = element("p", { className: "hidden-columns", hidden: true });
  /** @type {PairedGrids | null} */
  twin = null; // of the table that scrolls along with this one
  led = [0, 0]; // where this one was led, or has led from

  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /* The table is painted. */
  begin() {
    const { painting, where } = this.grid;
    where.after(this.hiddenNote);
    painting.sheet.addEventListener("scroll", () => {
      this.lead();
      this.tellHidden();
    }, { passive: true });
    painting.onLayout = () => this.tellHidden();
    this.tellHidden();
    this.led = [0, 0];
  }

  /* Two tables with the same columns scroll as one, so that what is beside each other can be compared. Where both begin, as
     much of the first change of each is in sight as there is room for. */
  /** @param {PairedGrids} other */
  scrollWith(other) {
    this.twin = other;
    other.twin = this;
    pair(this.grid.painting, other.grid.painting);
    for (const one of [this, other]) { // with other widths they begin anew
      one.grid.painting.sheet.scrollTo(0, 0);
      one.led = [0, 0];
    }
    for (const one of [this, other]) {
      one.lead();
      if (one.grid.behaviour.first) one.grid.painting.scroll.bringIntoSight(one.grid.behaviour.first);
    }
    other.lead();
    for (const one of [this, other]) one.tellHidden();
  }

  /* Which columns of a comparison are out of sight, in words among the tools. Both tables of a pair make room for them as
     long as one of them needs it. */
  tellHidden() {
    const names = this.grid.painting.scroll.hiddenColumns.map((id) => this.grid.edits.columnName(id));
    const more = names.length > NAMED ? t` and ${names.length - NAMED} more` : "";
    write(this.hiddenNote, names.length ? t`Hidden: ${names.slice(0, NAMED).join(", ")}${more}. Scroll sideways.` : "");
    const both = this.twin ? [this, this.twin] : [this];
    const line = both.some((one) => one.hiddenNote.textContent);
    for (const one of both) {
      one.hiddenNote.hidden = !line;
      one.grid.tools.bar.classList.toggle("crowded", line);
    }
  }

  /* The other table goes where this one is, unless that is where it was led. */
  lead() {
    const { scrollLeft, scrollTop } = this.grid.painting.sheet;
    const [left, top] = this.led;
    if (!this.twin?.grid.isConnected || (Math.abs(scrollLeft - left) < 1 && Math.abs(scrollTop - top) < 1)) return;
    this.led = [scrollLeft, scrollTop];
    const { scroll, sheet } = this.twin.grid.painting;
    scroll.corner = this.grid.painting.scroll.corner;
    this.twin.led = [sheet.scrollLeft, sheet.scrollTop];
  }
}
