/* <askew-grid>: a table that people read, mark, edit, cut down and compare.

   The server renders the table inside the element, and without this script it stays what it is. `show(table,
   operations, options)` paints it anew from JSON in one of five modes (modes.js): read and compare are tables to read,
   select, edit and structure are ARIA grids with the keys of a spreadsheet (grid-keys.js). The base table is never
   changed: an edit is a list of operations, undo is an earlier list. Cells are text and only text.

   Options: mode          "read" (default), "select", "edit", "structure", "compare"
            cells         select: the marked cells, [[row id, column id], ...]
            marks         cells to be pointed out (evidence), in every mode; `hideMarked(true)` hides their texts
            protected     cells that must stay, [[row id, column id, reason?], ...]
            allowed       names of the operations that may be made; null for all
            limit         how many changes the contract allows; null for any number
            cellFormat    "ignore": new texts are not held against their columns
            label         what a screen reader calls the table
            variants      compare: several edits of the table (Variants of variants.js) instead of one
            whole         compare: rows without changes are never left out
            tools         compare: further buttons over the table, as tools.js takes them
   Values:  operations (net), cells (in table order), base, edited, mode, marksHidden, here {row, column}
   Events (all bubble): grid-change {typing} after every change and every key typed into a cell; grid-here when another
   cell becomes the current one; grid-submit when Enter is pressed outside a cell; grid-leave when Esc is. */

import { t, within } from "./language.js";
import { FindBar } from "./find.js";
import { Guard } from "./guard.js";
import { History } from "./history.js";
import { MODES, columnWords, sentence } from "./modes.js";
import { Painting, element, reachOut, versions, wholeButton } from "./painting.js";
import { Cells, rectangle, runs, span } from "./selection.js";
import { tableOf, takesOperations } from "./shown.js";
import { Tools } from "./tools.js";
import { count, describe } from "./words.js";
import { canZoom, follow, percent, zoom } from "./zoom.js";

const PAUSE = 250; // ms: what is said of a range waits until the keys rest
const SELECTED_AT_MOST = 500; // cells of a range that are told to screen readers one by one
const FEW_ROWS = 12; // a table to read with no more rows and columns than these needs no tools
const FEW_COLUMNS = 8;
const NAMED = 3; // hidden columns that are named one by one

const LEGEND = [
  ["evidence", t("marked as relevant")],
  ["read", t("cells the program reads")],
  ["looked", t("cells the model used")],
];

let numbers = 0;

export class AskewGrid extends HTMLElement {
  edits = null;
  marked = new Cells();
  evidence = new Cells();
  looked = new Cells(); // where a model looked
  read = new Cells(); // what the program reads that somebody considers
  guard = null;
  allowed = null;
  limit = null;
  cellFormat = "warn";
  marksHidden = false;
  history = new History();
  here = null; // {row, column}: ids
  chosen = { rows: new Set(), columns: new Set() };
  turned = false; // compare: rows and columns are exchanged
  #mode = null;
  #name = "read";
  #painting = null;
  #anchor = null; // where a range began, while there is one
  #rangeSpan = "cells";
  #cell = null;
  #selected = [];
  #odd = new Map();
  #hits = new Map();
  #hit = null;
  #find = null;
  #shown = null; // the table as it was given
  #tools = null;
  #status = element("p", { className: "sr", role: "status" });
  #where = element("p", { className: "where", ariaHidden: "true" });
  #told = element("p", { className: "told", ariaHidden: "true" });
  #legend = element("ul", { className: "legend" });
  #hidden = element("p", { className: "hidden-columns", hidden: true });
  #beside = element("div", { className: "full", ariaHidden: "true" });
  #hint = element("div", { className: "hint", ariaHidden: "true" });
  #opened = null; // the cell over which something lies
  #twin = null; // the table that scrolls along with this one
  #led = [0, 0]; // where this one was led, or has led from
  #timer = null;
  #telling = null;
  #label = "";
  #listening = false;

