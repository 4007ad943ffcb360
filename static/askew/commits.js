/* Two rules about choices that submit an item.

   A press of a pointer on such a choice does what its key does, unless the personal setting turns that off. The arrow keys
   move through choices and never submit. After another item has come, presses are
   ignored for a moment, and so are digits once they stand for something else: they were meant for what was there before. */

import { outside } from "./keys.js";

export const PAUSE = 250; // ms in which keys are ignored after a change of layout
const DIGIT = /^\d$/u;

export class Commits {
  /** @type {HTMLElement} */
  #page;
  /** @type {HTMLElement | null} */
  #pressed = null; // the label on which a pointer went down
  #isTouch = false; // whether that was a finger
  /** @type {string | null} */
  #layout = null; // the choices that submit, with their keys
  #changedAt = -Infinity; // when that set changed, or what digits stand for
  /** @type {number | null} */
  #resting = null; // until digits act again
  #shownAt = -Infinity; // when the item came

  /* commit(group) is called when a choice of a [data-commit] group has been made by a pointer. */
  /** @param {HTMLElement} page @param {(group: HTMLElement) => void} commit */
  constructor(page, commit) {
    this.#page = page;
    page.addEventListener("pointerdown", ({ target, button, pointerType }) => {
      this.#isTouch = pointerType === "touch";
      this.#pressed = button === 0 ? target.closest?.("[data-commit] label") ?? null : null;
    });
    page.addEventListener("mousedown", ({ detail }) => {
      if (detail > 1) this.#pressed = null; // the second press of a double click
    });
    for (const kind of ["keydown", "pointercancel"]) page.addEventListener(kind, () => { this.#pressed = null; });
    page.addEventListener("click", (event) => this.#onClick(event, commit), { capture: true });
  }

  /* An item is shown in place of another one. */
  shown() {
    this.#shownAt = performance.now();
    this.arranged();
  }

  /* On a small screen, choices that submit lie where those of a question with several were: a second tick is not meant for
     them. */
  moved() {
    if (this.#isTouch) this.#shownAt = performance.now();
  }

  /* The choices that submit may be other ones: those of two examples instead of one. */
  arranged() {
    const inputs = outside(this.#page, "[data-commit] [data-key]").filter((input) => !input.closest("[hidden]"));
    const layout = inputs.map(({ name, value, dataset }) => `${name}:${value}:${dataset.key}`).join("\n");
    if (this.#layout !== null && layout !== this.#layout) this.rekeyed();
    this.#layout = layout;
  }

  /* Digits stand for something else from now on. They are drawn once they act. */
  rekeyed() {
    this.#changedAt = performance.now();
    this.#page.dataset.rekeyed = "";
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => delete this.#page.dataset.rekeyed, PAUSE);
  }

  /* Whether this key is to be ignored now. */
  /** @param {string} key */
  ignores(key) {
    return DIGIT.test(key) && performance.now() - this.#changedAt < PAUSE;
  }

  /** @param {Press} event @param {(group: HTMLElement) => void} commit */
  #onClick(event, commit) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (!input.closest?.("[data-commit]")) return;
    if (event.detail > 0 && performance.now() - this.#shownAt < PAUSE) {
      event.preventDefault();
      event.stopPropagation();
      this.#pressed = null;
      return;
    }
    if (!input.matches("input[type=radio]") || !this.#pressed?.contains(input)) return;
    this.#pressed = null;
    if (document.documentElement.dataset.clickSubmits === "off") return;
    setTimeout(() => input.isConnected && input.checked && commit(input.closest("[data-field]"))); // its change event comes first
  }
}
