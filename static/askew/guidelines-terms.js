/* The part of the guidelines that is about one option of the form.

   The convention of the text: a term in bold or italics, a heading, or the first cell of a row says what a paragraph,
   list item, section or row is about. It is about an option if it equals the option's label, or what the label says after
   a colon, without what it says in brackets. An option that is a number on a scale is about the row that begins
   with it and, where a column has the name of the scale, about that cell. */

import { reveal } from "./guidelines-search.js";

const HEADINGS = "h1, h2, h3, h4, h5, h6";
const TERMS = [HEADINGS, "strong", "td:first-child, th:first-child", "em"]; // what counts first comes first

export class Terms {
  /** @type {HTMLElement} */
  #prose;
  /** @type {Element[]} */
  #shown = [];

  /** @param {HTMLElement} prose */
  constructor(prose) {
    this.#prose = prose;
  }

  /** @param {HTMLInputElement} input */
  show(input, { scrolls = true } = {}) {
    const parts = this.#about(input);
    if (parts.length === this.#shown.length && parts.every((part, index) => part === this.#shown[index])) return;
    this.clear();
    for (const part of parts) part.classList.add("fits");
    this.#shown = parts;
    if (scrolls) this.scroll();
  }

  clear() {
    for (const part of this.#shown) part.classList.remove("fits");
    this.#shown = [];
  }

  /* The line of the model stays where it is. */
  scroll() {
    if (this.#shown.length) reveal(this.#shown[0], { keeps: this.#prose.closest(".side")?.querySelector(".panel askew-prediction:not([hidden])") });
  }

  /** @param {HTMLInputElement} input @returns {Element[]} */
  #about(input) {
    const field = input.closest("[data-field]");
    if (/^\d+$/u.test(input.value)) return this.#step(input.value, field?.dataset.label ?? "");
    const label = input.closest("label")?.querySelector("[data-name]")?.textContent ?? input.dataset.label ?? "";
    for (const name of names(label)) {
      for (const selector of TERMS) {
        const terms = [...this.#prose.querySelectorAll(selector)].filter(({ textContent }) => plain(textContent) === name);
        const term = terms.find((one) => begins(one)) ?? terms[0];
        if (term) return block(term);
      }
    }
    return [];
  }

  /** @param {string} value @param {string} scale */
  #step(value, scale) {
    const rows = [...this.#prose.querySelectorAll("tr")].filter(({ cells }) => plain(cells[0]?.textContent ?? "") === value);
    if (!rows.length) return [];
    const header = [...rows[0].closest("table").rows[0].cells];
    const column = header.findIndex(({ textContent }) => plain(textContent) === plain(scale));
    return column > 0 ? [rows[0].cells[column]] : [rows[0]];
  }
}

/* What an option may be called in the text. */
/** @param {string} label */
function names(label) {
  const whole = plain(label.replace(/\([^)]*\)/gu, ""));
  const last = plain(label.slice(label.lastIndexOf(": ") + 1));
  return [plain(label), whole, last].filter((name, index, all) => name && all.indexOf(name) === index);
}

/** @param {string} text */
const plain = (text) => text.replace(/\s+/gu, " ").trim().replace(/[.:;!?]+$/u, "").toLocaleLowerCase();

/* Whether a term is the first thing that its paragraph says. */
/** @param {PagePart} term */
const begins = (term) => (term.closest("li, p, tr, blockquote") ?? term).textContent.trim().startsWith(term.textContent.trim());

/* What a term is about: its row, list item or paragraph; of a heading, all up to the next one. */
/** @param {HTMLElement} term */
function block(term) {
  if (!term.matches(HEADINGS)) return [term.closest("li, tr, p, blockquote") ?? term];
  /** @type {Element[]} */
  const parts = [term];
  for (let part = term.nextElementSibling; part && !part.matches(HEADINGS); part = part.nextElementSibling) parts.push(part);
  return parts;
}
