/* Search in the guidelines: matches are marked as one types; Enter and Shift Enter go to the next and the one before. */

import { t } from "./language.js";

const LEAST = 2; // characters: one letter is everywhere

export class Search {
  /** @type {HTMLInputElement} */
  #input;
  /** @type {HTMLElement} */
  #count;
  /** @type {HTMLElement} */
  #prose;
  /** @type {HTMLElement[]} */
  #matches = [];
  #current = -1;

  /** @param {HTMLElement} bar @param {HTMLElement} prose */
  constructor(bar, prose) {
    this.#prose = prose;
    this.#input = bar.querySelector("input");
    this.#count = bar.querySelector("[data-count]");
    this.#input.addEventListener("input", (event) => {
      event.stopPropagation(); // it is nothing about the item
      this.#find();
    });
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.#go(event.shiftKey ? -1 : 1);
    });
    bar.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.#go(Number(button.value));
    });
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  /* Empty the field and go back to the text. False where there was nothing to leave. */
  leave() {
    if (document.activeElement !== this.#input && !this.#input.value) return false;
    this.#input.value = "";
    this.#find();
    this.#prose.focus({ preventScroll: true });
    return true;
  }

  #find() {
    for (const mark of this.#matches) mark.replaceWith(...mark.childNodes);
    this.#prose.normalize();
    const text = this.#input.value.trim();
    this.#matches = text.length < LEAST ? [] : marked(this.#prose, text);
    this.#current = -1;
    if (this.#matches.length) this.#go(1);
    else this.#count.textContent = text.length < LEAST ? "" : t("No matches");
  }

  /** @param {number} step */
  #go(step) {
    const { length } = this.#matches;
    if (!length) return;
    this.#matches[this.#current]?.removeAttribute("aria-current");
    this.#current = (this.#current + step + length) % length;
    const mark = this.#matches[this.#current];
    mark.setAttribute("aria-current", "true");
    reveal(mark);
    this.#count.textContent = t`${this.#current + 1} of ${length}`;
  }
}

/* Every place of a text, in a <mark>; it may not reach across a change of type. */
/** @param {HTMLElement} prose @param {string} text */
function marked(prose, text) {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&").replace(/\s+/gu, "\\s+"), "giu");
  const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  return nodes.flatMap((node) => {
    const places = [...node.data.matchAll(pattern)].reverse();
    return places.map(({ index, 0: { length } }) => {
      const found = node.splitText(index);
      found.splitText(length);
      const mark = document.createElement("mark");
      found.replaceWith(mark);
      mark.append(found);
      return mark;
    }).reverse();
  });
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
