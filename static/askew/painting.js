/* A table as it is painted: rows in groups that are neither laid out nor painted while they are out of sight, columns
   whose widths are measured once and kept, and rectangles over what is selected.

   A Painting is made from a marked table (tables.js) and brought in line with a later one by `update`; only what
   differs is touched. What a cell is besides its text (marked, protected, found, ...) comes from `flags`. Rows in sight
   are painted at once, the others while the browser is idle. */

import { content, fill, notes, offerRemoval, who } from "./cell-content.js";
import { mergedCells, numericColumns } from "./column-facts.js";
import { ColumnWidths, FEW } from "./column-widths.js";
import { element } from "./elements.js";
import { counted, t } from "./language.js";
import { Outlines } from "./outlines.js";
import { SheetScroll } from "./sheet-scroll.js";
import { TableHead } from "./table-head.js";
import { equal, placesOf } from "./tables.js";

const FIRST_CELLS = 1000; // painted at once, about; the rest follow while the browser is idle
const CHUNK = 600; // cells in one <tbody>, about: what is out of sight is neither laid out nor painted (askew.css)
const AT_ONCE = 500; // cells that are painted without asking whether they are in sight
const ROW_HEIGHT = 2.1; // rem, of a row that has not been laid out yet
const SIGNS = [["looked", t("used by the model")], ["read", t("read by the program")]]; // of cells, in words
const SLICE = 6; // ms of painting between two looks at what else there is to do

export class Painting {
  sheet = element("div", { className: "sheet", role: "region" });
  table = element("table", { className: "tabular" });
  /** @type {(() => void) | null} */
  onLayout = null; // called when the sheet or the table in it has another size
  /** @type {Map<string, PaintedRow>} */
  entries = new Map(); // row id -> {tr, row, flags, columns}
  state = /** @type {ShownTable} */ (/** @type {unknown} */ (null));
  #model; // an empty row, cloned for each
  /** @type {boolean[]} */
  numeric = [];
  /** @type {Merged} */
  #merged = new Map();
  painted = 0;
  /** @type {Set<string>} */
  #dirty = new Set();
  /** @type {number | null} */
  #idle = null;
  rowPlaces = /** @type {Places} */ (new Map());
  /** @type {ResizeObserver | null} */
  #sizes = null;
  /** @type {ResizeObserver | null} */
  #rooms = null;
  #columnsKey = "";
  header = new TableHead(this);
  columnWidths = new ColumnWidths(this);
  outlines = new Outlines(this);
  /** @type {import("./paired-tables.js").PairedTables | null} */
  pair = null; // with the table beside this one
  scroll = new SheetScroll(this);

  /* options: {grid, label, flags(row id) -> class names by column or null, headFlags(column id) -> class names,
     notes: column id -> words, moved: set of row ids, choosing: whether cells are marked, removing: {rows, columns}, whether
     headers have a button that removes theirs}. */
  /** @param {SourceTable} base @param {ShownTable} state @param {PaintingOptions} options */
  constructor(base, state, options) {
    this.base = base;
    this.options = options;
    this.#take(state);
    this.numeric = numericColumns(state);
    this.#merged = mergedCells(base);
    const { grid, label } = options;
    this.sheet.setAttribute("aria-label", label);
    this.table.setAttribute("role", grid ? "grid" : "table"); // spelt out: rows laid out as grids would lose their roles
    this.table.append(this.header.head);
    const { title, caption } = base;
    if (title || caption) this.table.prepend(element("caption", { textContent: [title, caption].filter(Boolean).join(": "), dir: "auto" }));
    this.sheet.append(this.table);
    this.#model = this.#emptyRow();
    this.header.paintHead(true);
    this.#paintMore(Math.min(60, Math.max(20, Math.round(FIRST_CELLS / Math.max(1, state.columns.length)))));
  }

