/* The widths of columns: measured once and kept, in rem at zoom 1. New words widen their column; another room, where that is
   cheap, measures anew. */

import { isLong, TALL, LONG } from "./cell-content.js";
import { element } from "./elements.js";
import { BLANKS, paddingOf, partsOf, roomFor, Ruler, scaled, sum } from "./ruler.js";
import { equal } from "./tables.js";

const READABLE = 40; // rem that a column of long texts takes at most of the room beside the table
const ROOM = 24; // px of more or less room before columns are measured again
const CHEAP = 4000; // cells up to which they are
const REST = 120; // ms that the room has been what it is
export const SQUEEZED = 1.6; // times its room: a table that is wider is not squeezed into it
const WIDEST = 22; // rem that a column may become for a new word, as much as a cell may be at first (askew.css)
const GIVEN = 1 / 3; // of its width that a column gives to others at most
export const FEW = 50; // changed rows that are measured

export class ColumnWidths {
  /** @type {number[]} */
  widths = /** @type {number[]} */ (/** @type {unknown} */ (null)); // rem at zoom 1: [row number, columns...]
  /** @type {number[]} */
  #measured = /** @type {number[]} */ (/** @type {unknown} */ (null)); // the same, as the table was measured
  #withChanges = false; // whether it had changes then
  /** @type {Map<string, Map<string, number>>} */
  #needs = new Map(); // row id -> column id -> rem that the longest new word takes
  /** @type {number[] | null} */
  #least = null; // rem that the longest word of each column takes, once it has been asked for
  #room = 0;
  /** @type {number | null} */
  fitting = null;
  #lines = TALL; // that a long text has now
  #outer = ""; // heights of the window, and of what is around the table, when that was found out

  /** @param {import("./painting.js").Painting} painting */
  constructor(painting) {
    this.painting = painting;
  }

