/* What a table holds, and where people are in it: the current cell, the range that is selected, and both in words. */

import { element, write } from "./elements.js";
import { t, within } from "./language.js";
import { columnWords, sentence } from "./modes.js";
import { Cells, rectangle, runs, span } from "./selection.js";
import { count } from "./words.js";
import { percent } from "./zoom.js";

const PAUSE = 250; // ms: what is said of a range waits until the keys rest
const MAX_ANNOUNCED = 500; // cells of a range that screen readers announce one by one

export class GridSelection extends HTMLElement {
  /** @type {readonly string[] | null} */
  allowed = null;
  edits = /** @type {ShownEdits} */ (/** @type {unknown} */ (null));
  marked = new Cells();
  here = /** @type {GridCell} */ (/** @type {unknown} */ (null)); // {row, column}: ids
  /** @type {{rows: Set<string>, columns: Set<string>}} */
  chosen = { rows: new Set(), columns: new Set() };
  /** @type {GridMode} */
  behaviour = /** @type {GridMode} */ (/** @type {unknown} */ (null));
  mode = "read";
  /** @type {import("./painting.js").Painting} */
  painting = /** @type {import("./painting.js").Painting} */ (/** @type {unknown} */ (null));
  /** @type {GridCell | null} */
  anchor = null; // where a range began, while there is one
  /** @type {SpanKind} */
  rangeSpan = "cells";
  /** @type {HTMLElement | null} */
  cell = null;
  /** @type {HTMLElement[]} */
  selected = [];
  /** @type {import("./tools.js").Tools} */
  tools = /** @type {import("./tools.js").Tools} */ (/** @type {unknown} */ (null));
  status = element("p", { className: "sr", role: "status" });
  where = element("p", { className: "where", ariaHidden: "true" });
  announcement = element("p", { className: "told", ariaHidden: "true" });
  /** @type {number | null} */
  timer = null;
  /** @type {number | null} */
  telling = null;
  /** @type {import("./whole-cell.js").WholeCell | null} */
  beside = null;

  /* Whether people change something in it. */
  get editing() {
    return this.behaviour?.isGrid ?? false;
  }

  get base() {
    return this.edits.base;
  }

  get edited() {
    return this.edits.edited;
  }

  /* The net operations, with what is being typed into a cell at this moment. */
  /** @returns {readonly Operation[]} */
  get operations() {
    return this.behaviour?.operationsNow?.() ?? this.edits?.operations ?? [];
  }

  /* What `contract` does not allow of the operations. */
  /** @param {Contract} contract @param {string} reason */
  violations(contract, reason = "") {
    return this.edits.violations(contract, this.operations, reason);
  }

  /* The marked cells, as they stand in the table. */
  get cells() {
    return this.edits ? this.marked.pairs(this.edits.rowPlaces, this.columnIds()) : [];
  }

  /* Ids for new rows and columns: n1, n2, ... */
  /** @param {number} number */
  freshIds(number) {
    return this.edits.freshIds(number);
  }

  /** @param {string} operation */
  may(operation) {
    return this.allowed === null || this.allowed.includes(operation);
  }

  /** @param {string} row */
  isRemoved(row) {
    return this.edits.state.rows[this.edits.rowPlaces.get(row)]?.removed ?? false;
  }

  /** @param {string} column */
  isColumnRemoved(column) {
    return this.edits.state.columns[this.edits.columnPlaces.get(column)]?.removed ?? false;
  }

