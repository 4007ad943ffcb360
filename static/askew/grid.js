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

import { headNotes } from "./column-facts.js";
import { element, write } from "./elements.js";
import { FindBar } from "./find.js";
import { GridFinding } from "./grid-finding.js";
import { GridKeyboard } from "./grid-keyboard.js";
import { GridPointing } from "./grid-pointing.js";
import { clamp, GridSelection } from "./grid-selection.js";
import { GridSigns } from "./grid-signs.js";
import { Guard } from "./guard.js";
import { History, same } from "./history.js";
import { t } from "./language.js";
import { MODES } from "./modes.js";
import { Painting } from "./painting.js";
import { Cells, equalSets } from "./selection.js";
import { tableOf, takesOperations } from "./shown.js";
import { passBy } from "./tab-order.js";
import { Tools } from "./tools.js";
import { WholeCell } from "./whole-cell.js";
import { count, describe } from "./words.js";
import { follow, zoom } from "./zoom.js";

const FEW_ROWS = 12; // a table to read with no more rows and columns than these needs no tools
const FEW_COLUMNS = 8;

let numbers = 0;

export class AskewGrid extends GridSelection {
  evidence = new Cells();
  looked = new Cells(); // where a model looked
  read = new Cells(); // what the program reads that somebody considers
  /** @type {Guard} */
  guard = /** @type {Guard} */ (/** @type {unknown} */ (null));
  /** @type {number | null} */
  limit = null;
  cellFormat = "warn";
  marksHidden = false;
  history = new History();
  turned = false; // compare: rows and columns are exchanged
  /** @type {Map<string, Map<string, string>>} */
  odd = new Map();
  /** @type {Table | null} */
  #shown = null; // the table as it was given
  #label = "";
  #listening = false;
  beside = new WholeCell(this);
  signs = new GridSigns(this);
  keyboard = new GridKeyboard(this);
  pointing = new GridPointing(this);
  finding = new GridFinding(this);
  /** @type {import("./paired-grids.js").PairedGrids | null} */
  pairing = null; // of a comparison

  /* Paint `table` with `operations` marked on it. Operations that do not fit the table are left out: returns false. */
  /** @param {Table} table @param {readonly Operation[]} operations @param {GridOptions} options */
  show(table, operations = [], options = {}) {
    this.behaviour?.forget?.();
    this.painting?.stop();
    clearTimeout(this.timer);
    clearTimeout(this.telling); // a range of the table before is selected in this one no more
    this.mode = options.mode ?? "read";
    if (!(this.mode in MODES)) throw new Error(`<askew-grid> has no mode ${this.mode}; it has ${Object.keys(MODES).join(", ")}`);
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
    this.anchor = null;
    this.finding.hits = new Map();
    this.finding.hit = null;
    this.pairing = null;
    this.behaviour = /** @type {GridMode} */ (/** @type {unknown} */ (new MODES[this.mode](this, options)));
    this.odd = this.behaviour.isGrid && this.cellFormat !== "ignore" ? this.edits.odd() : new Map();
    const [row] = state.rows;
    const [column] = state.columns;
    const head = this.behaviour.hasHead ? base.header_id : null;
    this.here = /** @type {GridCell} */ (column && (row || head) ? { row: row?.id ?? head, column: column.id } : null);
    this.#build();
    if (table === this.#shown) this.finding.find.refresh();
    else this.finding.find.begin();
    this.#shown = table;
    if (this.behaviour.first) this.painting.scroll.bringIntoSight(this.behaviour.first);
    return fits;
  }

  /* Whether the modules are here that this mode, and making operations, take. */
  /** @param {string} mode @param {boolean} operations */
  static can(mode, operations = false) {
    return mode in MODES && (takesOperations() || !operations);
  }

  /* Show what `operations` make of `base`, to be read: old beside new, what is gone and what came marked. */
  /** @param {Table} base @param {readonly Operation[]} operations @param {GridOptions} options */
  compare(base, operations, options = {}) {
    return this.show(base, operations, { ...options, mode: "compare" });
  }

  /* A table that was turned round is compared with itself turned: nothing else of it would stand where it stood. */
  /** @param {Table} table @param {readonly Operation[]} operations @param {GridOptions} options */
  #take(table, operations, { variants }) {
    this.turned = false;
    this.edits = /** @type {ShownEdits} */ (/** @type {unknown} */ (variants ?? tableOf(table)));
    if (variants) return variants.fits;
    const fits = this.edits.begin(operations);
    const last = this.edits.operations.findLastIndex(({ op }) => op === "transpose");
    if (this.mode === "compare" && last >= 0) {
      const rest = this.edits.operations.slice(last + 1);
      this.edits.become(this.edits.operations.slice(0, last + 1));
      const turned = this.edits.edited;
      this.turned = turned.header_id !== this.edits.base.header_id;
      this.edits = /** @type {ShownEdits} */ (/** @type {unknown} */ (tableOf(turned)));
      this.edits.begin(rest);
    }
    return fits;
  }

