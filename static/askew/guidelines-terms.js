/* The part of the guidelines that is about one option of the form.

   The convention of the text: a term in bold or italics, a heading, or the first cell of a row says what a paragraph,
   list item, section or row is about. It is about an option if it equals the option's label, or what the label says after
   a colon, without what it says in brackets. An option that is a number on a scale is about the row that begins
   with it and, where a column has the name of the scale, about that cell. */

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

/* Scroll the drawer, or the column that it shares with the panel, until an element is in view; never the page. Nothing
   scrolls where the panel would move with the part of it that `keeps` names. */
/** @param {Element} element @param {{ keeps?: HTMLElement | null }} how */
export function reveal(element, { keeps = null } = {}) {
  const box = element.closest("details");
  const scroller = [...ancestors(element, box.parentElement)].find((part) => part.scrollHeight > part.clientHeight && /auto|scroll/u.test(getComputedStyle(part).overflowY));
  if (!scroller || (keeps && scroller.contains(keeps) && keeps.closest(".panel").offsetHeight > scroller.clientHeight)) return;
  const [inner, outer] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  const sticky = /** @type {HTMLElement[]} */ ([...box.children]).filter((part) => getComputedStyle(part).position === "sticky");
  const head = outer.top + sticky.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0);
  if (inner.top < head || inner.height > outer.bottom - head) scroller.scrollTop += inner.top - head - GAP;
  else if (inner.bottom > outer.bottom) scroller.scrollTop += inner.bottom - outer.bottom + GAP;
}

const GAP = 12; // pixels between what is revealed and the edge

/** @param {Element} element @param {Element} last */
function* ancestors(element, last) {
  for (let part = element.parentElement; part; part = part === last ? null : part.parentElement) yield part;
}