  focusCell() {
    const cell = this.behaviour?.isGrid && this.here ? this.painting.cell(this.here.row, this.here.column) : null;
    if (!cell) return this.painting?.sheet.focus();
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /* Say something to screen readers; `shown` also on the page, beside the tools. */
  /** @param {string} text @param {{shown?: boolean}} options */
  say(text, { shown = false } = {}) {
    clearTimeout(this.timer);
    // The same words a second time are said again only if they differ: by a blank that nobody hears.
    write(this.status, text && this.status.textContent === text ? `${text}\u00a0` : text);
    write(this.announcement, shown ? text : "");
  }

  /** @param {string} text */
  sayLater(text) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say(text), PAUSE);
  }

  get height() {
    return this.edits.state.rows.length;
  }

  columnIds() {
    return this.edits.state.columnIds;
  }

  /** @param {number} place */
  rowId(place) {
    return place < 0 ? this.edits.base.header_id : this.edits.state.rows[place]?.id;
  }

  /** @param {string} row @param {string | null} column */
  placeInWords(row, column) {
    return `${this.edits.rowName(row)}, ${this.edits.columnName(/** @type {string} */ (column))}`;
  }

  hereInWords() {
    const area = this.anchor ? this.area() : null;
    if (area && (area.top !== area.bottom || area.left !== area.right)) return this.areaInWords(area);
    if (!this.here) return "";
    const { row, column } = this.here;
    const stands = this.standsFor;
    if (!stands) return this.placeInWords(row, column);
    const { rows, columns } = this.idsIn(this.area());
    const name = { columns: () => sentence(columnWords(this, column)), rows: () => this.edits.rowName(row), all: () => t("The whole table") }[stands]();
    return `${name}: ${count(rows.length * columns.length, "cell")}`;
  }

  /* What the current cell stands for where it is a header or a row's number: "columns", "rows" or, in the corner, "all". */
  get standsFor() {
    if (!this.here || !this.behaviour.headsStand) return null;
    const head = this.here.row === this.edits.base.header_id;
    if (this.here.column === null) return head ? "all" : "rows";
    return head ? "columns" : null;
  }

  /* The rectangle that is selected, in numbers, or that of the current cell; `as` widens it to "rows", "columns", "all". */
  /** @param {SpanKind | "all"} as @returns {Area} */
  area(as = this.rangeSpan) {
    if (!this.here) return /** @type {Area} */ (/** @type {unknown} */ (null));
    const head = this.headIsIn;
    const width = this.edits.state.columns.length;
    if (as === "all") return { top: 0, bottom: this.height - 1, left: 0, right: width - 1 };
    const one = this.placeOf(this.here);
    const other = this.anchor ? this.placeOf(this.anchor) : one;
    const wide = as === "cells" && this.rangeSpan !== "cells" ? this.rangeSpan : as;
    if (!this.behaviour.headsStand) return rectangle(one, other, wide, this.height, width, head);
    const [above, beside] = [Math.min(one.row, other.row) < 0, Math.min(one.column, other.column) < 0];
    if (above && beside) return this.area("all");
    return rectangle(one, other, above ? "columns" : beside ? "rows" : wide, this.height, width, head);
  }

  /* Whether the names of the columns are cells like any other, or stand for their columns. */
  get headIsIn() {
    return this.behaviour.hasHead && !this.behaviour.headsStand;
  }

  /* The ids of the rows (the header is one where it is asked for) and columns of a rectangle. */
  /** @param {Area | null} area */
  idsIn(area) {
    if (!area) return { rows: [], columns: [] };
    const rows = span(Math.max(area.top, this.headIsIn ? -1 : 0), area.bottom).map((place) => this.rowId(place));
    return { rows, columns: this.columnIds().slice(area.left, area.right + 1) };
  }

  areaTexts() {
    const area = this.area();
    const { rows, columns } = this.idsIn(area);
    const { state, columnPlaces, rowPlaces, base } = this.edits;
    return rows.map((row) => columns.map((column) => (row === base.header_id
      ? state.columns[columnPlaces.get(column)].name
      : state.rows[rowPlaces.get(row)].cells[columnPlaces.get(column)])));
  }

  dropRange() {
    if (!this.anchor) return false;
    this.anchor = null;
    this.rangeSpan = "cells";
    this.refreshRange();
    return true;
  }

  /** @param {SpanKind} what */
  selectSpan(what) {
    this.anchor ??= { ...this.here };
    this.rangeSpan = what;
    this.refreshRange();
    this.sayLater(t`${this.areaInWords(this.area())} selected`);
  }

  selectAll() {
    this.selectArea({ top: 0, left: 0, bottom: this.height - 1, right: this.edits.state.columns.length - 1 });
    this.sayLater(t`${this.areaInWords(this.area())} selected`);
  }

  /* Select a rectangle; the current cell becomes its last one. */
  /** @param {Area} area */
  selectArea({ top, left, bottom, right }) {
    const columns = this.columnIds();
    if (columns[left] === undefined || this.rowId(top) === undefined || bottom < top) return;
    this.anchor = { row: this.rowId(bottom), column: columns[right] };
    this.rangeSpan = "cells";
    this.here = { row: this.rowId(top), column: columns[left] };
    this.select();
  }

  refreshRange() {
    this.#drawRange();
    this.refreshTools();
  }

  /* Make a cell the current one, with nothing selected; the table is not scrolled. */
  /** @param {Position} place */
  stand(place) {
    this.anchor = null;
    this.rangeSpan = "cells";
    this.here = /** @type {GridCell} */ (place);
    this.select();
    this.cell?.focus({ preventScroll: true });
  }

  /** @param {number} rows @param {number} columns */
  moveBy(rows, columns) {
    const { row, column } = this.placeOf(this.here);
    this.goTo(row + rows, column + columns);
  }

  /* What Tab does: on to the next cell and the next row; null past the last cell, where the focus leaves the table. */
  /** @param {number} step */
  tabTarget(step) {
    const width = this.edits.state.columns.length;
    const { row, column } = this.placeOf(this.here);
    const next = row * width + column + step;
    if (row < 0 || next < 0 || next >= width * this.height) return null;
    return () => this.goTo(Math.floor(next / width), next % width);
  }

  /* Point at a place of a table that is only read. */
  /** @param {GridCell} place */
  point({ row, column }) {
    this.cell?.removeAttribute("data-here");
    this.here = { row, column };
    this.cell = this.painting.cell(row, column);
    if (!this.cell) return;
    this.cell.dataset.here = "";
    this.cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {string} name @param {object} detail */
  emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  refreshTools() {
    write(this.where, [this.behaviour.where(), percent() === 100 ? "" : `${percent()} %`].filter(Boolean).join(" · "));
    this.tools?.refresh(this.behaviour.tools());
  }

  /** @param {Position} place */
  placeOf({ row, column }) {
    const { rowPlaces, columnPlaces, base } = this.edits;
    return { row: row === base.header_id ? -1 : rowPlaces.get(row) ?? 0, column: column === null ? -1 : columnPlaces.get(column) ?? 0 };
  }

  /* Only the current cell can be reached with Tab. */
  select() {
    const cell = this.behaviour.isGrid && this.here ? this.painting.cell(this.here.row, this.here.column) : null;
    if (cell !== this.cell) {
      const before = this.cell;
      this.cell = cell;
      if (cell) {
        cell.tabIndex = 0;
        cell.dataset.here = "";
      }
      // First the focus goes on: what cannot be focused any more loses it, at once or, in Firefox, a moment later.
      if (cell && before && document.activeElement === before) cell.focus({ preventScroll: true });
      before?.removeAttribute("tabindex");
      before?.removeAttribute("data-here");
      this.emit("grid-here", { ...this.here });
    }
    this.beside?.showBeside();
    this.#drawRange();
    this.refreshTools();
  }

  #drawRange() {
    if (!this.behaviour.isGrid) return;
    const areas = [];
    const area = this.anchor ? this.area() : null;
    if (area && (area.top !== area.bottom || area.left !== area.right)) areas.push({ ...area, kind: "range" });
    const width = this.edits.state.columns.length - 1;
    const { rows, columns } = this.chosen;
    /** @type {(ids: ReadonlySet<string>, map: Places) => number[]} */
    const places = (ids, map) => [...ids].map((id) => map.get(id)).filter((place) => place !== undefined).sort((a, b) => a - b);
    for (const [top, bottom] of runs(places(rows, this.edits.rowPlaces))) areas.push({ top, bottom, left: 0, right: width, kind: "chosen" });
    for (const [left, right] of runs(places(columns, this.edits.columnPlaces))) areas.push({ top: -1, bottom: this.height - 1, left, right, kind: "chosen" });
    this.painting.outlines.outline(areas);
    this.#tellSelected(area);
  }

  /* aria-selected follows when the keys rest: a range may hold thousands of cells. Marked cells carry their own. */
  /** @param {Area | null} area */
  #tellSelected(area) {
    if (this.mode === "select") return this.tellHead();
    for (const cell of this.selected) cell.removeAttribute("aria-selected");
    this.selected = [];
    const choose = (/** @type {HTMLElement | null} */ cell) => {
      if (!cell) return;
      cell.setAttribute("aria-selected", "true");
      this.selected.push(cell);
    };
    choose(this.cell);
    clearTimeout(this.telling);
    if (!area || (area.bottom - area.top + 1) * (area.right - area.left + 1) > MAX_ANNOUNCED) return;
    this.telling = setTimeout(() => {
      const { rows, columns } = this.idsIn(area);
      for (const row of rows) for (const column of columns) choose(this.painting.cell(row, column));
    }, PAUSE);
  }

  /* A header or a row's number says whether all that it stands for is marked, as long as it is the current cell. */
  tellHead() {
    for (const cell of this.selected) if (cell !== this.cell) cell.removeAttribute("aria-selected");
    this.selected = [];
    if (!this.cell || !this.standsFor) return;
    const { rows, columns } = this.idsIn(this.area());
    this.cell.setAttribute("aria-selected", String(rows.length > 0 && this.marked.hasAll(rows, columns)));
    this.selected.push(this.cell);
  }

  /** @param {number} rowPlace @param {number} columnPlace @param {boolean} extend */
  goTo(rowPlace, columnPlace, extend = false) {
    const { state } = this.edits;
    const least = this.behaviour.hasHead ? -1 : 0;
    const row = this.rowId(Math.max(least, Math.min(rowPlace, state.rows.length - 1)));
    const left = columnPlace < 0 && this.behaviour.headsStand;
    const column = /** @type {string} */ (left ? null : state.columns[clamp(columnPlace, state.columns.length)]?.id);
    if (row === undefined || column === undefined) return;
    if (!extend) {
      this.anchor = null;
      this.rangeSpan = "cells";
    } else this.anchor ??= { ...this.here };
    this.here = { row, column };
    this.select();
    this.focusCell();
    if (extend) this.sayLater(t`${this.areaInWords(this.area())} selected`);
  }

  /** @param {Area} area */
  areaInWords({ top, bottom, left, right }) {
    const [rows, columns] = [bottom - top + 1, right - left + 1];
    const named = (/** @type {number} */ place) => this.edits.rowName(this.rowId(place));
    const ids = this.columnIds();
    const rowWords = rows === 1 ? named(top) : t`${named(top)} to ${within(named(bottom))}`;
    const columnWords = columns === 1 ? this.edits.columnName(ids[left]) : t`${this.edits.columnName(ids[left])} to ${this.edits.columnName(ids[right])}`;
    return `${rowWords}, ${columnWords}: ${count(rows * columns, "cell")}`;
  }
}

/** @param {number} index @param {number} length */
export const clamp = (index, length) => Math.min(Math.max(index, 0), length - 1);
