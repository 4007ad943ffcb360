/* A small bar that finds text in the cells and headers of a table. It knows texts and places, not the page's table. */

import { counted, t } from "./language.js";
import { element } from "./elements.js";

/* One spelling for finding: no case, no accents, one kind of blank. */
/** @param {string} text */
const plain = (text) => (SIMPLE.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/\s+/gu, " ")).toLowerCase();
const SIMPLE = /^[!-~]*(?: [!-~]+)*$/;

export class FindBar {
  /** @type {readonly string[]} */
  columns = [];
  /** @type {HTMLInputElement} */
  #input = element("input", { type: "text", ariaLabel: t("Find in the table"), spellcheck: false, autocomplete: "off", placeholder: t("Find in the table"), enterKeyHint: "search" });
  /** @type {HTMLElement} */
  #count = element("span", { className: "soft small", role: "status" });
  /** @type {readonly FindLine[]} */
  #lines = []; // [{row, texts}] while the bar is open; folded when somebody has typed
  #folded = false;
  /** @type {Places | null} */
  #order = null; // row id -> place
  #wanted = ""; // what the hits are hits of
  /** @type {Hit[]} */
  #hits = []; // {row, column, text}
  #at = -1;

  /* source() -> {columns: [id], lines: [{row, texts}]}; show(hits, current, moves) paints; close() ends it. */
  /** @param {FindCalls} calls */
  constructor({ source, show, closed }) {
    this.source = source;
    this.show = show;
    this.closed = closed;
    this.bar = element("div", { className: "find-bar", hidden: true, role: "search", ariaLabel: t("Find in the table") });
    /** @param {string} label @param {string} text @param {() => void} act */
    const button = (label, text, act) => {
      const made = element("button", { type: "button", className: "quiet", textContent: text, title: label, ariaLabel: label });
      made.addEventListener("click", act);
      return made;
    };
    this.bar.append(
      this.#input, this.#count,
      button(t("Previous match"), "↑", () => this.step(-1)), button(t("Next match"), "↓", () => this.step(1)),
      button(t("Close"), "✕", () => this.close()),
    );
    this.#input.addEventListener("input", () => this.#look());
    this.bar.addEventListener("keydown", (/** @type {KeyPress} */ event) => this.#onKey(event));
  }

  get isOpen() {
    return !this.bar.hidden;
  }

  /* Open the bar, or go back to it; hits are counted from `here` {row, column} on. */
  /** @param {{ row: string, column: string }} here */
  open(here) {
    this.here = here;
    if (!this.isOpen) {
      this.bar.hidden = false;
      this.refresh();
    }
    this.#input.focus();
    this.#input.select();
  }

  /* The table has changed. */
  refresh() {
    if (!this.isOpen) return;
    const { columns, lines } = this.source();
    this.columns = columns;
    this.#lines = lines;
    this.#order = null;
    this.#folded = false;
    this.#wanted = "";
    this.#look(false);
  }

  /** @param {number} by */
  step(by) {
    if (!this.#hits.length) return;
    this.#at = (this.#at + by + this.#hits.length) % this.#hits.length;
    this.#tell();
  }

  close() {
    if (!this.isOpen) return;
    const hit = this.#hits[this.#at];
    const found = hit ? { row: hit.row, column: hit.column } : null;
    this.#end();
    this.show([], null);
    this.closed(found);
  }

  /* Another table is shown: nothing was looked for in it. */
  begin() {
    this.#end();
    this.#input.value = "";
    this.#count.textContent = "";
  }

  #end() {
    this.bar.hidden = true;
    this.#lines = [];
    this.#wanted = "";
    this.#hits = [];
    this.#at = -1;
  }

  #look(moves = true) {
    const wanted = plain(this.#input.value);
    const before = this.#hits[this.#at] ?? null;
    const narrower = this.#wanted && wanted.startsWith(this.#wanted); // one more letter: only hits can be hits
    const had = narrower ? this.#hits : [];
    this.#wanted = wanted;
    this.#hits = had.filter(({ text }) => text.includes(wanted));
    if (wanted && !this.#folded) {
      this.#lines = this.#lines.map(({ row, texts }) => ({ row, texts: texts.map(plain) }));
      this.#folded = true;
    }
    if (wanted && !narrower) {
      for (const { row, texts } of this.#lines) {
        texts.forEach((text, place) => {
          if (text.includes(wanted)) this.#hits.push({ row, column: this.columns[place], text });
        });
      }
    }
    const from = before ?? this.here;
    this.#at = this.#hits.length ? Math.max(0, from ? this.#firstFrom(from) : 0) : -1;
    this.#tell(moves);
  }

  /** @param {{ row: string, column: string }} place */
  #firstFrom(place) {
    const order = this.#order ??= new Map(this.#lines.map(({ row }, at) => [row, at]));
    const row = order.get(place.row);
    const column = this.columns.indexOf(place.column);
    return this.#hits.findIndex((hit) => order.get(hit.row) > row || (hit.row === place.row && this.columns.indexOf(hit.column) >= column));
  }

  #tell(moves = true) {
    const wanted = this.#input.value;
    const number = this.#hits.length;
    this.#count.textContent = !wanted ? "" : number ? t`${this.#at + 1} of ${counted(number, "{0} match", "{0} matches")}` : t("No matches");
    this.show(this.#hits, this.#hits[this.#at] ?? null, moves);
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key.toLowerCase() === "f") {
      event.stopPropagation(); // a second time, the browser's own search opens
      return;
    }
    if (event.key === "Escape") this.close();
    else if (event.key === "F3" || (event.key === "Enter" && event.target === this.#input)) this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown" && event.target === this.#input) this.step(1);
    else if (event.key === "ArrowUp" && event.target === this.#input) this.step(-1);
    else {
      if (event.key === "Enter") event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