  /* Another room (a window made wider, a column closed) gives the columns other widths, where measuring them is cheap. */
  /** @param {number} room */
  fit(room) {
    if (!room || !this.widths) return;
    const over = this.painting.sheet.scrollWidth - this.painting.sheet.clientWidth;
    // A scrollbar beside the table takes a little room: that counts where the table would scroll sideways for it.
    if (Math.abs(room - this.#room) < ROOM && (over <= 0 || over > ROOM)) return;
    if (!this.#isCheap) {
      this.#room = room;
      if (!this.painting.pair) this.#share(true);
      return;
    }
    clearTimeout(this.fitting);
    this.fitting = setTimeout(() => this.#measureAgain(room), REST);
  }

  get #isCheap() {
    return this.painting.state.rows.length * this.painting.state.columns.length <= CHEAP;
  }

  /** @param {number} room */
  #measureAgain(room) {
    this.unlock();
    this.lockWidths(room);
    this.painting.outlines.drawAreas();
  }

  /* Columns take the width of what they hold and keep it: an edit never makes the table jump. A table that is a little
     too wide is squeezed into the page, a much wider one scrolls. */
  /** @param {number} room */
  lockWidths(room) {
    if (this.painting.pair) return this.painting.pair.lockPair();
    const { table } = this.painting;
    const widest = this.widestTexts();
    if (widest) table.append(widest);
    table.classList.add("natural");
    let widths = this.headWidths();
    const natural = sum(widths);
    if (natural && room && natural <= SQUEEZED * room) {
      table.classList.remove("natural");
      widths = this.headWidths();
      if (sum(widths) > this.#inner(room)) { // padding goes before a column is out of sight
        table.classList.add("dense");
        const dense = this.headWidths();
        if (sum(dense) <= this.#inner(room)) widths = dense;
        else table.classList.remove("dense");
      }
    }
    widest?.remove();
    if (!natural || !room) return;
    this.lock(this.#widen(widths, room), room);
    this.stretch(true);
    if (!this.#withChanges) return;
    const changed = this.painting.state.rows.filter(({ id, old, inserted }) => (old || inserted) && this.painting.entries.has(id));
    this.#measureNew(changed.length > FEW ? [] : changed.map(({ id }) => id));
    this.#share();
  }

  /* Columns of long texts share the room beside the table. */
  /** @param {number[]} widths @param {number} room */
  #widen(widths, room) {
    const long = this.#longColumns();
    const free = this.#inner(room) - sum(widths);
    if (!long.size || free <= 0) return widths;
    const { rem, zoom } = this.#scale();
    return widths.map((width, at) => (long.has(at - 1) ? Math.max(width, Math.min(width + free / long.size, READABLE * rem * zoom)) : width));
  }

  #longColumns() {
    if (!this.#isCheap) return new Set();
    return new Set([...this.painting.state.columns.keys()].filter((at) => this.painting.state.rows.some(({ cells }) => isLong(cells[at] ?? ""))));
  }

  /* Long texts take as many lines as leave the whole table in sight, and five at least. `anew` with other columns; else only
     where there is another room around the table, or it no longer fits. */
  stretch(anew = false) {
    const { sheet, table } = this.painting;
    if (this.painting.pair || !this.#isCheap || !sheet.clientHeight || !table.querySelector(".long")) return;
    const height = globalThis.innerHeight;
    const outer = () => [height, sheet.parentElement.parentElement?.clientHeight].join();
    const fits = () => sheet.scrollHeight <= sheet.clientHeight;
    if (!anew && outer() === this.#outer && (this.#lines === TALL || fits())) return;
    const take = (/** @type {number} */ lines) => {
      this.#lines = lines;
      table.style.setProperty("--lines", String(lines));
    };
    let [least, most] = [TALL, height]; // in lines: no text is shown with more than the window has pixels
    take(most);
    if (!fits()) {
      while (most - least > 1) {
        take(Math.floor((least + most) / 2));
        if (fits()) least = this.#lines;
        else most = this.#lines;
      }
      take(least);
    }
    this.#outer = outer();
    table.toggleAttribute("data-whole", [...table.querySelectorAll(".long")].every((text) => text.scrollHeight <= text.clientHeight + 1));
  }

  /* What is new in a header or in a cell of these rows is never broken within a word or number: its column grows as long
     as that stands there. */
  /** @param {readonly string[]} rowIds */
  makeRoom(rowIds) {
    if (!this.widths || this.painting.pair) return;
    if (this.#withChanges && this.#isCheap && !hasChanges(this.painting.state)) return this.#measureAgain(this.#room);
    this.#measureNew(rowIds);
    this.#share();
  }

  /* Bring what the new words need in line with the state: measure those of headers and of these rows, without any layout. */
  /** @param {readonly string[]} rowIds */
  #measureNew(rowIds) {
    const { rows, columns } = this.painting.state;
    const { rem, zoom } = this.#scale();
    const width = (/** @type {Parameters<typeof roomFor>} */ ...parts) => roomFor(...parts) / zoom / rem;
    /** @type {(id: string, row: ShownRow) => Map<string, number>} */
    const measure = (id, row) => new Map(columns.flatMap((column, at) => {
      if (!row.inserted && !row.old?.has(at)) return [];
      const cell = /** @type {HTMLElement} */ (this.painting.cell(id, column.id));
      return [[column.id, width(cell, cell.querySelector("ins") ?? cell, partsOf(row.cells[at], this.painting.numeric[at]))]];
    }));
    for (const [id, widths] of this.#needs) {
      const row = rows[this.painting.rowPlaces.get(id)];
      if (!row || !widths.size || (!row.old && !row.inserted)) this.#needs.delete(id);
    }
    for (const id of rowIds) {
      const row = rows[this.painting.rowPlaces.get(id)];
      if (row.old || row.inserted) this.#needs.set(id, measure(id, row));
    }
    const renamed = columns.filter(({ old }) => old !== null);
    this.#needs.set(this.painting.base.header_id, new Map(renamed.map(({ id, name }) => {
      const th = this.painting.header.headCells.get(id);
      return [id, width(th, th.querySelector("ins") ?? th, name.split(BLANKS))];
    })));
  }

  /* Give each column the width that was measured, or what new words in it need. Where the table fitted before, the
     column with the most slack beyond its longest word gives room to the others; if that is not enough, the table scrolls. */
  #share(anew = false) {
    const rows = [...this.#needs.values()];
    const needs = [0, ...this.painting.state.columns.map(({ id }) => rows.reduce((most, widths) => Math.max(most, widths.get(id) ?? 0), 0))];
    const wide = needs.some((need, at) => need > this.#measured[at]);
    if (!wide && !anew && this.widths === this.#measured) return;
    const { rem, zoom } = this.#scale();
    const room = Math.floor(this.#inner(this.#room) / zoom) / rem;
    const limit = Math.min(WIDEST, room - this.#measured[0]);
    let widths = wide ? this.#measured.map((width, at) => Math.max(width, Math.min(needs[at], limit))) : this.#measured;
    const over = sum(widths) - room;
    if (over > 0 && sum(this.#measured) - room <= ROOM / rem) {
      this.#least ??= this.#leastWidths();
      const slack = widths.map((width, at) => (at ? Math.max(0, Math.min(width - Math.max(/** @type {number[]} */ (this.#least)[at], needs[at]), GIVEN * width)) : 0));
      const [most, at] = slack.reduce((known, width, place) => (width > known[0] ? [width, place] : known), [0, 0]);
      if (most >= over) widths = widths.with(at, widths[at] - over);
    }
    if (equal(widths, this.widths)) return;
    this.#setWidths(widths);
    this.painting.outlines.drawAreas();
  }

  /* The rem that the longest word of each column takes, in its cells or in its header; the first one is that of the rows'
     numbers. Texts are measured, nothing is laid out. */
  #leastWidths() {
    const { rem, zoom } = this.#scale();
    const { columns, rows } = this.painting.state;
    const [first] = this.painting.entries.values();
    return [this.#measured[0], ...columns.map(({ id, name, old }, at) => {
      const th = this.painting.header.headCells.get(id);
      const widths = [roomFor(th, th, [name, typeof old === "string" ? old : ""].join(" ").split(BLANKS))];
      for (const small of th.querySelectorAll("small:not(.sr)")) widths.push(roomFor(th, small, [small.textContent]));
      const cell = first?.tr.children[at + 1];
      if (cell) {
        const longest = new Ruler(this.painting.table).longest();
        for (const row of rows) {
          for (const text of [row.cells[at] ?? "", row.old?.get(at)]) {
            if (typeof text === "string" && longest.mayBe(text)) for (const part of partsOf(text, this.painting.numeric[at])) longest.take(part);
          }
        }
        widths.push(Math.ceil(longest.width + 1 + paddingOf(cell)));
      }
      return Math.max(...widths) / zoom / rem;
    })];
  }

  #scale() {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const zoom = Number.parseFloat(getComputedStyle(this.painting.table).getPropertyValue("--zoom")) || 1;
    return { rem, zoom };
  }

  headWidths() {
    return [...this.painting.header.head.lastElementChild.children].map((cell) => cell.getBoundingClientRect().width);
  }

  /** @param {number[]} widths @param {number} room */
  lock(widths, room) {
    const { table } = this.painting;
    this.#room = room;
    const { rem, zoom } = this.#scale();
    const measured = widths.map((width) => width / zoom);
    const whole = measured.map((width) => Math.ceil(width + 0.5));
    const added = sum(whole) - sum(measured);
    const over = sum(whole) - Math.floor(this.#inner(room) / zoom);
    // Rounding alone makes no table scroll sideways: each column gives a part back, and none becomes narrower than it was.
    const part = over > 0 && over <= 2 * whole.length ? Math.min(1, over / added) : 0;
    this.#setWidths(whole.map((width, at) => (width - part * (width - measured[at])) / rem));
    this.#measured = this.widths;
    this.#withChanges = hasChanges(this.painting.state);
    this.#needs.clear();
    this.#least = null;
    table.classList.toggle("pinned", widths[1] <= room / 3);
    table.classList.add("locked");
  }

  /* The room for columns within the borders and the scrollbar of the sheet. */
  /** @param {number} room */
  #inner(room) {
    return room - (this.painting.sheet.offsetWidth - this.painting.sheet.clientWidth);
  }

  /** @param {number[]} widths */
  #setWidths(widths) {
    const { style } = this.painting.table;
    this.widths = widths;
    style.setProperty("--columns", widths.map(scaled).join(" "));
    style.width = scaled(sum(widths));
    style.setProperty("--first", scaled(widths[1] ?? 0));
    style.setProperty("--number", scaled(widths[0]));
  }

  unlock() {
    const { table } = this.painting;
    table.classList.remove("locked", "pinned", "dense");
    table.style.width = "";
    table.style.paddingInlineEnd = "";
    table.style.removeProperty("--number");
  }

  /* Of the rows that are not painted yet, the widest text and the widest word of each column, as rows to measure. */
  widestTexts() {
    const rows = this.painting.state.rows.slice(this.painting.painted);
    if (!rows.length) return null;
    const body = element("tbody");
    const ruler = new Ruler(this.painting.table);
    const lines = [element("tr"), element("tr")];
    for (const tr of lines) tr.append(element("th", { className: "number", textContent: String(this.painting.state.rows.length) }));
    this.painting.state.columns.forEach((_, at) => {
      const [text, word] = [ruler.longest(), ruler.longest()];
      for (const { cells } of rows) {
        const cell = (cells[at] ?? "").slice(0, LONG);
        if (text.mayBe(cell)) text.take(cell);
        if (word.mayBe(cell)) for (const part of cell.split(BLANKS)) word.take(part);
      }
      const className = this.painting.numeric[at] ? "n" : "";
      [text, word].forEach((longest, line) => lines[line].append(element("td", { textContent: longest.text, className })));
    });
    body.append(...lines);
    return body;
  }
}

/** @param {ShownTable} table */
function hasChanges({ columns, rows }) {
  return columns.some(({ old, removed, inserted }) => old !== null || removed || inserted)
    || rows.some(({ old, removed, inserted }) => old || removed || inserted);
}