  undo() {
    this.#travel("undo", t("Undone"), t("Nothing to undo."));
  }

  redo() {
    this.#travel("redo", t("Redone"), t("Nothing to redo."));
  }

  /* Do operations as one step that can be undone: for a page's own buttons. They follow the ones that are there. */
  /** @param {readonly Operation[]} operations @param {string | null} said */
  act(operations, said = null) {
    this.behaviour.keep?.();
    const words = said ?? operations.slice(0, 3).map((operation) => describe(operation, this.edits.edited)).join(". ");
    return this.change(this.edits.with(operations), words);
  }

  /* Take back one change of the list, whatever came after it. */
  /** @param {number} index */
  takeBack(index) {
    this.behaviour.keep?.();
    const operation = this.edits.operations[index];
    if (!operation) return;
    const rest = this.edits.withTakenBack(index);
    const words = describe(operation, this.edits.base);
    if (rest) this.change(rest, t`Reverted: ${words}`);
    else this.say(t`Later changes depend on this one. Revert those first: ${words}`, { shown: true });
  }

  /* Hide the texts of the cells that are pointed out, or show them again. */
  /** @param {boolean} hide */
  hideMarked(hide = true) {
    if (hide === this.marksHidden || !this.evidence.size) return;
    this.marksHidden = hide;
    this.painting.refresh(this.evidence.rows.keys());
    this.signs.drawLegend();
    this.painting.refreshHead();
    this.finding.find.refresh();
    this.say(`${count(this.evidence.size, "marked cell")} ${hide ? t("hidden") : t("shown again")}.`);
    this.refreshTools();
  }

  /* From now on these cells must stay, [[row id, column id, reason?], ...], and no others. */
  /** @param {readonly (readonly string[])[]} cells */
  protect(cells) {
    const before = this.guard.rows;
    this.guard = new Guard(cells, this.edits.base);
    const after = this.guard.rows;
    this.painting.refresh([...before.keys(), ...after.keys()].filter((row) => !equalSets(before.get(row), after.get(row))));
    this.painting.refreshHead();
    this.refreshTools();
  }

  /* Point out the cells where a model looked; with [] none any more. */
  /** @param {readonly Pair[]} cells */
  lookedAt(cells) {
    this.#pointOut("looked", cells);
  }

  /* Point out the cells that a program reads; with [] none any more. */
  /** @param {readonly Pair[]} cells */
  readBy(cells) {
    this.#pointOut("read", cells);
  }

