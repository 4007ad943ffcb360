/* Two tables beside each other: shared columns have the same width, shared rows the same height. */

import { SQUEEZED } from "./column-widths.js";
import { sum } from "./ruler.js";

/* Lay two tables out for comparison: shared columns have the same width, shared rows the same height. */
/** @param {import("./painting.js").Painting} one @param {import("./painting.js").Painting} other */
export function pair(one, other) {
  one.pair = new PairedTables(one);
  other.pair = new PairedTables(other, one.pair);
  one.pair.twin = other.pair;
  one.pair.lockPair();
}

export class PairedTables {
  /** @type {Set<HTMLElement>} */
  spaced = new Set(); // rows with a height or a margin of their own

  /** @param {import("./painting.js").Painting} painting @param {PairedTables} twin of the table beside it */
  constructor(painting, twin = this) {
    this.painting = painting;
    this.twin = twin;
  }

  /* The same widths for both tables. Columns take what they need as long as both tables fit; then they are squeezed, then
     they lose their padding, and only then does a table scroll. */
  lockPair() {
    const both = [this, this.twin];
    const pair = both.map(({ painting }) => painting);
    const rooms = pair.map(({ sheet }) => sheet.parentElement?.clientWidth ?? 0);
    if (!rooms.every(Boolean)) return;
    for (const one of pair) one.columnWidths.unlock();
    const frame = Math.max(...pair.map(({ sheet }) => sheet.offsetWidth - sheet.clientWidth)) + 1;
    const room = Math.min(...rooms) - frame - Math.max(...pair.map(({ table }) => /** @type {PaintedHead} */ (table.tHead).lastElementChild.children.length)); // lock() rounds up
    let layout = { fits: false, widths: /** @type {number[][]} */ ([]) };
    for (const dense of [false, true]) {
      for (const one of pair) one.table.classList.toggle("dense", dense);
      layout = shared(both.map((one) => one.extremes()), room);
      if (layout.fits) break;
    }
    pair.forEach((one, at) => one.columnWidths.lock(layout.widths[at], rooms[at]));
    this.alignRows();
    for (const one of pair) one.outlines.drawAreas();
  }

  /* [id, least width, width without wrapping] of each column; the first one is that of the rows' numbers. */
  /** @returns {[string | null, number, number][]} */
  extremes() {
    const { table } = this.painting;
    const widest = this.painting.columnWidths.widestTexts();
    if (widest) table.append(widest);
    table.classList.add("natural");
    const most = this.painting.columnWidths.headWidths();
    table.classList.remove("natural");
    table.style.width = "1px";
    const least = this.painting.columnWidths.headWidths();
    table.style.width = "";
    widest?.remove();
    return [null, ...this.painting.state.columnIds].map((id, at) => [id, least[at], most[at]]);
  }

  /* Rows of both tables of a pair beside each other: as high as the higher one, with room where only one has a row. */
  alignRows() {
    const both = [this, this.twin];
    const pair = both.map(({ painting }) => painting);
    const rows = pair.map((one) => one.state.rows);
    for (const { painting, spaced } of both) {
      for (const tr of [painting.header.head.lastElementChild, ...spaced]) tr.removeAttribute("style");
      spaced.clear();
    }
    level(pair.map((one) => one.header.head.lastElementChild));
    const known = pair.map((one) => new Set(one.state.rowIds));
    const [left, right] = rows.map((list, at) => list.filter(({ id }) => known[1 - at].has(id)));
    if (!left.every(({ id }, at) => id === right[at].id)) return; // rows were moved: nothing stands beside itself
    const special = new Set(rows.flat().filter(({ old, removed, inserted }) => old || removed || inserted).map(({ id }) => id));
    if (!special.size) return;
    for (const one of pair) one.paintAll();
    /** @type {(one: import("./painting.js").Painting, id: string) => number} */
    const height = (one, id) => one.entries.get(id).tr.getBoundingClientRect().height;
    /** @type {(one: import("./painting.js").Painting, id: string, property: "marginTop" | "marginBottom" | "minHeight", pixels: number) => void} */
    const space = (one, id, property, pixels) => {
      const { tr } = one.entries.get(id);
      tr.style[property] = `${(Number.parseFloat(tr.style[property]) || 0) + pixels}px`;
      both[pair.indexOf(one)].spaced.add(tr);
    };
    /** @type {[id: string, pixels: number][]} */
    const levels = left.filter(({ id }) => special.has(id)).map(({ id }) => [id, Math.max(...pair.map((one) => height(one, id)))]);
    pair.forEach((one, at) => {
      const other = pair[1 - at];
      let above = null;
      let missing = 0;
      for (const { id } of rows[at]) {
        if (!known[1 - at].has(id)) missing += height(one, id);
        else {
          if (missing) space(other, id, "marginTop", missing);
          missing = 0;
          above = id;
        }
      }
      if (missing && above !== null) space(other, above, "marginBottom", missing);
    });
    for (const [id, pixels] of levels) for (const one of pair) space(one, id, "minHeight", pixels);
  }
}

/* Widths for two tables: columns of the same id are as wide in both. Between least and most, as far as the wider one has
   room; `fits` is whether both have. `tables` are lists of [id, least, most]. */
/** @param {[string | null, number, number][][]} tables @param {number} room */
function shared(tables, room) {
  const columns = new Map();
  for (const [id, least, most] of tables.flat()) {
    const known = columns.get(id) ?? [0, 0];
    columns.set(id, [Math.max(known[0], least), Math.max(known[1], least, most)]);
  }
  const sums = tables.map((table) => [0, 1].map((which) => sum(table.map(([id]) => columns.get(id)[which]))));
  const part = Math.min(...sums.map(([least, most]) => (most <= room ? 1 : (room - least) / (most - least))));
  const wide = sums.some(([least]) => least > SQUEEZED * room); // most of it scrolls anyhow: its texts need not wrap
  const stretch = wide ? 1 : Math.max(0, part);
  const width = (/** @type {string | null} */ id) => {
    const [least, most] = columns.get(id);
    return least + stretch * (most - least);
  };
  return { fits: part >= 0, widths: tables.map((table) => table.map(([id]) => width(id))) };
}

/* Make elements as high as the highest of them. */
/** @param {HTMLElement[]} elements */
function level(elements) {
  const height = Math.max(...elements.map((one) => one.getBoundingClientRect().height));
  for (const one of elements) one.style.minHeight = `${height}px`;
}
