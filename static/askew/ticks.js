/* Selected items of a list, and the bar of actions that appears with them. Without it the bar is always there. */

import { t } from "./language.js";

export class Ticks {
  /** @type {HTMLInputElement | null} */
  #last = null; // the box that was ticked last

  /** @param {HTMLElement} list */
  constructor(list) {
    this.form = list.querySelector("form#act");
    /** @type {HTMLInputElement[]} */
    this.boxes = [...list.querySelectorAll("input[name=item]")];
    this.here = list.querySelector("input[data-all-here]");
    this.everything = /** @type {HTMLInputElement} */ (this.form.elements.namedItem("all"));
    this.exports = [...list.querySelectorAll(".exports a[download]")].map((link) => /** @type {const} */ ([link, link.href]));
    this.exported = list.querySelector("[data-exported]");
    this.whole = this.exported.textContent;
    list.addEventListener("change", (event) => this.#changed(event.target));
    for (const box of this.boxes) box.addEventListener("click", (event) => event.shiftKey && this.#extend(box));
    this.form.querySelector("button[data-clear]").addEventListener("click", () => this.clear());
    addEventListener("pageshow", () => this.show()); // a browser that comes back ticks boxes again
    this.show();
  }

  /* Tick the box of a row, or take the tick away; with `extend`, tick every row from the last one up to it. */
  /** @param {HTMLElement | undefined} row @param {boolean} [extend] */
  toggle(row, extend = false) {
    const box = row?.querySelector("input[name=item]");
    if (!box) return;
    if (extend) this.#extend(box);
    else box.checked = !box.checked;
    this.#changed(box);
  }

  /* Open the menu of actions and go to the first one. */
  choose() {
    if (this.form.hidden) return;
    const menu = this.form.querySelector("details");
    menu.open = true;
    menu.querySelector("button").focus();
  }

  clear() {
    for (const box of [...this.boxes, this.everything]) box.checked = false;
    this.#last = null;
    this.show();
  }

  show() {
    const number = this.everything.checked ? Number(this.everything.dataset.total) : this.boxes.filter((box) => box.checked).length;
    const ticked = this.boxes.filter((box) => box.checked).length;
    this.form.hidden = !number;
    this.form.querySelector("[data-count]").textContent = t`${number} selected`;
    this.here.checked = ticked === this.boxes.length && ticked > 0;
    this.here.indeterminate = ticked > 0 && ticked < this.boxes.length;
    this.form.querySelector("details").open = false;
    this.#export(this.everything.checked ? [] : this.boxes.filter((box) => box.checked));
  }

  /* Links to files lead to the responses to the selected items alone, or to all that match. */
  /** @param {HTMLInputElement[]} boxes */
  #export(boxes) {
    for (const [link, whole] of this.exports) link.href = boxes.length ? only(whole, boxes) : whole;
    const number = boxes.length;
    this.exported.textContent = number ? t`Download the responses, ${number} selected:` : this.whole;
  }

  /** @param {HTMLInputElement} box */
  #changed(box) {
    if (box === this.here) for (const each of this.boxes) each.checked = box.checked;
    else if (box === this.everything) for (const each of this.boxes) each.checked = box.checked;
    else if (this.boxes.includes(box)) {
      this.#last = box;
      this.everything.checked = false;
    } else return;
    if (!this.here.checked && box === this.here) this.everything.checked = false;
    this.show();
  }

  /** @param {HTMLInputElement} box */
  #extend(box) {
    const [from, to] = [this.boxes.indexOf(this.#last ?? box), this.boxes.indexOf(box)].sort((a, b) => a - b);
    for (const each of this.boxes.slice(from, to + 1)) each.checked = true;
  }
}

/* The address of a file with these items in the place of the filters. */
/** @param {string} address @param {HTMLInputElement[]} boxes */
function only(address, boxes) {
  const url = new URL(address);
  const format = url.searchParams.get("format");
  url.search = String(new URLSearchParams([...boxes.map((box) => ["item", box.value]), ["format", format ?? ""]]));
  return url.href;
}