  /** @param {"looked" | "read"} name @param {readonly Pair[]} cells */
  #pointOut(name, cells) {
    if (!this.edits) return;
    const next = Cells.of(cells);
    const rows = Cells.between(this[name], next);
    this[name] = next;
    this.painting.refresh(rows);
    this.signs.drawLegend();
  }

  /* Paint the table anew, scrolled to where it was. */
  repaint() {
    const { scrollTop, scrollLeft } = this.painting.sheet;
    this.#build();
    this.painting.sheet.scrollTop = scrollTop;
    this.painting.sheet.scrollLeft = scrollLeft;
  }

  /* Compare: go to the next change (or the one before). Read: the next marked cell. */
  /** @param {number} by */
  next(by = 1) {
    this.behaviour.next?.(by);
  }

  /* Compare: whether there are changes, and whether the current one is the last (or the first) of them. */
  get isChanged() {
    return Boolean(this.behaviour.changes?.length);
  }

  /** @param {number} by */
  endsAt(by) {
    return this.isChanged && this.behaviour.ends(by);
  }

  openFind() {
    this.behaviour.keep?.();
    this.behaviour.unfold?.();
    this.finding.find.open(this.here);
  }

  /* Take over operations as one step; false where they are the ones that are there. */
  /** @param {readonly Operation[]} operations @param {string | null} said @param {{goal?: GridCell, after?: string, shown?: boolean}} options */
  change(operations, said = null, { goal = this.here, after = "", shown = false } = {}) {
    if (same(operations, this.edits.operations)) return false;
    this.history.did(this.#step(), operations);
    this.#become({ operations, cells: this.marked, here: goal });
    // What is odd about a text stands beside its cell already: it is said here, not shown again.
    this.say([said ?? this.#saidOf(), after, this.#oddHere()].filter(Boolean).map(ended).join(" "), { shown });
    return true;
  }

  /* Take over a set of marked cells as one step. */
  /** @param {Cells} cells @param {string} said */
  mark(cells, said) {
    const rows = Cells.between(this.marked, cells);
    if (!rows.size) return;
    this.history.did(this.#step(), this.edits.operations);
    this.#setMarks(cells);
    this.say(t`${said} ${count(cells.size, "cell")} marked.`);
  }

  /** @param {Cells} cells */
  #setMarks(cells) {
    const rows = Cells.between(this.marked, cells);
    this.marked = cells;
    this.painting.refresh(rows);
    if (this.mode === "select") this.tellHead();
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
    const like = this.here && this.odd.get(this.here.row)?.get(this.here.column);
    return like ? t`Different format from ${like}.` : "";
  }

  /** @param {"undo" | "redo"} way @param {string} word @param {string} nothing */
  #travel(way, word, nothing) {
    this.behaviour.keep?.();
    const step = /** @type {GridStep | null} */ (this.history[way](this.#step()));
    if (!step) return this.say(nothing);
    const focused = this.painting.table.contains(document.activeElement);
    this.anchor = null;
    this.rangeSpan = "cells";
    if (step.operations === this.edits.operations) {
      this.here = step.here ?? this.here;
      this.#setMarks(step.cells);
      this.select();
      this.say(t`${word}. ${count(this.marked.size, "cell")} marked.`);
    } else {
      this.#become({ ...step, here: step.here ?? this.here });
      this.say(t`${word}. ${count(this.edits.operations.length, "change")} now.`);
    }
    if (focused) this.focusCell();
  }

  /** @param {GridStep} step */
  #become({ operations, cells, here }) {
    const focused = this.painting.table.contains(document.activeElement);
    const index = this.here ? this.placeOf(this.here).row : 0;
    const oddBefore = this.odd;
    const columnsBefore = this.columnIds();
    this.marked = cells;
    this.edits.become(operations);
    this.odd = this.cellFormat === "ignore" ? new Map() : this.edits.odd();
    if (this.painting.update(this.edits.state)) {
      const moved = [...this.odd.keys(), ...oddBefore.keys()].filter((row) => !equalMaps(this.odd.get(row), oddBefore.get(row)));
      this.painting.refresh(moved);
    } else {
      this.repaint();
      const fresh = this.columnIds().filter((id) => !columnsBefore.includes(id));
      for (const column of new Set([fresh.at(-1), fresh[0]])) { // as many of them as there is room for, the first in any case
        if (column !== undefined) this.painting.scroll.bringIntoSight({ row: this.edits.base.header_id, column });
      }
    }
    const { state, rowPlaces, columnPlaces, base } = this.edits;
    const known = (/** @type {GridCell} */ { row, column }) => columnPlaces.has(column) && (row === base.header_id || rowPlaces.has(row));
    if (this.anchor && !known(this.anchor)) this.anchor = null;
    const row = here && (here.row === base.header_id || rowPlaces.has(here.row)) ? here.row : state.rows[clamp(index, state.rows.length)]?.id;
    const column = here && columnPlaces.has(here.column) ? here.column : state.columns[0]?.id;
    this.here = /** @type {GridCell} */ (row !== undefined && column !== undefined ? { row, column } : null);
    this.select();
    if (focused && !this.painting.table.contains(document.activeElement)) this.focusCell();
    this.finding.find.refresh();
    this.emit("grid-change", { typing: false });
  }

  #build() {
    const mode = this.behaviour;
    const { base, state, operations } = /** @type {ShownEdits & {base: SourceTable}} */ (this.edits);
    this.cell = null;
    this.selected = [];
    this.painting?.stop();
    this.painting = new Painting(base, state, {
      grid: mode.isGrid,
      choosing: this.mode === "select",
      removing: mode.removing ?? null,
      label: this.#label || t("Table"),
      flags: (row) => this.signs.flags(row),
      headFlags: (column) => this.signs.headFlags(column),
      notes: headNotes(operations, base),
      moved: new Set(operations.filter((operation) => operation.op === "move_row").map(({ row }) => row)),
    });
    const { sheet, table } = this.painting;
    sheet.tabIndex = mode.isGrid && this.here ? -1 : 0;
    numbers += 1;
    const help = element("p", { className: "sr", id: `askew-grid-${numbers}`, textContent: mode.help });
    if (mode.isGrid) {
      table.setAttribute("aria-label", this.#label || [base.title, base.caption, mode.label].filter(Boolean).join(". "));
      table.setAttribute("aria-multiselectable", "true");
      if (!mode.writes) table.setAttribute("aria-readonly", "true");
      table.setAttribute("aria-describedby", help.id);
      table.classList.add("pointed", this.mode);
    }
    this.#listen();
    this.finding.find ??= new FindBar({
      source: () => this.finding.findable(),
      show: (hits, current, moves) => this.finding.showHits(hits, current, moves),
      closed: (found) => this.finding.found(found),
    });
    const large = state.rows.length > FEW_ROWS || state.columns.length > FEW_COLUMNS;
    this.tools = new Tools(mode.tools(), mode.isGrid || large ? { find: () => this.openFind(), zoom } : null, this.where, {
      before: () => mode.keep?.(),
      // A mouse goes back to the cell; a keyboard stays where it is.
      after: (byMouse) => byMouse && mode.isGrid && !this.finding.find.bar.contains(document.activeElement) && this.focusCell(),
    });
    this.classList.toggle("to-read", !mode.isGrid);
    const bar = element("div", { className: "grid-state" }, this.signs.legend, this.announcement);
    this.signs.drawLegend();
    write(this.announcement, "");
    this.replaceChildren(this.tools.bar, this.finding.find.bar, sheet, bar, ...(mode.help ? [help] : []), this.status);
    this.painting.settle(this.clientWidth);
    this.pairing?.begin();
    if (!mode.isGrid) passBy(sheet, bar);
    this.select();
  }

  #listen() {
    const { table } = this.painting;
    if (this.behaviour.isGrid) {
      this.behaviour.listen(this.painting, {
        writes: (target) => target.closest?.("[data-read-whole]") || (this.behaviour.writesIn?.(target) ?? false),
        isHere: (place) => this.pointing.isHere(place),
        settle: (place, extend) => this.pointing.settleOn(place, extend),
        pressed: (place, how) => this.behaviour.pressed(place, how),
        doubled: () => this.behaviour.doubled(),
        reach: (place, start) => this.pointing.reach(place, start),
        released: (start) => this.pointing.released(start),
        dropped: () => this.dropRange(),
      });
    }
    for (const kind of /** @type {const} */ (["copy", "cut", "paste"])) table.addEventListener(kind, (event) => this.pointing.onClipboard(event));
    if (this.#listening) return;
    this.#listening = true;
    follow(this);
    this.addEventListener("keydown", (event) => this.keyboard.onKey(event));
    this.addEventListener("click", ({ target, detail }) => {
      const run = target.closest("[data-open-run]");
      if (run) this.behaviour.open(run.dataset.openRun);
      if (target.closest("[data-read-whole]")) this.beside.readWhole(/** @type {GridCell} */ (this.painting.placeOf(target)));
      const removal = detail < 2 && target.closest("[data-remove]"); // a double click must not undo itself
      if (removal) this.behaviour.removeAt(this.painting.placeOf(removal));
    });
    this.addEventListener("grid-zoom", () => {
      this.painting.scaled();
      this.refreshTools();
    });
  }

  /** @param {AskewGrid} other */
  scrollWith(other) {
    if (other.pairing) this.pairing?.scrollWith(other.pairing);
  }
}

/** @param {Map<string, string> | undefined} one @param {Map<string, string> | undefined} other */
const equalMaps = (one, other) => one === other || (one?.size === other?.size && [...one ?? []].every(([key, value]) => other?.get(key) === value));
/** @param {string} text */
const ended = (text) => (/[.:!?]$/.test(text) ? text : `${text}.`);

customElements.define("askew-grid", AskewGrid);
