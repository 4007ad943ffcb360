/* <askew-pair>: what is asked about one or two perturbed examples of one original. The tables are compared in the
   <askew-comparison> beside it. What is wrong with an example is asked for where its score is low. */

import "../askew/comparison.js";
import { t } from "../askew/language.js";
import { drawWording } from "../askew/wording.js";

const REJECTED_BELOW = 3;
const NAMES = {
  left: { letter: "L", title: t("Example L"), the: t("example L") },
  right: { letter: "R", title: t("Example R"), the: t("example R") },
  single: { letter: "", title: t("Changed example"), the: t("the example") },
};

class AskewPair extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", () => this.#ask());
    this.addEventListener("item-shown", () => this.#ask());
  }

  /* Called with what an item shows: the sides that are there, and the original that they change. */
  /** @param {unknown} _ @param {{ shows: ShownPair }} item */
  shown(_, { shows }) {
    for (const part of this.querySelectorAll("[data-needs]")) part.hidden = !shows[/** @type {Side} */ (part.dataset.needs)];
    const sides = /** @type {Side[]} */ (["left", "right"]).filter((side) => shows[side]);
    const named = sides.map((side) => ({ side, names: sides.length > 1 ? NAMES[side] : NAMES.single }));
    for (const { side, names } of named) {
      const place = this.querySelector(`[data-verdict=${side}]`);
      this.#draw(place, /** @type {ComparedExample} */ (shows[side]), shows.original);
      this.#name(place, names);
    }
    const variants = named.map(({ side, names: { letter, title } }) => ({ letter, name: title, operations: shows[side]?.operations }));
    this.closest("askew-annotate").querySelector("askew-comparison").compare({ table: shows.original.table, variants });
  }

  /* The next item may be a pair where this one is a single example: what is asked says which one it asks about. */
  /** @param {HTMLElement} place @param {{ title: string, the: string }} names */
  #name(place, { title, the }) {
    for (const part of place.querySelectorAll("[data-title]")) part.textContent = title;
    const [score, errors] = place.querySelectorAll("[data-field]");
    Object.assign(score.dataset, { label: title, required: t`Rate ${the} from 1 to 5.` });
    Object.assign(errors.dataset, { label: t`What is wrong with ${the}`, required: t`Choose what is wrong with ${the}.` });
    for (const input of score.querySelectorAll("input")) input.dataset.label = `${title}: ${input.value}`;
  }

  /** @param {HTMLElement} place @param {ComparedExample} example @param {ComparedExample} original */
  #draw(place, { question, answers }, original) {
    const wording = place.querySelector("[data-wording]");
    wording.hidden = question === original.question; // then it heads the page as it is
    drawWording(wording, original.question, question);
    const [before, after] = [original.answers, answers].map((texts) => texts.join(" | "));
    const [old, now] = ["[data-old-answers]", "[data-new-answers]"].map((part) => place.querySelector(part));
    [old.textContent, now.textContent] = [before, after];
    old.hidden = before === after;
    place.querySelector("[data-same-answers]").hidden = before !== after;
  }

  /* A low score asks what is wrong; a better one does not. Chosen by key, nothing says "change": a moment later is early enough. */
  #ask() {
    for (const errors of this.querySelectorAll("[data-errors-of]")) {
      const chosen = this.querySelector(/** @type {"input"} */ (`input[name=${errors.dataset.errorsOf}]:checked`));
      errors.hidden = !(chosen && Number(chosen.value) < REJECTED_BELOW) || Boolean(errors.closest("[data-needs][hidden]"));
    }
  }
}

customElements.define("askew-pair", AskewPair);
