/* A table as it is painted: rows in groups that are neither laid out nor painted while they are out of sight, columns
   whose widths are measured once and kept, and rectangles over what is selected.

   A Painting is made from a marked table (tables.js) and brought in line with a later one by `update`; only what
   differs is touched. What a cell is besides its text (marked, protected, found, ...) comes from `flags`. Rows in sight
   are painted at once, the others while the browser is idle. */

import { icon } from "./icons.js";
import { counted, t } from "./language.js";
import { formatOf } from "./cells.js";
import { equal, placesOf } from "./tables.js";

const FIRST_CELLS = 1000; // painted at once, about; the rest follow while the browser is idle
const CHUNK = 600; // cells in one <tbody>, about: what is out of sight is neither laid out nor painted (askew.css)
const AT_ONCE = 500; // cells that are painted without asking whether they are in sight
const FEW = 50; // changed rows that are measured
const ROW_HEIGHT = 2.1; // rem, of a row that has not been laid out yet
const LONG = 220; // characters; longer cells are clipped to the lines that the table has room for
const TALL = 5; // lines that every cell has, as in askew.css
const READABLE = 40; // rem that a column of long texts takes at most of the room beside the table
const LOOKED_AT = 100; // rows, to tell a column of numbers
const SIGNS = [["looked", t("used by the model")], ["read", t("read by the program")]]; // of cells, in words
const BLANKS = /\s+/u;
const ASCII = /^[ -~\s]*$/u;
const DIGITS = /[0-9]/gu;
const ROOM = 24; // px of more or less room before columns are measured again
const CHEAP = 4000; // cells up to which they are
const REST = 120; // ms that the room has been what it is
const SQUEEZED = 1.6; // times its room: a table that is wider is not squeezed into it
const WIDEST = 22; // rem that a column may become for a new word, as much as a cell may be at first (askew.css)
const GIVEN = 1 / 3; // of its width that a column gives to others at most
const CUT = 4; // px of a column that may be out of sight without a word
const SLICE = 6; // ms of painting between two looks at what else there is to do

export class Painting {
  sheet = element("div", { className: "sheet", role: "region" });
  table = element("table", { className: "tabular" });
  onLayout = null; // called when the sheet or the table in it has another size
  #head = element("thead", { role: "rowgroup" });
  #headCells = new Map(); // column id -> th
  #dressed = new WeakMap(); // th -> the class names that were painted
  #entries = new Map(); // row id -> {tr, row, flags, columns}
  #base;
  #state;
  #options;
  #model = null; // an empty row, cloned for each
  #numeric = [];
  #merged = new Map();
  #painted = 0;
  #dirty = new Set();
  #idle = null;
  #widths = null; // rem at zoom 1: [row number, columns...]
  #measured = null; // the same, as the table was measured
  #withChanges = false; // whether it had changes then
  #needs = new Map(); // row id -> column id -> rem that the longest new word takes
  #least = null; // rem that the longest word of each column takes, once it has been asked for
  #areas = [];
  #rowPlaces;
  #sizes = null;
  #rooms = null;
  #room = 0;
  #fitting = null;
  #twin = null; // the Painting beside this one, in a comparison of two tables

