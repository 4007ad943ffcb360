/* Rectangles over what is selected, drawn in each group of rows. */

import { element } from "./elements.js";
import { scaled, sum } from "./ruler.js";

export class Outlines {
  /** @type {readonly DrawnArea[]} */
  #areas = [];

  /** @param {import("./painting.js").Painting} painting */
  constructor(painting) {
    this.painting = painting;
  }

  /* Draw rectangles: [{top, bottom, left, right, kind}] in numbers of rows and columns; row -1 is the header. */
  /** @param {readonly DrawnArea[]} areas */
  outline(areas) {
    this.#areas = areas;
    this.drawAreas();
  }

  /* Each group of rows has its part of every rectangle, so one that spans thousands of rows costs no more than a few
     groups; what a group shows already is left alone. */
  drawAreas() {
    const columns = this.painting.state.columns.length;
    this.painting.state.columns.forEach(({ id }, index) => {
      const inside = this.#areas.some(({ top, left, right }) => top < 0 && left <= index && index <= right);
      const th = this.painting.header.headCells.get(id);
      th.toggleAttribute("data-inside", inside);
    });
    if (!this.painting.columnWidths.widths) return;
    let start = 0;
    for (const body of this.painting.table.tBodies) {
      const { length } = body.rows;
      const parts = this.#areas.flatMap(({ top, bottom, left, right, kind }) => {
        const [from, to] = [Math.max(top, start), Math.min(bottom, start + length - 1)];
        return from > to || left >= columns ? [] : [{ from: from - start, to: to - start, left, right, kind, opens: top >= start, ends: bottom < start + length }];
      });
      this.#drawIn(body, parts);
      start += length;
    }
  }

  /** @param {HTMLTableSectionElement} body @param {readonly AreaPart[]} parts */
  #drawIn(body, parts) {
    const present = body.firstElementChild?.classList.contains("areas") ? /** @type {HTMLElement} */ (body.firstElementChild) : null;
    if (!parts.length) return present?.remove();
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
    const pinned = this.painting.table.classList.contains("pinned");
    layer.replaceChildren(...boxes.flatMap((box) => {
      if (!pinned || box.left > 0) return [this.#box(box, box.left, box.right)];
      const first = element("div", { className: "beside" }, this.#box(box, 0, 0)); // stays with the column that stays in sight
      return [first, ...(box.right > 0 ? [this.#box({ ...box, joined: true }, 1, box.right)] : [])];
    }));
    if (!present) body.prepend(layer);
  }

  /** @param {AreaBox} box @param {number} left @param {number} right */
  #box({ top, height, kind, opens, ends, joined }, left, right) {
    const box = element("div", { className: ["area", kind, opens ? "opens" : "", ends ? "ends" : "", joined ? "joined" : ""].filter(Boolean).join(" ") });
    box.style.top = `${top}px`;
    if (height === null) box.style.bottom = "0";
    else box.style.height = `${height}px`;
    box.style.left = scaled(sum(this.painting.columnWidths.widths.slice(0, left + 1)));
    box.style.width = scaled(sum(this.painting.columnWidths.widths.slice(left + 1, right + 2)));
    return box;
  }
}
