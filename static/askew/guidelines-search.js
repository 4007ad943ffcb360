/* Search in the guidelines: matches are marked; one of them is the current one. */

import { reveal } from "./guidelines-terms.js";
import { t } from "./language.js";

const LEAST = 2; // characters: one letter is everywhere

export class Search {
  #prose;
  #input;
  #count;
  /** @type {HTMLElement[]} */
  #matches = [];
  #current = -1;

  /** @param {PagePart} bar @param {HTMLElement} prose */
  constructor(bar, prose) {
    this.#prose = prose;
    this.#input = bar.querySelector("input");
    this.#count = bar.querySelector("[data-count]");
  }

  /* Mark what the field says now. */
  find() {
    for (const mark of this.#matches) mark.replaceWith(...mark.childNodes);
    this.#prose.normalize();
    const text = this.#input.value.trim();
    this.#matches = text.length < LEAST ? [] : marked(this.#prose, text);
    this.#current = -1;
    if (this.#matches.length) this.go(1);
    else this.#count.textContent = text.length < LEAST ? "" : t("No matches");
  }

  /** @param {number} step */
  go(step) {
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
