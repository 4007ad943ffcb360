/* What of a table is in sight, and scrolling to more of it. */

const CUT = 4; // px of a column that may be out of sight without a word

export class SheetScroll {
  /** @param {import("./painting.js").Painting} painting */
  constructor(painting) {
    this.painting = painting;
  }

  /* Let what lies over a cell begin at it, and before it where it would reach beyond the sheet: it has the room of all rows and
     columns at most. */
  /** @param {HTMLElement} cell @param {HTMLElement} part */
  fitOver(cell, part) {
    const box = this.painting.sheet.getBoundingClientRect();
    const place = cell.getBoundingClientRect();
    const [head, number] = [this.painting.header.head.offsetHeight, this.painting.header.head.lastElementChild.firstElementChild.offsetWidth];
    const { clientWidth: width, clientHeight: height } = this.painting.sheet;
    part.style.maxHeight = `${Math.max(height - head - 4, 96)}px`;
    part.style.maxWidth = `${width - number - 4}px`;
    /** @type {(start: number, size: number, end: number, least: number) => string} */
    const before = (start, size, end, least) => `${-Math.max(0, Math.min(start + size + 4 - end, start - least))}px`;
    part.style.top = before(place.top - box.top, part.offsetHeight, height, head);
    part.style.left = before(place.left - box.left, part.offsetWidth, width, number);
  }

  /* Scroll the sheet, and nothing around it, as far as a cell needs to be seen whole: nobody has asked for it yet. To the
     side it goes from column to column, so that none stands there cut in two. */
  /** @param {GridCell} place */
  bringIntoSight({ row, column }) {
    const cell = this.painting.cell(row, column);
    if (!cell || !this.painting.sheet.clientHeight) return;
    const [place, box] = [cell.getBoundingClientRect(), this.painting.sheet.getBoundingClientRect()];
    const head = this.painting.header.head.offsetHeight;
    if (row !== this.painting.base.header_id) {
      if (place.bottom > box.bottom) this.painting.sheet.scrollTop += place.top - box.top - head - (this.painting.sheet.clientHeight - head - place.height) / 2;
      else if (place.top < box.top + head) this.painting.sheet.scrollTop -= box.top + head - place.top;
    }
    const at = this.painting.state.columnIds.indexOf(column);
    const edges = this.#edges();
    if (at < edges.still) return;
    const { scrollLeft, clientWidth } = this.painting.sheet;
    const least = edges.ends[at] - clientWidth; // from here on its end is in sight
    const most = edges.starts[at] - edges.beside; // up to here its start is
    if (scrollLeft <= most && scrollLeft >= least) return;
    const stops = edges.starts.slice(edges.still, at + 1).map((start) => start - edges.beside);
    this.#scrollTo(scrollLeft > most ? most : stops.find((stop) => stop >= least - 1) ?? most);
  }

  /* The last columns can stand right beside what does not scroll, too: with some room behind them. */
  /** @param {number} left */
  #scrollTo(left) {
    const { sheet, table } = this.painting;
    sheet.scrollLeft = left;
    const short = left - sheet.scrollLeft;
    if (short < 1) return;
    const room = Number.parseFloat(table.style.paddingInlineEnd) || 0;
    table.style.paddingInlineEnd = `${room + Math.ceil(short)}px`;
    sheet.scrollLeft = left;
  }

  /* Where the columns begin and end in the sheet, how wide what stands still beside them is, and how many of them do. */
  #edges() {
    const [number, ...widths] = [...this.painting.header.head.lastElementChild.children].map((cell) => cell.getBoundingClientRect().width);
    const starts = [];
    let end = number;
    for (const width of widths) {
      starts.push(end);
      end += width;
    }
    const ends = [...starts.slice(1), end];
    const first = this.painting.header.head.lastElementChild.children[1];
    const still = first && getComputedStyle(first).position === "sticky" ? 1 : 0;
    return { starts, ends, still, beside: still ? ends[0] : number };
  }

  /* What stands in the upper left corner of what scrolls: {row, column} and how much of each is past it: of the row in
     pixels, for the twin leaves room below it for the rows that it has not. */
  /** @returns {TableCorner} */
  get corner() {
    const { scrollLeft, scrollTop } = this.painting.sheet;
    const { starts, ends, still, beside } = this.#edges();
    const at = Math.max(still, ends.findIndex((end) => end - beside > scrollLeft + 0.5));
    const column = { id: this.painting.state.columnIds[at], past: (scrollLeft - (starts[at] - beside)) / (ends[at] - starts[at]) };
    const body = [...this.painting.table.tBodies].find((one) => one.offsetTop + one.offsetHeight - this.painting.header.head.offsetHeight > scrollTop + 0.5);
    let tr = /** @type {PaintedTr | undefined} */ (body && [...body.rows].find((one) => this.#topOf(one) + one.offsetHeight > scrollTop + 0.5));
    while (tr && this.painting.pair && !this.painting.pair.twin.painting.entries.has(tr.dataset.row)) tr = tr.previousElementSibling ?? /** @type {PaintedTr | undefined} */ ([...(tr.parentElement.previousElementSibling?.rows ?? [])].at(-1));
    const row = tr ? { id: tr.dataset.row, past: scrollTop - this.#topOf(tr) } : null;
    return { row, column, start: scrollTop <= 0 };
  }

  /* Scroll to where another table with the same rows and columns stands; what is not here is left as it is. */
  /** @param {TableCorner} corner */
  set corner({ row, column, start }) {
    const { starts, ends, beside } = this.#edges();
    const at = this.painting.state.columnIds.indexOf(column.id);
    if (at >= 0) this.#scrollTo(starts[at] - beside + column.past * (ends[at] - starts[at]));
    const tr = row ? this.painting.entries.get(row.id)?.tr : null;
    if (start) this.painting.sheet.scrollTop = 0;
    else if (row && tr) this.painting.sheet.scrollTop = this.#topOf(tr) + row.past;
  }

  /* How far one has to scroll until a row stands right under the head. */
  /** @param {HTMLElement} tr */
  #topOf(tr) {
    const { offsetParent } = tr;
    const body = /** @type {HTMLElement} */ (tr.parentElement);
    return (offsetParent === body ? body.offsetTop : 0) + tr.offsetTop - this.painting.header.head.offsetHeight;
  }

  /* How many rows fit into the sheet. */
  /** @param {string} row @param {string | null} column */
  page(row, column) {
    const height = this.painting.cell(row, column)?.offsetHeight || 32;
    return Math.max(1, Math.floor(this.painting.sheet.clientHeight / height) - 2);
  }

  /* The names of the columns that are not, or not wholly, in sight. */
  get hiddenColumns() {
    if (!this.painting.sheet.clientWidth) return [];
    const { starts, ends, still, beside } = this.#edges();
    const { scrollLeft, clientWidth } = this.painting.sheet;
    return this.painting.state.columns
      .filter((_, at) => (at >= still && starts[at] < scrollLeft + beside - CUT) || ends[at] > scrollLeft + clientWidth + CUT)
      .map(({ id }) => id);
  }
}
