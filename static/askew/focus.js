/* Where the focus goes when what had it is removed or hidden: to what is nearest to it, so that it never falls to the page,
   where letters are commands. What was being written goes on to nothing: for a moment, letters are ignored there. */

import { PAUSE } from "./commits.js";
import { writes } from "./keys.js";

const FOCUSABLE = "button, input:not([type=hidden]), select, textarea, a[href], summary, [tabindex]";
const REMOVALS = { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "inert", "disabled", "open"] };

export class Focus {
  #start;
  /** @type {FocusPart[]} */
  #path = []; // what had the focus last, and what it is in
  /** @type {FocusPart | null} */
  #next = null; // what gets the focus, between two events
  #quiet = 0; // until when letters belong to what is gone

  /* start() moves the focus to where an item begins. */
  /** @param {HTMLElement} page @param {() => void} start */
  constructor(page, start) {
    this.#start = start;
    page.addEventListener("focusin", ({ target }) => {
      this.#next = null;
      this.#path = [];
      for (let part = /** @type {FocusPart} */ (target); part && part !== page; part = /** @type {FocusPart} */ (part.parentElement)) this.#path.push(part);
    });
    page.addEventListener("blur", ({ relatedTarget }) => { this.#next = /** @type {FocusPart | null} */ (relatedTarget); }, { capture: true }); // before what it makes others remove
    addEventListener("keydown", (event) => this.#ignore(event), { capture: true });
    new MutationObserver(() => this.#restore()).observe(page, REMOVALS);
  }

  #restore() {
    const [last] = this.#path;
    const activeElement = /** @type {FocusPart | null} */ (document.activeElement);
    const isGone = last && !isThere(last) && (activeElement === document.body || activeElement === last);
    if (!isGone || isThere(this.#next) || document.querySelector("dialog[open]")) return;
    const wrote = writes(last) && !last.closest("details:not([open])"); // a panel is closed by who has written in it
    for (const part of this.#path) if (isThere(part) && takes(part)) break;
    if (!isThere(/** @type {FocusPart | null} */ (document.activeElement)) || document.activeElement === document.body) this.#start();
    this.#quiet = wrote && !writes(document.activeElement) ? Date.now() + PAUSE : 0;
  }

  /** @param {KeyboardEvent} event */
  #ignore(event) {
    if (Date.now() >= this.#quiet || event.key.length > 1 || writes(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/* Whether the focus leaves a field that hears "blur" for the page, and not with the window, which brings it back. */
/** @param {FocusEvent} event */
export const leaves = ({ target, relatedTarget }) => relatedTarget !== null || (document.activeElement !== target && document.hasFocus());

/* Give the focus to a part of the page, or to what comes first in it; whether it has it then. */
/** @param {FocusPart} part */
function takes(part) {
  if (part.focusCell) part.focusCell();
  else if (part.matches(FOCUSABLE) || part.focus !== HTMLElement.prototype.focus) part.focus({ preventScroll: true });
  else (part.querySelector("button.primary") ?? /** @type {FocusPart[]} */ ([...part.querySelectorAll(FOCUSABLE)]).find(isThere))?.focus({ preventScroll: true });
  return part.contains(document.activeElement);
}

/** @param {FocusPart | null | undefined} part */
const isThere = (part) => Boolean(part?.isConnected && !part.disabled && !part.closest("[hidden], [inert], details:not([open]) > :not(summary)"));