  /* To be called once the sheet is on the page. */
  /** @param {number} room */
  settle(room) {
    this.columnWidths.lockWidths(room);
    this.#sizes = new ResizeObserver(() => {
      this.columnWidths.stretch();
      if (this.columnWidths.widths) this.outlines.drawAreas();
      else requestAnimationFrame(() => this.columnWidths.lockWidths(this.sheet.parentElement?.clientWidth ?? 0)); // it was hidden until now
      this.#keepGutter();
      this.onLayout?.();
    });
    this.#sizes.observe(this.table);
    this.#sizes.observe(this.sheet);
    if (this.sheet.parentElement?.parentElement) this.#sizes.observe(this.sheet.parentElement.parentElement);
    this.#rooms = new ResizeObserver(([{ contentRect }]) => this.columnWidths.fit(contentRect.width));
    if (this.sheet.parentElement) this.#rooms.observe(this.sheet.parentElement);
    this.#paintLater();
  }

  /* Room for a vertical scrollbar is kept where rows are out of sight. */
  #keepGutter() {
    const { sheet } = this;
    const fits = sheet.scrollHeight <= sheet.clientHeight;
    if (fits === sheet.classList.contains("fits")) return;
    sheet.classList.toggle("fits", fits);
    if (!fits) this.columnWidths.fit(sheet.parentElement?.clientWidth ?? 0);
  }

  stop() {
    this.#sizes?.disconnect();
    this.#rooms?.disconnect();
    clearTimeout(this.columnWidths.fitting);
    if (this.#idle !== null) (globalThis.cancelIdleCallback ?? clearTimeout)(this.#idle);
    this.#idle = null;
  }

  /* Bring the page in line with another state of the same table; false where its columns are other ones. */
  /** @param {ShownTable} state */
  update(state) {
    const before = this.state;
    if (!equal(state.columnIds, before.columnIds)) return false;
    const sameColumns = state.columns.every((column, at) => sameColumn(column, before.columns[at]));
    const moved = !equal(state.rowIds, before.rowIds);
    if (moved) this.paintAll();
    this.#take(state);
    if (!sameColumns) this.header.paintHead(false);
    if (moved) this.#arrange();
    const everywhere = moved || !sameColumns; // else a row that differs is another object at the same place
    const changed = everywhere ? state.rowIds : state.rowIds.filter((_, at) => state.rows[at] !== before.rows[at]);
    this.refresh(changed.filter((id) => {
      const entry = this.entries.get(id);
      return entry && (entry.row !== state.rows[this.rowPlaces.get(id)] || entry.columns !== this.#columnsKey);
    }));
    this.columnWidths.makeRoom(everywhere || changed.length > FEW ? [] : changed);
    return true;
  }

  /** @param {ShownTable} state */
  #take(state) {
    this.state = state;
    this.rowPlaces = placesOf(state.rowIds);
    this.#columnsKey = state.columns.map(({ removed, inserted }) => (removed ? "r" : inserted ? "i" : ".")).join("");
  }

  /* Look again at the flags of these rows: those in sight at once, the others soon. */
  /** @param {Iterable<string>} ids */
  refresh(ids) {
    for (const id of ids) if (this.entries.has(id)) this.#dirty.add(id);
    if (!this.#dirty.size) return;
    if (this.#dirty.size * this.state.columns.length <= AT_ONCE) this.#clean([...this.#dirty]);
    else {
      for (const body of this.#bodiesInSight()) this.#clean([...body.rows].map((tr) => tr.dataset.row ?? ""));
      this.#paintLater();
    }
  }

  refreshHead() {
    this.header.paintHead(false);
  }

  /* The element of a cell or a header, painted if it was not yet; null where there is none. Column null: a row's number. */
  /** @param {string} row @param {string | null} column @returns {HTMLElement | null} */
  cell(row, column) {
    if (row === this.base.header_id) return column === null ? this.header.head.lastElementChild.firstElementChild : this.header.headCells.get(column) ?? null;
    const place = column === null ? -1 : this.state.columnIds.indexOf(column);
    if ((place < 0 && column !== null) || !this.rowPlaces.has(row)) return null;
    if (!this.entries.has(row)) this.paintAll();
    if (this.#dirty.has(row)) this.#clean([row]);
    return /** @type {HTMLElement} */ (this.entries.get(row).tr.children[place + 1]);
  }

  /* What stands at an element: {row, column}; column null for a row's number, both null for the corner. */
  /** @param {Element} target @returns {Pressed | null} */
  placeOf(target) {
    const cell = target.closest?.("td, th");
    if (!cell || !this.table.contains(cell) || cell.closest("tr.above")) return null;
    const row = cell.closest("thead") ? this.base.header_id : cell.parentElement.dataset.row;
    if (cell.classList.contains("number")) return { row: cell.closest("thead") ? null : row, column: null };
    return cell.dataset.column === undefined ? null : { row, column: cell.dataset.column };
  }

  scaled() {
    this.outlines.drawAreas();
    this.pair?.alignRows();
  }

  #emptyRow() {
    const { grid, choosing } = this.options;
    const cells = this.state.columns.map(({ id }, index) => element("td", {
      role: grid ? "gridcell" : "cell", dir: "auto", className: this.numeric[index] ? "n" : "", ariaSelected: choosing ? "false" : null, dataset: { column: id },
    }));
    return element("tr", { role: "row" }, element("th", { className: "number", scope: "row", role: "rowheader" }), ...cells);
  }

  /** @param {ShownRow} row */
  #entry(row) {
    if (row.left) return this.#leftOut(row);
    const tr = /** @type {HTMLTableRowElement} */ (this.#model.cloneNode(true));
    tr.dataset.row = row.id;
    const entry = { tr, row: null, flags: null, columns: ".".repeat(this.state.columns.length) };
    this.entries.set(row.id, entry);
    this.#paintRow(entry, row);
    return entry;
  }

  /* One row that stands for rows without changes, and opens them. */
  /** @param {ShownRow} row */
  #leftOut(row) {
    const words = counted(row.left ?? 0, "{0} row without changes", "{0} rows without changes");
    const button = element("button", { type: "button", className: "quiet small", textContent: words, dataset: { openRun: row.id } });
    const number = element("th", { className: "number", scope: "row", role: "rowheader", textContent: "⋮" });
    const td = element("td", { role: "cell", colSpan: this.state.columns.length, ariaColSpan: String(this.state.columns.length) }, button);
    const tr = element("tr", { className: "left-out", role: "row", dataset: { row: row.id } }, number, td);
    const entry = { tr, row, flags: null, columns: this.#columnsKey };
    this.entries.set(row.id, entry);
    return entry;
  }

  /** @param {PaintedRow} entry @param {ShownRow} row */
  #paintRow(entry, row) {
    if (row.left) return;
    const { tr, row: before } = entry;
    const flags = this.options.flags?.(row.id) ?? null;
    const columns = this.#columnsKey;
    const merged = this.#merged.get(row.id);
    const cells = /** @type {HTMLCollectionOf<HTMLElement>} */ (tr.children);
    const moved = this.options.moved?.has(row.id) ?? false;
    if (before === null || before.removed !== row.removed) {
      tr.classList.toggle("removed", row.removed);
      tr.classList.toggle("inserted", row.inserted);
      cells[0].textContent = !row.inserted ? String(row.number) : row.notes ? "" : t("new");
      cells[0].append(...notes(row.notes, row.removed ? t("removed") : moved ? t("moved") : ""));
      if (this.options.removing?.rows) offerRemoval(cells[0], "row", String(row.number), row.removed);
    }
    const first = before === null;
    row.cells.forEach((text, index) => {
      const old = row.old?.get(index);
      const flag = flags?.[index] ?? "";
      const had = entry.flags?.[index] ?? "";
      const wasOld = before?.old?.get(index);
      const by = row.by?.get(index);
      const filled = first || before.cells[index] !== text || wasOld !== old || content(flag) !== content(had);
      const dressed = first
        ? flag || by || old !== undefined || columns[index] !== "." || merged?.has(this.state.columns[index].id)
        : flag !== had || (wasOld === undefined) !== (old === undefined) || entry.columns[index] !== columns[index];
      const td = cells[index + 1];
      if (filled) fill(td, text, old, flag);
      if (filled && by) td.append(" ", who(by, t("marked by ")));
      if (dressed) this.#dress(td, index, by ? `${flag} by${by.all ? "" : " some"}` : flag, old !== undefined, merged);
    });
    entry.row = row;
    entry.flags = flags;
    entry.columns = columns;
  }

  /** @param {HTMLElement} td @param {number} index @param {string} flag @param {boolean} changed @param {Map<string, string> | undefined} merged */
  #dress(td, index, flag, changed, merged) {
    const column = this.state.columns[index];
    const classes = [this.numeric[index] ? "n" : "", changed ? "changed" : "", column.removed ? "removed" : "", column.inserted ? "inserted" : "", merged?.has(column.id) ? "merged" : "", flag];
    td.className = classes.filter(Boolean).join(" ");
    if (this.options.choosing) td.setAttribute("aria-selected", String(` ${flag} `.includes(" marked ")));
    // Not as text in the cell: somebody may be writing in it when the model answers.
    const signs = SIGNS.filter(([name]) => ` ${flag} `.includes(` ${name} `)).map(([, words]) => words);
    if (signs.length) td.setAttribute("aria-description", signs.join(", "));
    else if (td.hasAttribute("aria-description")) td.removeAttribute("aria-description");
    const title = merged?.get(column.id) ?? "";
    if (td.title !== title) td.title = title;
  }

  /** @param {number} number */
  #paintMore(number) {
    const chunk = this.#chunk();
    const end = Math.min(this.state.rows.length, this.painted + number);
    while (this.painted < end) {
      let body = this.table.tBodies[this.table.tBodies.length - 1];
      if (!body || body.rows.length >= chunk) body = this.table.appendChild(element("tbody", { role: "rowgroup" }));
      const rows = this.state.rows.slice(this.painted, Math.min(end, this.painted + chunk - body.rows.length));
      body.append(...rows.map((row, place) => {
        const { tr } = this.#entry(row);
        this.#number(tr, this.painted + place);
        return tr;
      }));
      body.style.containIntrinsicBlockSize = `auto ${body.rows.length * ROW_HEIGHT}rem`;
      this.painted += rows.length;
    }
  }

  #chunk() {
    return Math.min(40, Math.max(10, Math.round(CHUNK / Math.max(1, this.state.columns.length))));
  }

  paintAll() {
    if (this.painted < this.state.rows.length) this.#paintMore(this.state.rows.length);
  }

  /* While the browser is idle: rows whose flags changed, then rows that were never painted. */
  #paintLater() {
    if (this.#idle !== null || (!this.#dirty.size && this.painted >= this.state.rows.length)) return;
    const wait = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 16));
    this.#idle = wait(() => {
      this.#idle = null;
      const until = performance.now() + SLICE;
      do {
        if (this.#dirty.size) this.#clean([...this.#dirty].slice(0, this.#chunk()));
        else this.#paintMore(this.#chunk());
      } while (performance.now() < until && (this.#dirty.size || this.painted < this.state.rows.length));
      this.#paintLater();
    }, { timeout: 100 });
  }

  /** @param {readonly string[]} ids */
  #clean(ids) {
    for (const id of ids) {
      if (!this.#dirty.delete(id)) continue;
      const entry = this.entries.get(id);
      if (entry && this.rowPlaces.has(id)) this.#paintRow(entry, this.state.rows[this.rowPlaces.get(id)]);
    }
  }

  /* Put rows into their order, take away those that are gone and paint those that are new. */
  #arrange() {
    const { rows } = this.state;
    for (const [id, { tr }] of this.entries) {
      if (this.rowPlaces.has(id)) continue;
      const body = /** @type {HTMLTableSectionElement} */ (tr.parentElement);
      tr.remove();
      if (!body.rows.length) body.remove();
      this.entries.delete(id);
    }
    let above = null;
    for (const row of rows) {
      const { tr } = this.entries.get(row.id) ?? this.#entry(row);
      if (above && below(above) !== tr) above.after(tr);
      else if (!above && this.table.tBodies[0]?.rows[0] !== tr) {
        const body = this.table.tBodies[0] ?? this.table.appendChild(element("tbody", { role: "rowgroup" }));
        body.insertBefore(tr, body.rows[0] ?? null);
      }
      above = tr;
    }
    this.painted = rows.length;
    this.tellRows();
    rows.forEach(({ id }, place) => this.#number(this.entries.get(id).tr, place));
  }

  /* Groups of rows out of sight are no part of what a screen reader is given, so each row says which one it is. */
  /** @param {HTMLElement} tr @param {number} place */
  #number(tr, place) {
    const index = String(this.base.header_rows.length + 2 + place);
    if (tr.getAttribute("aria-rowindex") !== index) tr.setAttribute("aria-rowindex", index);
  }

  tellRows() {
    this.table.setAttribute("aria-rowcount", String(this.base.header_rows.length + 1 + this.state.rows.length));
  }

  #bodiesInSight() {
    const top = this.sheet.scrollTop;
    const bottom = top + this.sheet.clientHeight;
    return [...this.table.tBodies].filter((body) => body.offsetTop + body.offsetHeight >= top && body.offsetTop <= bottom);
  }
}

/** @param {ShownColumn} one @param {ShownColumn} other */
const sameColumn = (one, other) => one.name === other.name && one.old === other.old && one.removed === other.removed && one.inserted === other.inserted;

/* The row below, wherever one <tbody> ends and another begins. */
/** @param {HTMLTableRowElement} tr */
function below(tr) {
  const next = /** @type {HTMLTableSectionElement | null | undefined} */ (tr.parentElement?.nextElementSibling);
  return tr.nextElementSibling ?? next?.rows[0] ?? null;
}
