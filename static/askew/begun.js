/* Whether a person has begun with the item on screen: any key, pointer, touch or input says so. Until then a machine may put
   something into a form that is blank, and take the focus; keys of the next moment still go to where the focus was. */

import { PAUSE } from "./commits.js";

const SIGNS = ["keydown", "pointerdown", "mousedown", "touchstart", "click", "beforeinput", "input", "compositionstart", "paste", "drop"];

export class Begun {
  has = false;
  #since = 0;

  constructor() {
    // A key that lands nowhere and does nothing begins nothing.
    /** @param {Event} event */
    const begins = ({ type, target, defaultPrevented }) => { this.has ||= type !== "keydown" || target !== document.body || defaultPrevented; };
    for (const sign of SIGNS) addEventListener(sign, begins, { capture: true, passive: true });
    addEventListener("keydown", begins, { passive: true });
  }

  /* Another item is on screen. */
  begin() {
    this.has = false;
    this.#since = Date.now();
  }

  /* Milliseconds since the item came. */
  get age() {
    return Date.now() - this.#since;
  }

  /* What a machine does to the form is no sign of a person. */
  /** @param {() => void} act */
  byMachine(act) {
    const { has } = this;
    act();
    this.has = has;
  }

  /* Give the focus to a part of the page that has come by itself, by `focus`. Where it came after the item, it may have come
     between two keys: for a moment, those that it does not `own` go to where the focus was. */
  /** @param {HTMLElement} part @param {() => void} focus @param {(key: string) => boolean} own */
  lead(part, focus, own = (_key) => false) {
    const from = /** @type {HTMLElement} */ (document.activeElement);
    focus();
    if (!this.age || !part.contains(document.activeElement)) return;
    const end = () => removeEventListener("keydown", giveBack, { capture: true });
    /** @param {KeyboardEvent} event */
    const giveBack = (event) => {
      if (!part.contains(document.activeElement) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (own(event.key)) return end(); // the person has seen it
      event.stopImmediatePropagation();
      from.focus({ preventScroll: true });
      const { key, code, shiftKey } = event;
      const again = new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true });
      const lands = from.dispatchEvent(again) && key.length === 1; // in the field that has the focus now
      if (!lands) event.preventDefault();
    };
    addEventListener("keydown", giveBack, { capture: true });
    setTimeout(end, PAUSE);
  }
}