  /* Paint `table` with `operations` marked on it. Operations that do not fit the table are left out: returns false. */
  show(table, operations = [], options = {}) {
    this.#mode?.forget?.();
    this.#painting?.stop();
    clearTimeout(this.#timer);
    clearTimeout(this.#telling); // a range of the table before is selected in this one no more
    this.#name = options.mode ?? "read";
    if (!(this.#name in MODES)) throw new Error(`<askew-grid> has no mode ${this.#name}; it has ${Object.keys(MODES).join(", ")}`);
    const fits = this.#take(table, operations, options);
    const { base, state } = this.edits;
    this.marked = Cells.of(options.cells ?? []);
    this.evidence = Cells.of(options.marks ?? []);
    this.looked = new Cells();
    this.read = new Cells();
    this.guard = new Guard(options.protected ?? [], base);
    this.allowed = options.allowed ?? null;
    this.limit = options.limit ?? null;
    this.cellFormat = options.cellFormat ?? "warn";
    this.marksHidden = false;
    this.#label = options.label ?? "";
    // What came with the item was made step by step, too: each step can be undone.
    this.history = new History(this.edits.operations, { cells: this.marked, here: null });
    this.chosen = { rows: new Set(), columns: new Set() };
    this.#anchor = null;
    this.#hits = new Map();
    this.#hit = null;
    this.#mode = new MODES[this.#name](this, options);
    this.#odd = this.#mode.isGrid && this.cellFormat !== "ignore" ? this.edits.odd() : new Map();
    const [row] = state.rows;
    const [column] = state.columns;
    const head = this.#mode.hasHead ? base.header_id : null;
    this.here = column && (row || head) ? { row: row?.id ?? head, column: column.id } : null;
    this.#build();
    if (table === this.#shown) this.#find.refresh();
    else this.#find.begin();
    this.#shown = table;
    if (this.#mode.first) this.#painting.bringIntoSight(this.#mode.first);
    return fits;
  }

  /* Whether the modules are here that this mode, and making operations, take. */
  static can(mode, operations = false) {
    return mode in MODES && (takesOperations() || !operations);
  }

  /* Show what `operations` make of `base`, to be read: old beside new, what is gone and what came marked. */
  compare(base, operations, options = {}) {
    return this.show(base, operations, { ...options, mode: "compare" });
  }

  /* A table that was turned round is compared with itself turned: nothing else of it would stand where it stood. */
  #take(table, operations, { variants }) {
    this.turned = false;
    this.edits = variants ?? tableOf(table);
    if (variants) return variants.fits;
    const fits = this.edits.begin(operations);
    const last = this.edits.operations.findLastIndex(({ op }) => op === "transpose");
    if (this.#name === "compare" && last >= 0) {
      const rest = this.edits.operations.slice(last + 1);
      this.edits.become(this.edits.operations.slice(0, last + 1));
      const turned = this.edits.edited;
      this.turned = turned.header_id !== this.edits.base.header_id;
      this.edits = tableOf(turned);
      this.edits.begin(rest);
    }
    return fits;
  }

  // --- what it holds -----------------------------------------------------------------------------------------------

  get mode() {
    return this.#name;
  }

  /* Whether people change something in it. */
  get editing() {
    return this.#mode?.isGrid ?? false;
  }

  get base() {
    return this.edits.base;
  }

  get edited() {
    return this.edits.edited;
  }

  /* The net operations, with what is being typed into a cell at this moment. */
  get operations() {
    return this.#mode?.operationsNow?.() ?? this.edits?.operations ?? [];
  }

  /* What `contract` does not allow of the operations. */
  violations(contract, reason = "") {
    return this.edits.violations(contract, this.operations, reason);
  }

  /* The marked cells, as they stand in the table. */
  get cells() {
    return this.edits ? this.marked.pairs(this.edits.rowPlaces, this.columnIds()) : [];
  }

  // --- what a page may do ------------------------------------------------------------------------------------------

  focusCell() {
    const cell = this.#mode?.isGrid && this.here ? this.#painting.cell(this.here.row, this.here.column) : null;
    if (!cell) {
      this.#painting?.sheet.focus();
      return;
    }
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  undo() {
    this.#travel("undo", t("Undone"), t("Nothing to undo."));
  }

  redo() {
    this.#travel("redo", t("Redone"), t("Nothing to redo."));
  }

  removeRow() {
    this.#mode.removeRows?.();
  }

  insertRow() {
    this.#mode.insertRow?.();
  }

  /* Do operations as one step that can be undone: for a page's own buttons. They follow the ones that are there. */
  act(operations, said = null) {
    this.#mode.keep?.();
    const words = said ?? operations.slice(0, 3).map((operation) => describe(operation, this.edits.edited)).join(". ");
    return this.change(this.edits.with(operations), words);
  }

  /* Ids for new rows and columns: n1, n2, ... */
  freshIds(number) {
    return this.edits.freshIds(number);
  }

  /* Take back one change of the list, whatever came after it. */
  takeBack(index) {
    this.#mode.keep?.();
    const operation = this.edits.operations[index];
    if (!operation) return;
    const rest = this.edits.withTakenBack(index);
    const words = describe(operation, this.edits.base);
    if (rest) this.change(rest, t`Reverted: ${words}`);
    else this.say(t`Later changes depend on this one. Revert those first: ${words}`, { shown: true });
  }

  /* Hide the texts of the cells that are pointed out, or show them again. */
  hideMarked(hide = true) {
    if (hide === this.marksHidden || !this.evidence.size) return;
    this.marksHidden = hide;
    this.#painting.refresh(this.evidence.rows.keys());
    this.#drawLegend();
    this.#painting.refreshHead();
    this.#find.refresh();
    this.say(`${count(this.evidence.size, "marked cell")} ${hide ? t("hidden") : t("shown again")}.`);
    this.refreshTools();
  }

  /* From now on these cells must stay, [[row id, column id, reason?], ...], and no others. */
  protect(cells) {
    const before = this.guard.rows;
    this.guard = new Guard(cells, this.edits.base);
    const after = this.guard.rows;
    this.#painting.refresh([...before.keys(), ...after.keys()].filter((row) => !equalSets(before.get(row), after.get(row))));
    this.#painting.refreshHead();
    this.refreshTools();
  }

  /* Point out the cells where a model looked; with [] none any more. */
  lookedAt(cells) {
    this.#point("looked", cells);
  }

  /* Point out the cells that a program reads; with [] none any more. */
  readBy(cells) {
    this.#point("read", cells);
  }

  #point(name, cells) {
    if (!this.edits) return;
    const next = Cells.of(cells);
    const rows = Cells.between(this[name], next);
    this[name] = next;
    this.#painting.refresh(rows);
    this.#drawLegend();
  }

  /* Only the marks that are in the table; the current cell is named where there are others to tell it from. */
  #drawLegend() {
    const present = LEGEND.filter(([name]) => (name === "evidence" ? this.evidence.size && !this.marksHidden : this[name]?.size));
    const marks = present.length && this.#mode?.isGrid ? [["here", t("current cell")], ["focus", t("keys act here")], ...present] : present;
    this.#legend.replaceChildren(...marks.map(([name, words]) => {
      const item = element("li", { className: name === "focus" ? "key-hint" : "" });
      item.append(element("span", { className: `sign ${name}`, ariaHidden: "true" }), words);
      return item;
    }));
  }

  /* Paint the table anew, scrolled to where it was. */
  repaint() {
    const { scrollTop, scrollLeft } = this.#painting.sheet;
    this.#build();
    this.#painting.sheet.scrollTop = scrollTop;
    this.#painting.sheet.scrollLeft = scrollLeft;
  }

  /* Compare: go to the next change (or the one before). Read: the next marked cell. */
  next(by = 1) {
    this.#mode.next?.(by);
  }

  /* Compare: whether there are changes, and whether the current one is the last (or the first) of them. */
  get isChanged() {
    return Boolean(this.#mode.changes?.length);
  }

  endsAt(by) {
    return this.isChanged && this.#mode.ends(by);
  }

  /* Two tables with the same columns scroll as one, so that what is beside each other can be compared; null ends it.
     Where both begin, as much of the first change of each is in sight as there is room for. */
  scrollWith(other) {
    if (this.#twin) this.#twin.#twin = null;
    this.#twin = other;
    if (!other) return;
    other.#twin = this;
    this.#painting.pairWith(other.#painting);
    for (const one of [this, other]) { // with other widths they begin anew
      one.#painting.sheet.scrollTo(0, 0);
      one.#led = [0, 0];
    }
    for (const one of [this, other]) {
      one.#lead();
      if (one.#mode.first) one.#painting.bringIntoSight(one.#mode.first);
    }
    other.#lead();
    for (const one of [this, other]) one.#tellHidden();
  }

  /* Which columns of a comparison are out of sight, in words among the tools. Both tables of a pair make room for them as
     long as one of them needs it. */
  #tellHidden() {
    if (this.#name !== "compare") return;
    const names = this.#painting.hiddenColumns.map((id) => this.edits.columnName(id));
    const more = names.length > NAMED ? t` and ${names.length - NAMED} more` : "";
    write(this.#hidden, names.length ? t`Hidden: ${names.slice(0, NAMED).join(", ")}${more}. Scroll sideways.` : "");
    const pair = this.#twin ? [this, this.#twin] : [this];
    const line = pair.some((one) => one.#hidden.textContent);
    for (const one of pair) {
      one.#hidden.hidden = !line;
      one.#tools.bar.classList.toggle("crowded", line);
    }
  }

  /* The other table goes where this one is, unless that is where it was led. */
  #lead() {
    const { scrollLeft, scrollTop } = this.#painting.sheet;
    const [left, top] = this.#led;
    if (!this.#twin?.isConnected || (Math.abs(scrollLeft - left) < 1 && Math.abs(scrollTop - top) < 1)) return;
    this.#led = [scrollLeft, scrollTop];
    const { sheet } = this.#twin.#painting;
    this.#twin.#painting.corner = this.#painting.corner;
    this.#twin.#led = [sheet.scrollLeft, sheet.scrollTop];
  }

  openFind() {
    this.#mode.keep?.();
    this.#mode.unfold?.();
    this.#find.open(this.here);
  }

  zoom(by) {
    zoom(by);
  }

  /* Say something to screen readers; `shown` also on the page, beside the tools. */
  say(text, { shown = false } = {}) {
    clearTimeout(this.#timer);
    // The same words a second time are said again only if they differ: by a blank that nobody hears.
    write(this.#status, text && this.#status.textContent === text ? `${text}\u00a0` : text);
    write(this.#told, shown ? text : "");
  }

  sayLater(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.say(text), PAUSE);
  }

  // --- for the modes: where people are -----------------------------------------------------------------------------

  get height() {
    return this.edits.state.rows.length;
  }

  columnIds() {
    return this.edits.state.columnIds;
  }

  rowId(place) {
    return place < 0 ? this.edits.base.header_id : this.edits.state.rows[place]?.id;
  }

  may(operation) {
    return this.allowed === null || this.allowed.includes(operation);
  }

  isRemoved(row) {
    return this.edits.state.rows[this.edits.rowPlaces.get(row)]?.removed ?? false;
  }

  isColumnRemoved(column) {
    return this.edits.state.columns[this.edits.columnPlaces.get(column)]?.removed ?? false;
  }

  cellAt({ row, column }) {
    return this.#painting.cell(row, column);
  }

  placeInWords(row, column) {
    return `${this.edits.rowName(row)}, ${this.edits.columnName(column)}`;
  }

  hereInWords() {
    const area = this.#anchor ? this.area() : null;
    if (area && (area.top !== area.bottom || area.left !== area.right)) return this.#areaInWords(area);
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
    if (!this.here || !this.#mode.headsStand) return null;
    const head = this.here.row === this.edits.base.header_id;
    if (this.here.column === null) return head ? "all" : "rows";
    return head ? "columns" : null;
  }

  /* The rectangle that is selected, in numbers, or that of the current cell; `as` widens it to "rows", "columns", "all". */
  area(as = this.#rangeSpan) {
    if (!this.here) return null;
    const head = this.#headIsIn;
    const width = this.edits.state.columns.length;
    if (as === "all") return { top: 0, bottom: this.height - 1, left: 0, right: width - 1 };
    const one = this.#placeOf(this.here);
    const other = this.#anchor ? this.#placeOf(this.#anchor) : one;
    const wide = as === "cells" && this.#rangeSpan !== "cells" ? this.#rangeSpan : as;
    if (!this.#mode.headsStand) return rectangle(one, other, wide, this.height, width, head);
    const [above, beside] = [Math.min(one.row, other.row) < 0, Math.min(one.column, other.column) < 0];
    if (above && beside) return this.area("all");
    return rectangle(one, other, above ? "columns" : beside ? "rows" : wide, this.height, width, head);
  }

  /* Whether the names of the columns are cells like any other, or stand for their columns. */
  get #headIsIn() {
    return this.#mode.hasHead && !this.#mode.headsStand;
  }

  /* The ids of the rows (the header is one where it is asked for) and columns of a rectangle. */
  idsIn(area) {
    if (!area) return { rows: [], columns: [] };
    const rows = span(Math.max(area.top, this.#headIsIn ? -1 : 0), area.bottom).map((place) => this.rowId(place));
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
    if (!this.#anchor) return false;
    this.#anchor = null;
    this.#rangeSpan = "cells";
    this.refreshRange();
    return true;
  }

  selectSpan(what) {
    this.#anchor ??= { ...this.here };
    this.#rangeSpan = what;
    this.refreshRange();
    this.sayLater(t`${this.#areaInWords(this.area())} selected`);
  }

  selectAll() {
    this.selectArea({ top: 0, left: 0, bottom: this.height - 1, right: this.edits.state.columns.length - 1 });
    this.sayLater(t`${this.#areaInWords(this.area())} selected`);
  }

  /* Select a rectangle; the current cell becomes its last one. */
  selectArea({ top, left, bottom, right }) {
    const columns = this.columnIds();
    if (columns[left] === undefined || this.rowId(top) === undefined || bottom < top) return;
    this.#anchor = { row: this.rowId(bottom), column: columns[right] };
    this.#rangeSpan = "cells";
    this.here = { row: this.rowId(top), column: columns[left] };
    this.#select();
  }

  refreshRange() {
    this.#drawRange();
    this.refreshTools();
  }

  /* Make a cell the current one, with nothing selected; the table is not scrolled. */
  stand(place) {
    this.#anchor = null;
    this.#rangeSpan = "cells";
    this.here = place;
    this.#select();
    this.#cell?.focus({ preventScroll: true });
  }

  moveBy(rows, columns) {
    const { row, column } = this.#placeOf(this.here);
    this.#goTo(row + rows, column + columns);
  }

  /* What Tab does: on to the next cell and the next row; null past the last cell, where the focus leaves the table. */
  tabTarget(step) {
    const width = this.edits.state.columns.length;
    const { row, column } = this.#placeOf(this.here);
    const next = row * width + column + step;
    if (row < 0 || next < 0 || next >= width * this.height) return null;
    return () => this.#goTo(Math.floor(next / width), next % width);
  }

  /* Point at a place of a table that is only read. */
  point({ row, column }) {
    this.#cell?.removeAttribute("data-here");
    this.here = { row, column };
    this.#cell = this.#painting.cell(row, column);
    if (!this.#cell) return;
    this.#cell.dataset.here = "";
    this.#cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // --- for the modes: changes --------------------------------------------------------------------------------------

  /* Take over operations as one step; false where they are the ones that are there. */
  change(operations, said = null, { goal = this.here, after = "", shown = false } = {}) {
    if (same(operations, this.edits.operations)) return false;
    this.history.did(this.#step(), operations);
    this.#become({ operations, cells: this.marked, here: goal });
    // What is odd about a text stands beside its cell already: it is said here, not shown again.
    this.say([said ?? this.#saidOf(), after, this.#oddHere()].filter(Boolean).map(ended).join(" "), { shown });
    return true;
  }

  /* Take over a set of marked cells as one step. */
  mark(cells, said) {
    const rows = Cells.between(this.marked, cells);
    if (!rows.size) return;
    this.history.did(this.#step(), this.edits.operations);
    this.#mark(cells);
    this.say(t`${said} ${count(cells.size, "cell")} marked.`);
  }

  #mark(cells) {
    const rows = Cells.between(this.marked, cells);
    this.marked = cells;
    this.#painting.refresh(rows);
    if (this.#name === "select") this.#tellHead();
    this.refreshTools();
    this.emit("grid-change", { typing: false });
  }

  #step() {
    return { operations: this.edits.operations, cells: this.marked, here: this.here };
  }

  #saidOf() {
    if (!this.here) return "";
    const { row, column } = this.here;
    const operation = this.edits.operations.find((op) => (
      (op.op === "set_cell" && op.row === row && op.column === column)
      || (op.op === "rename_header" && row === this.edits.base.header_id && op.column === column)
    ));
    if (operation) return describe(operation, this.edits.base);
    return this.edits.state.rows[this.edits.rowPlaces.get(row)]?.inserted ? t("Saved") : t("Original value restored");
  }

  #oddHere() {
    const like = this.here && this.#odd.get(this.here.row)?.get(this.here.column);
    return like ? t`Different format from ${like}.` : "";
  }

  #travel(way, word, nothing) {
    this.#mode.keep?.();
    const step = this.history[way](this.#step());
    if (!step) {
      this.say(nothing);
      return;
    }
    const focused = this.#painting.table.contains(document.activeElement);
    this.#anchor = null;
    this.#rangeSpan = "cells";
    if (step.operations === this.edits.operations) {
      this.here = step.here ?? this.here;
      this.#mark(step.cells);
      this.#select();
      this.say(t`${word}. ${count(this.marked.size, "cell")} marked.`);
    } else {
      this.#become({ ...step, here: step.here ?? this.here });
      this.say(t`${word}. ${count(this.edits.operations.length, "change")} now.`);
    }
    if (focused) this.focusCell();
  }

  #become({ operations, cells, here }) {
    const focused = this.#painting.table.contains(document.activeElement);
    const index = this.here ? this.#placeOf(this.here).row : 0;
    const oddBefore = this.#odd;
    const columnsBefore = this.columnIds();
    this.marked = cells;
    this.edits.become(operations);
    this.#odd = this.cellFormat === "ignore" ? new Map() : this.edits.odd();
    if (this.#painting.update(this.edits.state)) {
      const moved = [...this.#odd.keys(), ...oddBefore.keys()].filter((row) => !equalMaps(this.#odd.get(row), oddBefore.get(row)));
      this.#painting.refresh(moved);
    } else {
      this.repaint();
      const fresh = this.columnIds().filter((id) => !columnsBefore.includes(id));
      for (const column of new Set([fresh.at(-1), fresh[0]])) { // as many of them as there is room for, the first in any case
        if (column !== undefined) this.#painting.bringIntoSight({ row: this.edits.base.header_id, column });
      }
    }
    const { state, rowPlaces, columnPlaces, base } = this.edits;
    const known = ({ row, column }) => columnPlaces.has(column) && (row === base.header_id || rowPlaces.has(row));
    if (this.#anchor && !known(this.#anchor)) this.#anchor = null;
    const row = here && (here.row === base.header_id || rowPlaces.has(here.row)) ? here.row : state.rows[clamp(index, state.rows.length)]?.id;
    const column = here && columnPlaces.has(here.column) ? here.column : state.columns[0]?.id;
    this.here = row !== undefined && column !== undefined ? { row, column } : null;
    this.#select();
    if (focused && !this.#painting.table.contains(document.activeElement)) this.focusCell();
    this.#find.refresh();
    this.emit("grid-change", { typing: false });
  }

  emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  // --- building ----------------------------------------------------------------------------------------------------

  #build() {
    const mode = this.#mode;
    const { base, state, operations } = this.edits;
    this.#cell = null;
    this.#selected = [];
    this.#painting?.stop();
    this.#painting = new Painting(base, state, {
      grid: mode.isGrid,
      choosing: this.#name === "select",
      removing: mode.removing ?? null,
      label: this.#label || t("Table"),
      flags: (row) => this.#flags(row),
      headFlags: (column) => this.#headFlags(column),
      notes: headNotes(operations, base),
      moved: new Set(operations.filter(({ op }) => op === "move_row").map(({ row }) => row)),
    });
    const { sheet, table } = this.#painting;
    sheet.tabIndex = mode.isGrid && this.here ? -1 : 0;
    numbers += 1;
    const help = element("p", { className: "sr", id: `askew-grid-${numbers}`, textContent: mode.help });
    if (mode.isGrid) {
      table.setAttribute("aria-label", this.#label || [base.title, base.caption, mode.label].filter(Boolean).join(". "));
      table.setAttribute("aria-multiselectable", "true");
      if (!mode.writes) table.setAttribute("aria-readonly", "true");
      table.setAttribute("aria-describedby", help.id);
      table.classList.add("pointed", this.#name);
    }
    this.#listen();
    this.#find ??= new FindBar({
      source: () => this.#findable(),
      show: (hits, current, moves) => this.#showHits(hits, current, moves),
      closed: (found) => this.#found(found),
    });
    const large = state.rows.length > FEW_ROWS || state.columns.length > FEW_COLUMNS;
    this.#tools = new Tools(mode.tools(), mode.isGrid || large ? { find: () => this.openFind(), zoom } : null, this.#where, {
      before: () => mode.keep?.(),
      // A mouse goes back to the cell; a keyboard stays where it is.
      after: (byMouse) => byMouse && mode.isGrid && !this.#find.bar.contains(document.activeElement) && this.focusCell(),
    });
    this.classList.toggle("to-read", !mode.isGrid);
    const bar = element("div", { className: "grid-state" });
    bar.append(this.#legend, this.#told);
    this.#drawLegend();
    write(this.#told, "");
    this.replaceChildren(this.#tools.bar, this.#find.bar, sheet, bar, ...(mode.help ? [help] : []), this.#status);
    this.#where.after(this.#hidden);
    this.#painting.settle(this.clientWidth);
    sheet.addEventListener("scroll", () => {
      this.#lead();
      this.#tellHidden();
    }, { passive: true });
    this.#painting.onLayout = () => this.#tellHidden();
    this.#tellHidden();
    if (!mode.isGrid) passBy(sheet, bar);
    this.#led = [0, 0];
    this.#select();
  }

  #listen() {
    const { table } = this.#painting;
    if (this.#mode.isGrid) {
      this.#mode.listen(this.#painting, {
        writes: (target) => target.closest?.("[data-read-whole]") || (this.#mode.writesIn?.(target) ?? false),
        isHere: (place) => this.#isHere(place),
        settle: (place, extend) => this.#settleOn(place, extend),
        pressed: (place, how) => this.#mode.pressed(place, how),
        doubled: () => this.#mode.doubled(),
        reach: (place, start) => this.#reach(place, start),
        released: (start) => this.#released(start),
        dropped: () => this.dropRange(),
      });
    }
    for (const kind of ["copy", "cut", "paste"]) table.addEventListener(kind, (event) => this.#onClipboard(event));
    if (this.#listening) return;
    this.#listening = true;
    follow(this);
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("click", ({ target, detail }) => {
      const run = target.closest("[data-open-run]");
      if (run) this.#mode.open(run.dataset.openRun);
      if (target.closest("[data-read-whole]")) this.readWhole(this.#painting.placeOf(target));
      const removal = detail < 2 && target.closest("[data-remove]"); // a double click must not undo itself
      if (removal) this.#mode.removeAt(this.#painting.placeOf(removal));
    });
    this.addEventListener("grid-zoom", () => {
      this.#painting.scaled();
      this.refreshTools();
    });
  }

  #flags(row) {
    const marked = this.marked.rows.get(row);
    const evidence = this.evidence.rows.get(row);
    const kept = this.guard.rows.get(row);
    const hits = this.#hits.get(row);
    const odd = this.#odd.get(row);
    const looked = this.looked.rows.get(row);
    const read = this.read.rows.get(row);
    if (!marked && !evidence && !kept && !hits && !odd && !looked && !read) return null;
    return this.edits.state.columns.map(({ id }) => {
      const names = [];
      if (marked?.has(id)) names.push("marked");
      if (evidence?.has(id)) names.push("evidence");
      if (evidence?.has(id) && this.marksHidden) names.push("withheld");
      if (kept?.has(id)) names.push("kept");
      if (looked?.has(id)) names.push("looked");
      if (read?.has(id)) names.push("read");
      if (odd?.has(id)) names.push("odd");
      if (hits?.has(id)) names.push("hit");
      if (hits && this.#hit?.row === row && this.#hit.column === id) names.push("now");
      return names.join(" ");
    });
  }

  #headFlags(column) {
    const head = this.edits.base.header_id;
    const names = [];
    if (this.evidence.has(head, column)) names.push("evidence");
    if (this.guard.cell(head, column)) names.push("kept");
    if (this.#hits.get(head)?.has(column)) names.push("hit");
    if (this.#hit?.row === head && this.#hit.column === column) names.push("now");
    return names.join(" ");
  }

  refreshTools() {
    write(this.#where, [this.#mode.where(), percent() === 100 ? "" : `${percent()} %`].filter(Boolean).join(" · "));
    this.#tools?.refresh(this.#mode.tools());
  }

  // --- the current cell and the range ------------------------------------------------------------------------------

  #placeOf({ row, column }) {
    const { rowPlaces, columnPlaces, base } = this.edits;
    return { row: row === base.header_id ? -1 : rowPlaces.get(row) ?? 0, column: column === null ? -1 : columnPlaces.get(column) ?? 0 };
  }

  /* Only the current cell can be reached with Tab. */
  #select() {
    const cell = this.#mode.isGrid && this.here ? this.#painting.cell(this.here.row, this.here.column) : null;
    if (cell !== this.#cell) {
      const before = this.#cell;
      this.#cell = cell;
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
    this.#showBeside();
    this.#drawRange();
    this.refreshTools();
  }

  #drawRange() {
    if (!this.#mode.isGrid) return;
    const areas = [];
    const area = this.#anchor ? this.area() : null;
    if (area && (area.top !== area.bottom || area.left !== area.right)) areas.push({ ...area, kind: "range" });
    const width = this.edits.state.columns.length - 1;
    const { rows, columns } = this.chosen;
    const places = (ids, map) => [...ids].map((id) => map.get(id)).filter((place) => place !== undefined).sort((a, b) => a - b);
    for (const [top, bottom] of runs(places(rows, this.edits.rowPlaces))) areas.push({ top, bottom, left: 0, right: width, kind: "chosen" });
    for (const [left, right] of runs(places(columns, this.edits.columnPlaces))) areas.push({ top: -1, bottom: this.height - 1, left, right, kind: "chosen" });
    this.#painting.outline(areas);
    this.#tellSelected(area);
  }

  /* aria-selected follows when the keys rest: a range may hold thousands of cells. Marked cells carry their own. */
  #tellSelected(area) {
    if (this.#name === "select") {
      this.#tellHead();
      return;
    }
    for (const cell of this.#selected) cell.removeAttribute("aria-selected");
    this.#selected = [];
    const choose = (cell) => {
      if (!cell) return;
      cell.setAttribute("aria-selected", "true");
      this.#selected.push(cell);
    };
    choose(this.#cell);
    clearTimeout(this.#telling);
    if (!area || (area.bottom - area.top + 1) * (area.right - area.left + 1) > SELECTED_AT_MOST) return;
    this.#telling = setTimeout(() => {
      const { rows, columns } = this.idsIn(area);
      for (const row of rows) for (const column of columns) choose(this.#painting.cell(row, column));
    }, PAUSE);
  }

  /* A header or a row's number says whether all that it stands for is marked, as long as it is the current cell. */
  #tellHead() {
    for (const cell of this.#selected) if (cell !== this.#cell) cell.removeAttribute("aria-selected");
    this.#selected = [];
    if (!this.#cell || !this.standsFor) return;
    const { rows, columns } = this.idsIn(this.area());
    this.#cell.setAttribute("aria-selected", String(rows.length > 0 && this.marked.hasAll(rows, columns)));
    this.#selected.push(this.#cell);
  }

  /* A clipped cell shows its whole text over its neighbours while it has the focus; an odd one says what is odd. */
  #showBeside() {
    this.#beside.remove();
    this.#hint.remove();
    if (this.#opened && !this.#mode.typing) reachOut(this.#opened, false);
    this.#opened = null;
    if (!this.#cell || !this.here || !this.#mode.isGrid) return;
    const like = this.#odd.get(this.here.row)?.get(this.here.column);
    const isLong = this.#cell.querySelector(".long");
    if (isLong) {
      this.#beside.replaceChildren(this.edits.text(this.here.row, this.here.column) ?? "", wholeButton(true));
      this.#cell.append(this.#beside);
    } else if (like) {
      this.#hint.textContent = t`Different format from ${like}`;
      this.#cell.append(this.#hint);
    } else return;
    this.#opened = this.#cell;
    reachOut(this.#cell, true);
    if (isLong) this.#painting.fitOver(this.#cell, this.#beside);
  }

  /* Open the text of a cell in a pane of its own, with what it replaces. */
  async readWhole({ row, column }) {
    const { base, state, rowPlaces, columnPlaces } = this.edits;
    const at = columnPlaces.get(column);
    const line = row === base.header_id ? { cells: state.columns.map(({ name }) => name), old: null } : state.rows[rowPlaces.get(row)];
    const text = line?.cells[at];
    if (!text || (this.marksHidden && this.evidence.has(row, column))) return;
    const { openReadingPane } = await import("./reading-pane.js");
    const old = line.old?.get(at);
    openReadingPane(this.placeInWords(row, column), old === undefined ? [text] : versions(old, text));
  }

  #goTo(rowPlace, columnPlace, extend = false) {
    const { state } = this.edits;
    const least = this.#mode.hasHead ? -1 : 0;
    const row = this.rowId(Math.max(least, Math.min(rowPlace, state.rows.length - 1)));
    const left = columnPlace < 0 && this.#mode.headsStand;
    const column = left ? null : state.columns[clamp(columnPlace, state.columns.length)]?.id;
    if (row === undefined || column === undefined) return;
    if (!extend) {
      this.#anchor = null;
      this.#rangeSpan = "cells";
    } else this.#anchor ??= { ...this.here };
    this.here = { row, column };
    this.#select();
    this.focusCell();
    if (extend) this.sayLater(t`${this.#areaInWords(this.area())} selected`);
  }

  #areaInWords({ top, bottom, left, right }) {
    const [rows, columns] = [bottom - top + 1, right - left + 1];
    const named = (place) => this.edits.rowName(this.rowId(place));
    const ids = this.columnIds();
    const rowWords = rows === 1 ? named(top) : t`${named(top)} to ${within(named(bottom))}`;
    const columnWords = columns === 1 ? this.edits.columnName(ids[left]) : t`${this.edits.columnName(ids[left])} to ${this.edits.columnName(ids[right])}`;
    return `${rowWords}, ${columnWords}: ${count(rows * columns, "cell")}`;
  }

  // --- keys --------------------------------------------------------------------------------------------------------

  #onKey(event) {
    if (event.defaultPrevented) return;
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const cell = this.#mode.isGrid && event.target.matches?.("td, th") && this.#painting.table.contains(event.target);
    const composing = event.isComposing || event.keyCode === 229 || event.key === "Dead";
    if (composing) {
      if (cell) this.#mode.type?.(); // an input method starts: let it write into the cell
      return;
    }
    const act = this.#everywhere(key, control, event, cell) ?? (cell ? this.#mode.key(key, control, event) ?? this.#travelKey(key, control, event) : null);
    if (!act) {
      // Letters and digits belong to the table that has the focus, whatever it makes of them.
      if (cell && event.key.length === 1 && !control && !event.altKey) event.stopPropagation();
      return;
    }
    event.stopPropagation();
    if (act === "type") {
      this.#mode.type(); // the key itself lands in the field
      return;
    }
    event.preventDefault();
    act();
  }

  /* Keys that also act where there is no current cell. */
  #everywhere(key, control, event, cell) {
    if (event.altKey && !control && !event.shiftKey && key === "ArrowDown" && cell) return () => this.readWhole(this.here);
    if (event.altKey) return null;
    if (control && !event.shiftKey && key === "f") return () => this.openFind();
    if (control && (key === "+" || key === "=")) return canZoom(1) ? () => zoom(1) : null;
    if (control && key === "-") return canZoom(-1) ? () => zoom(-1) : null;
    if (control && key === "0" && percent() !== 100) return () => zoom(0);
    if (control) return null;
    if (key === "/" && !this.#mode.type && (cell || event.target === this.#painting.sheet)) return () => this.openFind();
    if (key === "F3" && this.#find.isOpen) return () => this.#find.step(event.shiftKey ? -1 : 1);
    if (key === "n" && this.#name === "compare") return () => this.#mode.next(event.shiftKey ? -1 : 1);
    return null;
  }

  #travelKey(key, control, event) {
    const { row, column } = this.#placeOf(this.here);
    const lastRow = this.height - 1;
    const lastColumn = this.edits.state.columns.length - 1;
    const extend = event.shiftKey;
    const go = (toRow, toColumn) => () => this.#goTo(toRow, toColumn, extend);
    if (event.altKey) return null;
    if (control) {
      switch (key) {
        case "z": return () => (event.shiftKey ? this.redo() : this.undo());
        case "y": return () => this.redo();
        case "Enter": return () => this.emit("grid-submit");
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
      case "PageUp": return go(Math.max(Math.min(row, 0), row - this.#page()), column);
      case "PageDown": return go(row + this.#page(), column);
      case "Enter": return () => this.emit("grid-submit");
      case "Escape": return () => this.#escape();
      default: return null;
    }
  }

  #escape() {
    const chosen = this.chosen.rows.size + this.chosen.columns.size;
    this.chosen.rows.clear();
    this.chosen.columns.clear();
    if (this.dropRange() || chosen) {
      this.refreshRange();
      this.say(t("Nothing selected."));
    } else this.emit("grid-leave");
  }

  #page() {
    return this.#painting.page(this.here.row, this.here.column);
  }

  // --- pointer -----------------------------------------------------------------------------------------------------

  /* A press on a cell makes it the current one; on a row's number or a header it selects the row or the column. */
  #settleOn({ row, column }, extend) {
    this.#mode.keep?.();
    const { base } = this.edits;
    if (row === null) {
      this.selectAll();
      return;
    }
    const head = row === base.header_id;
    const across = column === null ? "rows" : head ? "columns" : "cells";
    const goal = {
      row: head && !this.#mode.hasHead ? this.here?.row ?? this.rowId(0) : row,
      column: column ?? (this.#mode.headsStand ? null : this.here?.column ?? this.columnIds()[0]),
    };
    if (goal.row === undefined || goal.column === undefined) return;
    if (extend && this.here) this.#anchor ??= { ...this.here };
    else this.#anchor = across === "cells" ? null : { ...goal };
    this.#rangeSpan = across;
    this.here = goal;
    this.#select();
    this.focusCell();
    if (this.#anchor) this.sayLater(t`${this.#areaInWords(this.area())} selected`);
  }

  /* Draw the range on to a place; false where it reaches there already. A range of cells does not leave the body. */
  #reach({ row, column }, start) {
    const head = row === this.edits.base.header_id;
    const across = this.#rangeSpan;
    const above = head && across !== "columns" && !(this.#headIsIn && start.row === row);
    const goal = {
      row: across === "columns" ? this.here.row : above ? this.rowId(0) : row,
      column: column ?? (across === "rows" ? this.here.column : this.columnIds()[0]),
    };
    if (goal.row === this.here.row && goal.column === this.here.column) return false;
    this.#anchor ??= { ...this.here };
    this.here = goal;
    this.#select();
    return true;
  }

  #isHere({ row, column }) {
    return this.here?.row === row && this.here.column === column && document.activeElement === this.#cell;
  }

  #released(start) {
    this.focusCell();
    this.#mode.dragged(start);
    if (this.#anchor) this.sayLater(t`${this.#areaInWords(this.area())} selected`);
  }

  #onClipboard(event) {
    const { type, clipboardData } = event;
    if (!this.#mode.isGrid || this.#mode.writesIn?.(event.target) || !event.target.matches?.("td, th")) return;
    if (type !== "copy" && !this.#mode[type]) return;
    event.preventDefault();
    this.#mode[type](clipboardData);
    if (type === "copy") this.say(t`${count(this.areaTexts().flat().length, "cell")} copied.`);
  }

  // --- finding -----------------------------------------------------------------------------------------------------

  #findable() {
    const { base, state } = this.edits;
    const lines = [
      { row: base.header_id, texts: state.columns.map(({ name }) => name) },
      ...state.rows.map(({ id, cells, old }) => ({ row: id, texts: this.#readable(id, cells, old) })),
    ];
    return { columns: this.columnIds(), lines };
  }

  /* What is hidden is not found either. */
  #readable(row, shown, old) {
    const evidence = this.marksHidden ? this.evidence.rows.get(row) : null;
    const cells = old ? shown.map((text, place) => [text, ...(old.get(place)?.now?.map((version) => version.text) ?? [])].join("\n")) : shown;
    return evidence ? cells.map((text, place) => (evidence.has(this.edits.state.columns[place].id) ? "" : text)) : cells;
  }

  #showHits(hits, current, moves = true) {
    const before = this.#hits;
    const had = this.#hit;
    const rows = new Map();
    for (const { row, column } of hits) {
      if (!rows.has(row)) rows.set(row, new Set());
      rows.get(row).add(column);
    }
    const changed = new Set([...before.keys(), ...rows.keys()].filter((row) => !equalSets(before.get(row), rows.get(row))));
    if (had) changed.add(had.row);
    if (current) changed.add(current.row);
    this.#hits = rows;
    this.#hit = current;
    this.#painting.refresh(changed);
    this.#painting.refreshHead();
    if (current && moves) this.#painting.cell(current.row, current.column)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /* The bar is closed: people go on at what they found. */
  #found(found) {
    if (found && this.#mode.isGrid) {
      this.#anchor = null;
      this.#rangeSpan = "cells";
      this.here = found.row === this.edits.base.header_id && !this.#mode.hasHead ? this.here : found;
      this.#select();
    } else if (found) this.point(found);
    this.focusCell();
  }
}

/* What the header says of columns that operations made or moved. */
function headNotes(operations, base) {
  const notes = new Map();
  for (const operation of operations) {
    if (operation.op === "move_column") notes.set(operation.column, t("moved"));
    if (operation.op !== "split_column") continue;
    const place = base.column_ids.indexOf(operation.column);
    const name = place < 0 ? operation.column : base.header[place].trim() || t`column ${place + 1}`;
    notes.set(operation.column, "split");
    for (const { column } of operation.into) notes.set(column, t`from ${name}`);
  }
  return notes;
}

/* Change the text of a node rather than its children: the latter makes the browser look at all that could depend on them. */
function write(node, text) {
  if (!node.firstChild) node.append(text);
  else if (node.firstChild.data !== text) node.firstChild.data = text;
}

/* Tab leaves a table that is read at once unless it has long texts, and Shift+Tab comes back to it from where that led: looking for the next stop by
   itself, the browser would lay out every cell. */
function passBy(sheet, after) {
  const stops = new WeakSet();
  const back = (event) => {
    if (event.key !== "Tab" || !event.shiftKey || event.defaultPrevented || !sheet.isConnected) return;
    if (event.target !== event.currentTarget) return; // from within the stop the key goes back to it first
    event.preventDefault();
    sheet.focus();
  };
  after.tabIndex = -1;
  sheet.addEventListener("keydown", ({ key, shiftKey, target }) => {
    if (key !== "Tab" || shiftKey || target !== sheet) return;
    if (sheet.querySelector("table:not([data-whole]) td > .whole")) return; // the buttons of its long texts come next
    after.focus({ preventScroll: true }); // from there the key goes on
    const now = new AbortController(); // it may also leave the page: what is focused later was not reached by it
    setTimeout(() => now.abort());
    document.addEventListener("focusin", ({ target: stop }) => {
      if (stops.has(stop)) return;
      stops.add(stop);
      stop.addEventListener("keydown", back);
    }, { once: true, signal: now.signal });
  });
}

const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);
const equalSets = (one, other) => one === other || (one?.size === other?.size && [...one ?? []].every((id) => other.has(id)));
const equalMaps = (one, other) => one === other || (one?.size === other?.size && [...one ?? []].every(([key, value]) => other.get(key) === value));
const ended = (text) => (/[.:!?]$/.test(text) ? text : `${text}.`);
const clamp = (index, length) => Math.min(Math.max(index, 0), length - 1);

customElements.define("askew-grid", AskewGrid);
