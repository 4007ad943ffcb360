/* <askew-rewording>: the question in somebody's own words. It begins as it was; what changes is shown word by word.
   Enter is for whoever is done with the words: where a model looks along it tries them, and it leads on to what was changed,
   where a digit submits. Where that is said already, the next Enter submits. */

import { t } from "../askew/language.js";
import { changesOfWords, drawWording } from "../askew/wording.js";

const LATER = 600; // ms after the last key in which a screen reader is told what changed

class AskewRewording extends HTMLElement {
  #original = "";
  /** @type {number | null} */
  #timer = null;
  area = /** @type {HTMLTextAreaElement} */ (/** @type {unknown} */ (null));

  connectedCallback() {
    this.area = this.querySelector("textarea");
    this.area.addEventListener("input", () => this.#draw());
    this.area.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /* Called with the question of an item, before its draft is filled in. */
  /** @param {string | null} question */
  shown(question) {
    this.#original = question ?? "";
    requestAnimationFrame(() => this.#draw()); // when the draft is there
  }

  /* What the field starts with: as long as it says this, nothing has been entered. */
  get blank() {
    return this.#original;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.shiftKey || event.isComposing) return;
    event.preventDefault(); // a question has one line
    event.stopPropagation();
    const page = this.closest("askew-annotate");
    const prediction = page.querySelector("askew-prediction");
    const changed = this.area.value.trim() !== this.#original.trim();
    const tries = prediction?.wants && changed;
    if (tries || (prediction?.away && changed)) prediction.check(); // the next key goes on, whether or not there is an answer by then
    const group = this.closest("form").querySelector("[data-field=category]");
    if (!group.querySelector("input:checked")) group.querySelector("input").focus();
    else if (!tries) page.submit();
  }

  #draw() {
    const now = this.area.value;
    const same = now.trim() === this.#original.trim();
    const place = this.closest("section").querySelector("[data-wording]");
    place.hidden = same;
    if (same) place.replaceChildren();
    else drawWording(place, this.#original, now);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(same), LATER);
  }

  /** @param {boolean} same */
  #tell(same) {
    const gone = changesOfWords(this.#original, this.area.value).filter(({ kind }) => kind === "removed").map(({ text }) => text.trim());
    const said = same ? t("Still the original question.") : gone.length ? t`Without: ${gone.join(", ")}` : t("Only words were added.");
    const place = this.querySelector("[data-told]");
    if (place.textContent !== said) place.textContent = said;
  }
}

customElements.define("askew-rewording", AskewRewording);