  /* options: {grid, label, flags(row id) -> class names by column or null, headFlags(column id) -> class names,
     notes: column id -> words, moved: set of row ids, choosing: whether cells are marked, removing: {rows, columns}, whether
     headers have a button that removes theirs}. */
  constructor(base, state, options) {
    this.#base = base;
    this.#options = options;
    this.#take(state);
    this.#numeric = numericColumns(state);
    this.#merged = mergedCells(base);
    const { grid, label } = options;
    this.sheet.setAttribute("aria-label", label);
    this.table.setAttribute("role", grid ? "grid" : "table"); // spelt out: rows laid out as grids would lose their roles
    this.table.append(this.#head);
    const { title, caption } = base;
    if (title || caption) this.table.prepend(element("caption", { textContent: [title, caption].filter(Boolean).join(": "), dir: "auto" }));
    this.sheet.append(this.table);
    this.#model = this.#emptyRow();
    this.#paintHead(true);
    this.#paintMore(Math.min(60, Math.max(20, Math.round(FIRST_CELLS / Math.max(1, state.columns.length)))));
  }

  /* To be called once the sheet is on the page. */
  settle(room) {
    this.#lockWidths(room);
    this.#sizes = new ResizeObserver(() => {
      this.#stretch();
      if (this.#widths) this.#drawAreas();
      else requestAnimationFrame(() => this.#lockWidths(this.sheet.parentElement?.clientWidth ?? 0)); // it was hidden until now
      this.#keepGutter();
      this.onLayout?.();
    });
    this.#sizes.observe(this.table);
    this.#sizes.observe(this.sheet);
    if (this.sheet.parentElement?.parentElement) this.#sizes.observe(this.sheet.parentElement.parentElement);
    this.#rooms = new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width));
    if (this.sheet.parentElement) this.#rooms.observe(this.sheet.parentElement);
    this.#paintLater();
  }

  /* Another room (a window made wider, a column closed) gives the columns other widths, where measuring them is cheap. */
  #fit(room) {
    if (!room || !this.#widths) return;
    const over = this.sheet.scrollWidth - this.sheet.clientWidth;
    // A scrollbar beside the table takes a little room: that counts where the table would scroll sideways for it.
    if (Math.abs(room - this.#room) < ROOM && (over <= 0 || over > ROOM)) return;
    if (!this.#isCheap) {
      this.#room = room;
      if (!this.#twin) this.#share(true);
      return;
    }
    clearTimeout(this.#fitting);
    this.#fitting = setTimeout(() => this.#measureAgain(room), REST);
  }

  get #isCheap() {
    return this.#state.rows.length * this.#state.columns.length <= CHEAP;
  }

  #measureAgain(room) {
    this.#unlock();
    this.#lockWidths(room);
    this.#drawAreas();
  }

  /* Room for a vertical scrollbar is kept where rows are out of sight. */
  #keepGutter() {
    const { sheet } = this;
    const fits = sheet.scrollHeight <= sheet.clientHeight;
    if (fits === sheet.classList.contains("fits")) return;
    sheet.classList.toggle("fits", fits);
    if (!fits) this.#fit(sheet.parentElement?.clientWidth ?? 0);
  }

  stop() {
    this.#sizes?.disconnect();
    this.#rooms?.disconnect();
    clearTimeout(this.#fitting);
    if (this.#idle !== null) (globalThis.cancelIdleCallback ?? clearTimeout)(this.#idle);
    this.#idle = null;
  }

  /* Bring the page in line with another state of the same table; false where its columns are other ones. */
  update(state) {
    const before = this.#state;
    if (!equal(state.columnIds, before.columnIds)) return false;
    const sameColumns = state.columns.every((column, at) => sameColumn(column, before.columns[at]));
    const moved = !equal(state.rowIds, before.rowIds);
    if (moved) this.#paintAll();
    this.#take(state);
    if (!sameColumns) this.#paintHead(false);
    if (moved) this.#arrange();
    const everywhere = moved || !sameColumns; // else a row that differs is another object at the same place
    const changed = everywhere ? state.rowIds : state.rowIds.filter((_, at) => state.rows[at] !== before.rows[at]);
    this.refresh(changed.filter((id) => {
      const entry = this.#entries.get(id);
      return entry && (entry.row !== state.rows[this.#rowPlaces.get(id)] || entry.columns !== this.#columnsKey);
    }));
    this.#makeRoom(everywhere || changed.length > FEW ? [] : changed);
    return true;
  }

  #columnsKey = "";

  #take(state) {
    this.#state = state;
    this.#rowPlaces = placesOf(state.rowIds);
    this.#columnsKey = state.columns.map(({ removed, inserted }) => (removed ? "r" : inserted ? "i" : ".")).join("");
  }

  /* Look again at the flags of these rows: those in sight at once, the others soon. */
  refresh(ids) {
    for (const id of ids) if (this.#entries.has(id)) this.#dirty.add(id);
    if (!this.#dirty.size) return;
    if (this.#dirty.size * this.#state.columns.length <= AT_ONCE) this.#clean([...this.#dirty]);
    else {
      for (const body of this.#bodiesInSight()) this.#clean([...body.rows].map((tr) => tr.dataset.row));
      this.#paintLater();
    }
  }

  refreshHead() {
    this.#paintHead(false);
  }

  /* The element of a cell or a header, painted if it was not yet; null where there is none. Column null: a row's number. */
  cell(row, column) {
    if (row === this.#base.header_id) return column === null ? this.#head.lastElementChild.firstElementChild : this.#headCells.get(column) ?? null;
    const place = column === null ? -1 : this.#state.columnIds.indexOf(column);
    if ((place < 0 && column !== null) || !this.#rowPlaces.has(row)) return null;
    if (!this.#entries.has(row)) this.#paintAll();
    if (this.#dirty.has(row)) this.#clean([row]);
    return this.#entries.get(row).tr.children[place + 1];
  }

  /* What stands at an element: {row, column}; column null for a row's number, both null for the corner. */
  placeOf(target) {
    const cell = target.closest?.("td, th");
    if (!cell || !this.table.contains(cell) || cell.closest("tr.above")) return null;
    const row = cell.closest("thead") ? this.#base.header_id : cell.parentElement.dataset.row;
    if (cell.classList.contains("number")) return { row: cell.closest("thead") ? null : row, column: null };
    return cell.dataset.column === undefined ? null : { row, column: cell.dataset.column };
  }

  /* Let what lies over a cell begin at it, and before it where it would reach beyond the sheet: it has the room of all rows and
     columns at most. */
  fitOver(cell, part) {
    const box = this.sheet.getBoundingClientRect();
    const place = cell.getBoundingClientRect();
    const [head, number] = [this.#head.offsetHeight, this.#head.lastElementChild.firstElementChild.offsetWidth];
    const { clientWidth: width, clientHeight: height } = this.sheet;
    part.style.maxHeight = `${Math.max(height - head - 4, 96)}px`;
    part.style.maxWidth = `${width - number - 4}px`;
    const before = (start, size, end, least) => `${-Math.max(0, Math.min(start + size + 4 - end, start - least))}px`;
    part.style.top = before(place.top - box.top, part.offsetHeight, height, head);
    part.style.left = before(place.left - box.left, part.offsetWidth, width, number);
  }

  /* Scroll the sheet, and nothing around it, as far as a cell needs to be seen whole: nobody has asked for it yet. To the
     side it goes from column to column, so that none stands there cut in two. */
  bringIntoSight({ row, column }) {
    const cell = this.cell(row, column);
    if (!cell || !this.sheet.clientHeight) return;
    const [place, box] = [cell.getBoundingClientRect(), this.sheet.getBoundingClientRect()];
    const head = this.#head.offsetHeight;
    if (row !== this.#base.header_id) {
      if (place.bottom > box.bottom) this.sheet.scrollTop += place.top - box.top - head - (this.sheet.clientHeight - head - place.height) / 2;
      else if (place.top < box.top + head) this.sheet.scrollTop -= box.top + head - place.top;
    }
    const at = this.#state.columnIds.indexOf(column);
    const edges = this.#edges();
    if (at < edges.still) return;
    const { scrollLeft, clientWidth } = this.sheet;
    const least = edges.ends[at] - clientWidth; // from here on its end is in sight
    const most = edges.starts[at] - edges.beside; // up to here its start is
    if (scrollLeft <= most && scrollLeft >= least) return;
    const stops = edges.starts.slice(edges.still, at + 1).map((start) => start - edges.beside);
    this.#scrollTo(scrollLeft > most ? most : stops.find((stop) => stop >= least - 1) ?? most);
  }

  /* The last columns can stand right beside what does not scroll, too: with some room behind them. */
  #scrollTo(left) {
    const { sheet, table } = this;
    sheet.scrollLeft = left;
    const short = left - sheet.scrollLeft;
    if (short < 1) return;
    const room = Number.parseFloat(table.style.paddingInlineEnd) || 0;
    table.style.paddingInlineEnd = `${room + Math.ceil(short)}px`;
    sheet.scrollLeft = left;
  }

  /* Where the columns begin and end in the sheet, how wide what stands still beside them is, and how many of them do. */
  #edges() {
    const [number, ...widths] = [...this.#head.lastElementChild.children].map((cell) => cell.getBoundingClientRect().width);
    const starts = [];
    let end = number;
    for (const width of widths) {
      starts.push(end);
      end += width;
    }
    const ends = [...starts.slice(1), end];
    const first = this.#head.lastElementChild.children[1];
    const still = first && getComputedStyle(first).position === "sticky" ? 1 : 0;
    return { starts, ends, still, beside: still ? ends[0] : number };
  }

  /* What stands in the upper left corner of what scrolls: {row, column} and how much of each is past it: of the row in
     pixels, for the twin leaves room below it for the rows that it has not. */
  get corner() {
    const { scrollLeft, scrollTop } = this.sheet;
    const { starts, ends, still, beside } = this.#edges();
    const at = Math.max(still, ends.findIndex((end) => end - beside > scrollLeft + 0.5));
    const column = { id: this.#state.columnIds[at], past: (scrollLeft - (starts[at] - beside)) / (ends[at] - starts[at]) };
    const body = [...this.table.tBodies].find((one) => one.offsetTop + one.offsetHeight - this.#head.offsetHeight > scrollTop + 0.5);
    let tr = body && [...body.rows].find((one) => this.#topOf(one) + one.offsetHeight > scrollTop + 0.5);
    while (tr && this.#twin && !this.#twin.#entries.has(tr.dataset.row)) tr = tr.previousElementSibling ?? [...(tr.parentElement.previousElementSibling?.rows ?? [])].at(-1);
    const row = tr ? { id: tr.dataset.row, past: scrollTop - this.#topOf(tr) } : null;
    return { row, column, start: scrollTop <= 0 };
  }

  /* Scroll to where another table with the same rows and columns stands; what is not here is left as it is. */
  set corner({ row, column, start }) {
    const { starts, ends, beside } = this.#edges();
    const at = this.#state.columnIds.indexOf(column.id);
    if (at >= 0) this.#scrollTo(starts[at] - beside + column.past * (ends[at] - starts[at]));
    const tr = row ? this.#entries.get(row.id)?.tr : null;
    if (start) this.sheet.scrollTop = 0;
    else if (tr) this.sheet.scrollTop = this.#topOf(tr) + row.past;
  }

  /* How far one has to scroll until a row stands right under the head. */
  #topOf(tr) {
    const { offsetParent } = tr;
    const body = tr.parentElement;
    return (offsetParent === body ? body.offsetTop : 0) + tr.offsetTop - this.#head.offsetHeight;
  }

  /* How many rows fit into the sheet. */
  page(row, column) {
    const height = this.cell(row, column)?.offsetHeight || 32;
    return Math.max(1, Math.floor(this.sheet.clientHeight / height) - 2);
  }

  /* Draw rectangles: [{top, bottom, left, right, kind}] in numbers of rows and columns; row -1 is the header. */
  outline(areas) {
    this.#areas = areas;
    this.#drawAreas();
  }

  scaled() {
    this.#drawAreas();
    if (this.#twin) this.#alignRows();
  }

  /* Lay this table and another one out for comparison: shared columns have the same width, shared rows the same height. */
  pairWith(twin) {
    this.#twin = twin;
    twin.#twin = this;
    this.#lockPair();
  }

  /* The names of the columns that are not, or not wholly, in sight. */
  get hiddenColumns() {
    if (!this.sheet.clientWidth) return [];
    const { starts, ends, still, beside } = this.#edges();
    const { scrollLeft, clientWidth } = this.sheet;
    return this.#state.columns
      .filter((_, at) => (at >= still && starts[at] < scrollLeft + beside - CUT) || ends[at] > scrollLeft + clientWidth + CUT)
      .map(({ id }) => id);
  }

  // --- the head ----------------------------------------------------------------------------------------------------

  #paintHead(anew) {
    const { grid } = this.#options;
    if (anew) {
      const above = this.#base.header_rows.map((cells, row) => this.#above(cells, row));
      const tr = element("tr", { role: "row", ariaRowIndex: String(above.length + 1) });
      const corner = element("th", { className: "number", scope: "col", role: "columnheader" });
      corner.append(element("span", { className: "sr", textContent: t("Row") }));
      tr.append(corner);
      this.#headCells.clear();
      for (const { id } of this.#state.columns) {
        const th = element("th", { scope: "col", role: "columnheader", dir: "auto" });
        th.dataset.column = id;
        this.#headCells.set(id, th);
        tr.append(th);
      }
      this.#head.replaceChildren(...above, tr);
      this.table.setAttribute("aria-colcount", String(this.#state.columns.length + 1));
    }
    this.#state.columns.forEach((column, index) => this.#paintHeadCell(this.#headCells.get(column.id), column, index));
    this.#tellRows();
    if (grid) this.#head.classList.add("pointed");
  }

  /* A further header row: the cells that the source had merged in it are one. */
  #above(cells, row) {
    const tr = element("tr", { className: "above", role: "row", ariaRowIndex: String(row + 1) });
    tr.append(element("td", { className: "number", role: this.#options.grid ? "gridcell" : "cell" }));
    const { columns: shown } = this.#state;
    const spans = this.#base.spans ?? [];
    for (let index = 0; index < shown.length;) {
      const { from } = shown[index];
      const span = spans.find((one) => one.row === `h${row}` && one.column === this.#base.column_ids[from]);
      let width = 1;
      while (span && width < span.columns && shown[index + width]?.from === from + width) width += 1;
      const cell = element("td", { textContent: from < 0 ? "" : cells[from], dir: "auto", colSpan: width, role: "columnheader" });
      if (width > 1) cell.ariaColSpan = String(width);
      tr.append(cell);
      index += width;
    }
    return tr;
  }

  #paintHeadCell(th, column, index) {
    const note = this.#options.notes?.get(column.id) ?? (column.removed ? t("removed") : column.inserted ? t("new") : "");
    const key = JSON.stringify([column.name, column.old, note]);
    if (th.dataset.painted !== key) {
      th.dataset.painted = key;
      const name = column.name.trim() ? element("span", { textContent: column.name }) : element("span", { className: "unnamed", textContent: t`column ${index + 1}` });
      const parts = column.old !== null ? versions(column.old, column.name) : [name];
      if (column.old !== null && column.old.was !== null) parts.push(parts.shift()); // the new names above the old one
      th.replaceChildren(...parts, ...notes(column.notes, note));
      if (this.#options.removing?.columns) offerRemoval(th, "column", column.name.trim() || t`column ${index + 1}`, column.removed);
    }
    const classes = [this.#numeric[index] ? "n" : "", column.removed ? "removed" : "", column.inserted ? "inserted" : "", column.old !== null ? "changed" : "", this.#options.headFlags?.(column.id) ?? ""];
    const names = classes.filter(Boolean).join(" ");
    const had = this.#dressed.get(th) ?? "";
    if (names === had) return;
    for (const name of had.split(" ")) if (name) th.classList.remove(name); // a page may have put others there
    for (const name of names.split(" ")) if (name) th.classList.add(name);
    this.#dressed.set(th, names);
  }

  // --- rows --------------------------------------------------------------------------------------------------------

  #emptyRow() {
    const { grid, choosing } = this.#options;
    const tr = element("tr", { role: "row" });
    tr.append(element("th", { className: "number", scope: "row", role: "rowheader" }));
    this.#state.columns.forEach(({ id }, index) => {
      const td = element("td", { role: grid ? "gridcell" : "cell", dir: "auto", className: this.#numeric[index] ? "n" : "" });
      td.dataset.column = id;
      if (choosing) td.setAttribute("aria-selected", "false");
      tr.append(td);
    });
    return tr;
  }

  #entry(row) {
    if (row.left) return this.#leftOut(row);
    const tr = this.#model.cloneNode(true);
    tr.dataset.row = row.id;
    const entry = { tr, row: null, flags: null, columns: ".".repeat(this.#state.columns.length) };
    this.#entries.set(row.id, entry);
    this.#paintRow(entry, row);
    return entry;
  }

  /* One row that stands for rows without changes, and opens them. */
  #leftOut(row) {
    const tr = element("tr", { className: "left-out", role: "row" });
    tr.dataset.row = row.id;
    const button = element("button", { type: "button", className: "quiet small", textContent: counted(row.left, "{0} row without changes", "{0} rows without changes") });
    button.dataset.openRun = row.id;
    const td = element("td", { role: "cell", colSpan: this.#state.columns.length, ariaColSpan: String(this.#state.columns.length) });
    td.append(button);
    tr.append(element("th", { className: "number", scope: "row", role: "rowheader", textContent: "⋮" }), td);
    const entry = { tr, row, flags: null, columns: this.#columnsKey };
    this.#entries.set(row.id, entry);
    return entry;
  }

  #paintRow(entry, row) {
    if (row.left) return;
    const { tr, row: before } = entry;
    const flags = this.#options.flags?.(row.id) ?? null;
    const columns = this.#columnsKey;
    const merged = this.#merged.get(row.id);
    const cells = tr.children;
    const moved = this.#options.moved?.has(row.id) ?? false;
    if (before === null || before.removed !== row.removed) {
      tr.classList.toggle("removed", row.removed);
      tr.classList.toggle("inserted", row.inserted);
      cells[0].textContent = !row.inserted ? String(row.number) : row.notes ? "" : t("new");
      cells[0].append(...notes(row.notes, row.removed ? t("removed") : moved ? t("moved") : ""));
      if (this.#options.removing?.rows) offerRemoval(cells[0], "row", String(row.number), row.removed);
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
        ? flag || by || old !== undefined || columns[index] !== "." || merged?.has(this.#state.columns[index].id)
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

  #dress(td, index, flag, changed, merged) {
    const column = this.#state.columns[index];
    const classes = [this.#numeric[index] ? "n" : "", changed ? "changed" : "", column.removed ? "removed" : "", column.inserted ? "inserted" : "", merged?.has(column.id) ? "merged" : "", flag];
    td.className = classes.filter(Boolean).join(" ");
    if (this.#options.choosing) td.setAttribute("aria-selected", String(` ${flag} `.includes(" marked ")));
    // Not as text in the cell: somebody may be writing in it when the model answers.
    const signs = SIGNS.filter(([name]) => ` ${flag} `.includes(` ${name} `)).map(([, words]) => words);
    if (signs.length) td.setAttribute("aria-description", signs.join(", "));
    else if (td.hasAttribute("aria-description")) td.removeAttribute("aria-description");
    const title = merged?.get(column.id) ?? "";
    if (td.title !== title) td.title = title;
  }

  #paintMore(number) {
    const chunk = this.#chunk();
    const end = Math.min(this.#state.rows.length, this.#painted + number);
    while (this.#painted < end) {
      let body = this.table.tBodies[this.table.tBodies.length - 1];
      if (!body || body.rows.length >= chunk) body = this.table.appendChild(element("tbody", { role: "rowgroup" }));
      const rows = this.#state.rows.slice(this.#painted, Math.min(end, this.#painted + chunk - body.rows.length));
      body.append(...rows.map((row, place) => {
        const { tr } = this.#entry(row);
        this.#number(tr, this.#painted + place);
        return tr;
      }));
      body.style.containIntrinsicBlockSize = `auto ${body.rows.length * ROW_HEIGHT}rem`;
      this.#painted += rows.length;
    }
  }

  #chunk() {
    return Math.min(40, Math.max(10, Math.round(CHUNK / Math.max(1, this.#state.columns.length))));
  }

  #paintAll() {
    if (this.#painted < this.#state.rows.length) this.#paintMore(this.#state.rows.length);
  }

  /* While the browser is idle: rows whose flags changed, then rows that were never painted. */
  #paintLater() {
    if (this.#idle !== null || (!this.#dirty.size && this.#painted >= this.#state.rows.length)) return;
    const wait = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 16));
    this.#idle = wait(() => {
      this.#idle = null;
      const until = performance.now() + SLICE;
      do {
        if (this.#dirty.size) this.#clean([...this.#dirty].slice(0, this.#chunk()));
        else this.#paintMore(this.#chunk());
      } while (performance.now() < until && (this.#dirty.size || this.#painted < this.#state.rows.length));
      this.#paintLater();
    }, { timeout: 100 });
  }

  #clean(ids) {
    for (const id of ids) {
      if (!this.#dirty.delete(id)) continue;
      const entry = this.#entries.get(id);
      if (entry && this.#rowPlaces.has(id)) this.#paintRow(entry, this.#state.rows[this.#rowPlaces.get(id)]);
    }
  }

  /* Put rows into their order, take away those that are gone and paint those that are new. */
  #arrange() {
    const { rows } = this.#state;
    for (const [id, { tr }] of this.#entries) {
      if (this.#rowPlaces.has(id)) continue;
      const body = tr.parentElement;
      tr.remove();
      if (!body.rows.length) body.remove();
      this.#entries.delete(id);
    }
    let above = null;
    for (const row of rows) {
      const { tr } = this.#entries.get(row.id) ?? this.#entry(row);
      if (above && below(above) !== tr) above.after(tr);
      else if (!above && this.table.tBodies[0]?.rows[0] !== tr) {
        const body = this.table.tBodies[0] ?? this.table.appendChild(element("tbody", { role: "rowgroup" }));
        body.insertBefore(tr, body.rows[0] ?? null);
      }
      above = tr;
    }
    this.#painted = rows.length;
    this.#tellRows();
    rows.forEach(({ id }, place) => this.#number(this.#entries.get(id).tr, place));
  }

  /* Groups of rows out of sight are no part of what a screen reader is given, so each row says which one it is. */
  #number(tr, place) {
    const index = String(this.#base.header_rows.length + 2 + place);
    if (tr.getAttribute("aria-rowindex") !== index) tr.setAttribute("aria-rowindex", index);
  }

  #tellRows() {
    this.table.setAttribute("aria-rowcount", String(this.#base.header_rows.length + 1 + this.#state.rows.length));
  }

  #bodiesInSight() {
    const top = this.sheet.scrollTop;
    const bottom = top + this.sheet.clientHeight;
    return [...this.table.tBodies].filter((body) => body.offsetTop + body.offsetHeight >= top && body.offsetTop <= bottom);
  }

  // --- widths and rectangles ---------------------------------------------------------------------------------------

  /* Columns take the width of what they hold and keep it: an edit never makes the table jump. A table that is a little
     too wide is squeezed into the page, a much wider one scrolls. */
  #lockWidths(room) {
    if (this.#twin) {
      this.#lockPair();
      return;
    }
    const { table } = this;
    const widest = this.#widestTexts();
    if (widest) table.append(widest);
    table.classList.add("natural");
    let widths = this.#headWidths();
    const natural = sum(widths);
    if (natural && room && natural <= SQUEEZED * room) {
      table.classList.remove("natural");
      widths = this.#headWidths();
      if (sum(widths) > this.#inner(room)) { // padding goes before a column is out of sight
        table.classList.add("dense");
        const dense = this.#headWidths();
        if (sum(dense) <= this.#inner(room)) widths = dense;
        else table.classList.remove("dense");
      }
    }
    widest?.remove();
    if (!natural || !room) return;
    this.#lock(this.#widen(widths, room), room);
    this.#stretch(true);
    if (!this.#withChanges) return;
    const changed = this.#state.rows.filter(({ id, old, inserted }) => (old || inserted) && this.#entries.has(id));
    this.#measureNew(changed.length > FEW ? [] : changed.map(({ id }) => id));
    this.#share();
  }

  /* Columns of long texts share the room beside the table. */
  #widen(widths, room) {
    const long = this.#longColumns();
    const free = this.#inner(room) - sum(widths);
    if (!long.size || free <= 0) return widths;
    const { rem, zoom } = this.#scale();
    return widths.map((width, at) => (long.has(at - 1) ? Math.max(width, Math.min(width + free / long.size, READABLE * rem * zoom)) : width));
  }

  #longColumns() {
    if (!this.#isCheap) return new Set();
    return new Set([...this.#state.columns.keys()].filter((at) => this.#state.rows.some(({ cells }) => isLong(cells[at] ?? ""))));
  }

  #lines = TALL; // that a long text has now
  #outer = ""; // heights of the window, and of what is around the table, when that was found out

  /* Long texts take as many lines as leave the whole table in sight, and five at least. `anew` with other columns; else only
     where there is another room around the table, or it no longer fits. */
  #stretch(anew = false) {
    const { sheet, table } = this;
    if (this.#twin || !this.#isCheap || !sheet.clientHeight || !table.querySelector(".long")) return;
    const height = globalThis.innerHeight;
    const outer = () => [height, sheet.parentElement.parentElement?.clientHeight].join();
    const fits = () => sheet.scrollHeight <= sheet.clientHeight;
    if (!anew && outer() === this.#outer && (this.#lines === TALL || fits())) return;
    const take = (lines) => {
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
  #makeRoom(rowIds) {
    if (!this.#widths || this.#twin) return;
    if (this.#withChanges && this.#isCheap && !hasChanges(this.#state)) {
      this.#measureAgain(this.#room);
      return;
    }
    this.#measureNew(rowIds);
    this.#share();
  }

  /* Bring what the new words need in line with the state: measure those of headers and of these rows, without any layout. */
  #measureNew(rowIds) {
    const { rows, columns } = this.#state;
    const { rem, zoom } = this.#scale();
    const width = (...parts) => roomFor(...parts) / zoom / rem;
    const measure = (id, row) => new Map(columns.flatMap((column, at) => {
      if (!row.inserted && !row.old?.has(at)) return [];
      const cell = this.cell(id, column.id);
      return [[column.id, width(cell, cell.querySelector("ins") ?? cell, partsOf(row.cells[at], this.#numeric[at]))]];
    }));
    for (const [id, widths] of this.#needs) {
      const row = rows[this.#rowPlaces.get(id)];
      if (!row || !widths.size || (!row.old && !row.inserted)) this.#needs.delete(id);
    }
    for (const id of rowIds) {
      const row = rows[this.#rowPlaces.get(id)];
      if (row.old || row.inserted) this.#needs.set(id, measure(id, row));
    }
    const renamed = columns.filter(({ old }) => old !== null);
    this.#needs.set(this.#base.header_id, new Map(renamed.map(({ id, name }) => {
      const th = this.#headCells.get(id);
      return [id, width(th, th.querySelector("ins") ?? th, name.split(BLANKS))];
    })));
  }

  /* Give each column the width that was measured, or what new words in it need. Where the table fitted before, the
     column with the most slack beyond its longest word gives room to the others; if that is not enough, the table scrolls. */
  #share(anew = false) {
    const rows = [...this.#needs.values()];
    const needs = [0, ...this.#state.columns.map(({ id }) => rows.reduce((most, widths) => Math.max(most, widths.get(id) ?? 0), 0))];
    const wide = needs.some((need, at) => need > this.#measured[at]);
    if (!wide && !anew && this.#widths === this.#measured) return;
    const { rem, zoom } = this.#scale();
    const room = Math.floor(this.#inner(this.#room) / zoom) / rem;
    const limit = Math.min(WIDEST, room - this.#measured[0]);
    let widths = wide ? this.#measured.map((width, at) => Math.max(width, Math.min(needs[at], limit))) : this.#measured;
    const over = sum(widths) - room;
    if (over > 0 && sum(this.#measured) - room <= ROOM / rem) {
      this.#least ??= this.#leastWidths();
      const slack = widths.map((width, at) => (at ? Math.max(0, Math.min(width - Math.max(this.#least[at], needs[at]), GIVEN * width)) : 0));
      const [most, at] = slack.reduce((known, width, place) => (width > known[0] ? [width, place] : known), [0, 0]);
      if (most >= over) widths = widths.with(at, widths[at] - over);
    }
    if (equal(widths, this.#widths)) return;
    this.#setWidths(widths);
    this.#drawAreas();
  }

  /* The rem that the longest word of each column takes, in its cells or in its header; the first one is that of the rows'
     numbers. Texts are measured, nothing is laid out. */
  #leastWidths() {
    const { rem, zoom } = this.#scale();
    const { columns, rows } = this.#state;
    const [first] = this.#entries.values();
    return [this.#measured[0], ...columns.map(({ id, name, old }, at) => {
      const th = this.#headCells.get(id);
      const widths = [roomFor(th, th, [name, typeof old === "string" ? old : ""].join(" ").split(BLANKS))];
      for (const small of th.querySelectorAll("small:not(.sr)")) widths.push(roomFor(th, small, [small.textContent]));
      const cell = first?.tr.children[at + 1];
      if (cell) {
        const longest = new Ruler(this.table).longest();
        for (const row of rows) {
          for (const text of [row.cells[at] ?? "", row.old?.get(at)]) {
            if (typeof text === "string" && longest.mayBe(text)) for (const part of partsOf(text, this.#numeric[at])) longest.take(part);
          }
        }
        widths.push(Math.ceil(longest.width + 1 + paddingOf(cell)));
      }
      return Math.max(...widths) / zoom / rem;
    })];
  }

  #scale() {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const zoom = Number.parseFloat(getComputedStyle(this.table).getPropertyValue("--zoom")) || 1;
    return { rem, zoom };
  }

  #headWidths() {
    return [...this.#head.lastElementChild.children].map((cell) => cell.getBoundingClientRect().width);
  }

  #lock(widths, room) {
    const { table } = this;
    this.#room = room;
    const { rem, zoom } = this.#scale();
    const measured = widths.map((width) => width / zoom);
    const whole = measured.map((width) => Math.ceil(width + 0.5));
    const added = sum(whole) - sum(measured);
    const over = sum(whole) - Math.floor(this.#inner(room) / zoom);
    // Rounding alone makes no table scroll sideways: each column gives a part back, and none becomes narrower than it was.
    const part = over > 0 && over <= 2 * whole.length ? Math.min(1, over / added) : 0;
    this.#setWidths(whole.map((width, at) => (width - part * (width - measured[at])) / rem));
    this.#measured = this.#widths;
    this.#withChanges = hasChanges(this.#state);
    this.#needs.clear();
    this.#least = null;
    table.classList.toggle("pinned", widths[1] <= room / 3);
    table.classList.add("locked");
  }

  /* The room for columns within the borders and the scrollbar of the sheet. */
  #inner(room) {
    return room - (this.sheet.offsetWidth - this.sheet.clientWidth);
  }

  #setWidths(widths) {
    const { style } = this.table;
    this.#widths = widths;
    style.setProperty("--columns", widths.map(scaled).join(" "));
    style.width = scaled(sum(widths));
    style.setProperty("--first", scaled(widths[1] ?? 0));
    style.setProperty("--number", scaled(widths[0]));
  }

  #unlock() {
    const { table } = this;
    table.classList.remove("locked", "pinned", "dense");
    table.style.width = "";
    table.style.paddingInlineEnd = "";
    table.style.removeProperty("--number");
  }

  /* The same widths for both tables. Columns take what they need as long as both tables fit; then they are squeezed, then
     they lose their padding, and only then does a table scroll. */
  #lockPair() {
    const pair = [this, this.#twin];
    const rooms = pair.map(({ sheet }) => sheet.parentElement?.clientWidth ?? 0);
    if (!rooms.every(Boolean)) return;
    for (const one of pair) one.#unlock();
    const frame = Math.max(...pair.map(({ sheet }) => sheet.offsetWidth - sheet.clientWidth)) + 1;
    const room = Math.min(...rooms) - frame - Math.max(...pair.map(({ table }) => table.tHead.lastElementChild.cells.length)); // lock() rounds up
    let layout = null;
    for (const dense of [false, true]) {
      for (const one of pair) one.table.classList.toggle("dense", dense);
      layout = shared(pair.map((one) => one.#extremes()), room);
      if (layout.fits) break;
    }
    pair.forEach((one, at) => one.#lock(layout.widths[at], rooms[at]));
    this.#alignRows();
    for (const one of pair) one.#drawAreas();
  }

  /* [id, least width, width without wrapping] of each column; the first one is that of the rows' numbers. */
  #extremes() {
    const { table } = this;
    const widest = this.#widestTexts();
    if (widest) table.append(widest);
    table.classList.add("natural");
    const most = this.#headWidths();
    table.classList.remove("natural");
    table.style.width = "1px";
    const least = this.#headWidths();
    table.style.width = "";
    widest?.remove();
    return [null, ...this.#state.columnIds].map((id, at) => [id, least[at], most[at]]);
  }

  /* Rows of both tables of a pair beside each other: as high as the higher one, with room where only one has a row. */
  #alignRows() {
    const pair = [this, this.#twin];
    const rows = pair.map((one) => one.#state.rows);
    for (const one of pair) {
      for (const tr of [one.#head.lastElementChild, ...one.#spaced]) tr.removeAttribute("style");
      one.#spaced.clear();
    }
    level(pair.map((one) => one.#head.lastElementChild));
    const known = pair.map((one) => new Set(one.#state.rowIds));
    const [left, right] = rows.map((list, at) => list.filter(({ id }) => known[1 - at].has(id)));
    if (!left.every(({ id }, at) => id === right[at].id)) return; // rows were moved: nothing stands beside itself
    const special = new Set(rows.flat().filter(({ old, removed, inserted }) => old || removed || inserted).map(({ id }) => id));
    if (!special.size) return;
    for (const one of pair) one.#paintAll();
    const height = (one, id) => one.#entries.get(id).tr.getBoundingClientRect().height;
    const space = (one, id, property, pixels) => {
      const { tr } = one.#entries.get(id);
      tr.style[property] = `${(Number.parseFloat(tr.style[property]) || 0) + pixels}px`;
      one.#spaced.add(tr);
    };
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

  #spaced = new Set(); // rows with a height or a margin of their own

  /* Of the rows that are not painted yet, the widest text and the widest word of each column, as rows to measure. */
  #widestTexts() {
    const rows = this.#state.rows.slice(this.#painted);
    if (!rows.length) return null;
    const body = element("tbody");
    const ruler = new Ruler(this.table);
    const lines = [element("tr"), element("tr")];
    for (const tr of lines) tr.append(element("th", { className: "number", textContent: String(this.#state.rows.length) }));
    this.#state.columns.forEach((_, at) => {
      const [text, word] = [ruler.longest(), ruler.longest()];
      for (const { cells } of rows) {
        const cell = (cells[at] ?? "").slice(0, LONG);
        if (text.mayBe(cell)) text.take(cell);
        if (word.mayBe(cell)) for (const part of cell.split(BLANKS)) word.take(part);
      }
      const className = this.#numeric[at] ? "n" : "";
      [text, word].forEach((longest, line) => lines[line].append(element("td", { textContent: longest.text, className })));
    });
    body.append(...lines);
    return body;
  }

  /* Each group of rows has its part of every rectangle, so one that spans thousands of rows costs no more than a few
     groups; what a group shows already is left alone. */
  #drawAreas() {
    const columns = this.#state.columns.length;
    this.#state.columns.forEach(({ id }, index) => {
      const inside = this.#areas.some(({ top, left, right }) => top < 0 && left <= index && index <= right);
      const th = this.#headCells.get(id);
      if (inside !== (th.dataset.inside !== undefined)) {
        if (inside) th.dataset.inside = "";
        else delete th.dataset.inside;
      }
    });
    if (!this.#widths) return;
    let start = 0;
    for (const body of this.table.tBodies) {
      const { length } = body.rows;
      const parts = this.#areas.flatMap(({ top, bottom, left, right, kind }) => {
        const [from, to] = [Math.max(top, start), Math.min(bottom, start + length - 1)];
        return from > to || left >= columns ? [] : [{ from: from - start, to: to - start, left, right, kind, opens: top >= start, ends: bottom < start + length }];
      });
      this.#drawIn(body, parts);
      start += length;
    }
  }

  #drawIn(body, parts) {
    const present = body.firstElementChild?.classList.contains("areas") ? body.firstElementChild : null;
    if (!parts.length) {
      present?.remove();
      return;
    }
    const rows = body.rows;
    const boxes = parts.map((part) => ({
      ...part,
      top: part.from === 0 ? 0 : rows[part.from].offsetTop,
      height: part.from === 0 && part.to === rows.length - 1 ? null : rows[part.to].offsetTop + rows[part.to].offsetHeight - (part.from === 0 ? 0 : rows[part.from].offsetTop),
    }));
    const key = JSON.stringify(boxes);
    if (present?.dataset.key === key) return;
    const layer = present ?? element("div", { className: "areas", ariaHidden: "true" });
    layer.dataset.key = key;
    const pinned = this.table.classList.contains("pinned");
    layer.replaceChildren(...boxes.flatMap((box) => {
      if (!pinned || box.left > 0) return [this.#box(box, box.left, box.right)];
      const first = element("div", { className: "beside" }); // stays with the column that stays in sight
      first.append(this.#box(box, 0, 0));
      return [first, ...(box.right > 0 ? [this.#box({ ...box, joined: true }, 1, box.right)] : [])];
    }));
    if (!present) body.prepend(layer);
  }

  #box({ top, height, kind, opens, ends, joined }, left, right) {
    const box = element("div", { className: ["area", kind, opens ? "opens" : "", ends ? "ends" : "", joined ? "joined" : ""].filter(Boolean).join(" ") });
    box.style.top = `${top}px`;
    if (height === null) box.style.bottom = "0";
    else box.style.height = `${height}px`;
    box.style.left = scaled(sum(this.#widths.slice(0, left + 1)));
    box.style.width = scaled(sum(this.#widths.slice(left + 1, right + 2)));
    return box;
  }
}

/* Widths for two tables: columns of the same id are as wide in both. Between least and most, as far as the wider one has
   room; `fits` is whether both have. `tables` are lists of [id, least, most]. */
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
  const width = (id) => {
    const [least, most] = columns.get(id);
    return least + stretch * (most - least);
  };
  return { fits: part >= 0, widths: tables.map((table) => table.map(([id]) => width(id))) };
}

/* Make elements as high as the highest of them. */
function level(elements) {
  const height = Math.max(...elements.map((one) => one.getBoundingClientRect().height));
  for (const one of elements) one.style.minHeight = `${height}px`;
}

const scaled = (rem) => `calc(${Math.ceil(rem * 1e5) / 1e5}rem * var(--zoom, 1))`;
const sameColumn = (one, other) => one.name === other.name && one.old === other.old && one.removed === other.removed && one.inserted === other.inserted;

/* The part of the flags that changes what stands in a cell, not only how it looks. */
const content = (flag) => (flag ? ["withheld", "evidence"].filter((name) => ` ${flag} `.includes(` ${name} `)).join() : "");

/* The row below, wherever one <tbody> ends and another begins. */
function below(tr) {
  return tr.nextElementSibling ?? tr.parentElement.nextElementSibling?.rows[0] ?? null;
}

function fill(td, text, old, flag) {
  const kept = content(flag);
  if (kept.includes("withheld")) {
    td.replaceChildren(element("span", { className: "withheld", textContent: t("hidden") }));
    return;
  }
  if (old !== undefined) td.replaceChildren(...clipped(versions(old, text), td.role === "gridcell"));
  else if (isLong(text)) td.replaceChildren(...clipped([element("span", { textContent: text })], td.role === "gridcell"));
  else td.textContent = text;
  if (kept.includes("evidence")) td.prepend(element("span", { className: "sr", textContent: t("marked: ") }));
}

function clipped(parts, inGrid) {
  const long = parts.filter(({ textContent }) => isLong(textContent));
  for (const part of long) part.classList.add("long");
  return long.length ? [...parts, wholeButton(inGrid)] : parts;
}

const isLong = (text) => text.length > LONG || lines(text) > TALL;

/* Opens the whole text of a cell to be read (reading-pane.js). In a grid a key does the same, so it takes no stop there. */
export function wholeButton(inGrid) {
  const words = t("Read the whole text");
  const button = element("button", { type: "button", className: "whole", tabIndex: inGrid ? -1 : 0, ariaLabel: words, title: inGrid ? `${words} (Alt ↓)` : words });
  button.dataset.readWhole = "";
  button.append(icon("read"));
  return button;
}

function was(text) {
  const del = element("del");
  del.append(element("span", { className: "sr", textContent: t("was ") }), text === "" ? t("(empty)") : text);
  return del;
}

const now = (text) => element("ins", text === "" ? { className: "emptied", textContent: t("empty") } : { textContent: text });

/* The old text above the new one; of several variants ({was, now: [{text, by, all}]}) the new text of each. */
export function versions(old, text) {
  if (typeof old === "string") return [was(old), now(text)];
  const parts = old.now.map((version) => {
    const ins = now(version.text);
    ins.classList.add("of");
    ins.prepend(who(version, t("by ")), " ");
    return ins;
  });
  return old.was === null ? parts : [was(old.was), ...parts];
}

/* The letters of variants, as a sign. */
function who({ by, all }, words) {
  const letters = element("b", { className: all ? "who all" : "who" });
  letters.append(element("span", { className: "sr", textContent: words }), by);
  return letters;
}

function notes(several, single) {
  if (!several) return single ? [element("small", { textContent: single })] : [];
  return several.map(({ what, by, all }) => {
    const note = element("small", { textContent: `${what} ` });
    note.append(who({ by, all }, ""));
    return note;
  });
}

/* A button in the header of a row or column that removes it or puts it back. Keys reach the header, which does the same, so
   the button takes no stop of its own; and the header is called by its name alone. */
function offerRemoval(th, what, name, removed) {
  const rows = what === "row";
  const words = removed
    ? (rows ? t`Restore row ${name}` : t`Restore column ${name}`)
    : (rows ? t`Remove row ${name}` : t`Remove column ${name}`);
  const button = element("button", { type: "button", className: removed ? "cut back" : "cut", tabIndex: -1, ariaLabel: words, title: words });
  button.dataset.remove = what;
  button.append(icon(removed ? "restore" : "close"));
  th.prepend(button);
  th.classList.add("removable");
  th.querySelector("small")?.classList.add("sr");
  th.ariaLabel = removed ? t`${name}, removed` : name;
}

/* The parts of a cell's text that are never broken: its words, or a number as a whole. */
function partsOf(text, numeric) {
  return numeric && formatOf(text).kind === "number" ? [text] : text.split(BLANKS);
}

/* The pixels that a cell needs for the longest of these words in the font of an element in it. */
function roomFor(cell, place, words) {
  const longest = new Ruler(place).longest();
  for (const word of words) longest.take(word);
  return Math.ceil(longest.width + 1 + paddingOf(cell));
}

function paddingOf(cell) {
  const { paddingLeft, paddingRight } = getComputedStyle(cell);
  return Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
}

function hasChanges({ columns, rows }) {
  return columns.some(({ old, removed, inserted }) => old !== null || removed || inserted)
    || rows.some(({ old, removed, inserted }) => old || removed || inserted);
}

/* Finds the widest of many texts in the font of an element, without laying any out. */
class Ruler {
  #context = element("canvas").getContext("2d");
  #most; // px that a letter may be wide: as much as those of the widest scripts, and some more
  #widths = new Map(); // px of each letter of ASCII

  constructor(place) {
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(place);
    this.#context.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    this.#most = 1.4 * Number.parseFloat(fontSize);
  }

  #width(text) {
    return Math.max(...text.split("\n").map((line) => this.#context.measureText(line).width));
  }

  /* The sum of the widths of its letters; Infinity where letters may join into others. */
  #sum(text) {
    if (!ASCII.test(text)) return Infinity;
    let sum = 0;
    for (const letter of text) {
      if (!this.#widths.has(letter)) this.#widths.set(letter, this.#width(letter));
      sum += this.#widths.get(letter);
    }
    return sum;
  }

  /* The widest text of those it is given. Most are known not to be without measuring them: too short, with too small a sum
     (kerning adds less than a twentieth), or like one before but for digits that are no wider. */
  longest() {
    const most = this.#most;
    const [sumOf, widthOf] = [(text) => this.#sum(text), (text) => this.#width(text)];
    const sums = new Map(); // {text with zeros for digits: the largest sum}
    return {
      text: "",
      width: 0,
      mayBe(text) {
        return text.length * most > this.width;
      },
      take(text) {
        if (!this.mayBe(text)) return;
        const sum = sumOf(text);
        const pattern = text.replace(DIGITS, "0");
        if (1.05 * sum <= this.width || (sum < Infinity && sums.get(pattern) >= sum)) return;
        sums.set(pattern, sum);
        const width = widthOf(text);
        if (width > this.width) Object.assign(this, { text, width });
      },
    };
  }
}

/* Whether a column is one of numbers, to be set flush right: the same rule as tableqa/cells/columns.py has. Only how
   it looks: nothing is rewritten. */
export function holdsNumbers(texts) {
  const kinds = texts.slice(0, LOOKED_AT).map((text) => formatOf(text).kind).filter((kind) => kind !== "none");
  return kinds.length > 0 && kinds.filter((kind) => kind === "number").length >= 0.9 * kinds.length;
}

function numericColumns({ columns, rows }) {
  const first = rows.slice(0, LOOKED_AT);
  return columns.map((_, column) => holdsNumbers(first.map(({ cells }) => cells[column] ?? "")));
}

/* row id -> place of a column -> words. Cells that the source had merged stay cells of their own, which can be edited. */
function mergedCells({ row_ids: rowIds, column_ids: columnIds, spans }) {
  const found = new Map();
  for (const { row, column, rows, columns } of spans ?? []) {
    const top = rowIds.indexOf(row);
    const left = columnIds.indexOf(column);
    if (top < 0 || left < 0) continue;
    for (const id of rowIds.slice(top, top + rows)) {
      if (!found.has(id)) found.set(id, new Map());
      for (let at = left; at < left + columns; at += 1) found.get(id).set(columnIds[at], t`One cell in the source: ${rows} by ${columns}`);
    }
  }
  return found;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const lines = (text) => text.split("\n").length;

/* What lies over a cell may reach beyond its group of rows, as long as it is there. */
export function reachOut(cell, on) {
  for (const part of [cell, cell.closest("tbody")]) part?.toggleAttribute("data-open", on);
}

export function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
