/* <askew-pair>: one or two perturbed examples of one original, each as what it changes: the question word by word, the
   table old beside new. What is wrong with an example is asked for where its score is low. */

import "../askew/comparing.js";
import { t } from "../askew/language.js";
import { drawWording } from "../askew/wording.js";

const REJECTED_BELOW = 3;
const NAMES = {
  left: { title: t("Left example"), the: t("the left example") },
  right: { title: t("Right example"), the: t("the right example") },
  single: { title: t("Changed example"), the: t("the example") },
};

class AskewPair extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", () => this.#ask());
    this.addEventListener("item-shown", () => this.#ask());
  }

  /* Called with what an item shows: the sides that are there, and the original that they change. */
  shown(_, { shows }) {
    this.toggleAttribute("data-two", Boolean(shows.right));
    for (const part of this.querySelectorAll("[data-needs]")) part.hidden = !shows[part.dataset.needs];
    for (const side of ["left", "right"]) {
      if (!shows[side]) continue;
      const names = shows.right ? NAMES[side] : NAMES.single;
      this.#draw(this.querySelector(`[data-side=${side}]`), shows[side], shows.original, names);
      this.#name(this.querySelector(`[data-verdict=${side}]`), names);
    }
    const [left, right] = this.querySelectorAll("[data-side] askew-grid");
    left.scrollWith(shows.right ? right : null);
  }

  /* The next item may be a pair where this one is a single example: what is asked says which one it asks about. */
  #name(place, { title, the }) {
    for (const part of place.querySelectorAll("[data-title]")) part.textContent = title;
    const [score, errors] = place.querySelectorAll("[data-field]");
    Object.assign(score.dataset, { label: title, required: t`Rate ${the} from 1 to 5.` });
    Object.assign(errors.dataset, { label: t`What is wrong with ${the}`, required: t`Choose what is wrong with ${the}.` });
    for (const input of score.querySelectorAll("input")) input.dataset.label = `${title}: ${input.value}`;
  }

  #draw(place, { question, answers, operations, changes }, original, { title }) {
    place.querySelector("[data-title]").textContent = title;
    const wording = place.querySelector("[data-wording]");
    wording.hidden = question === original.question; // then it heads the page as it is
    drawWording(wording, original.question, question);
    place.querySelector("askew-grid").compare(original.table, operations, { label: t`${title}, table` });
    list(place.querySelector("[data-changes-in-words]"), changes);
    const other = answers.length !== original.answers.length || answers.some((text, at) => text !== original.answers[at]);
    list(place.querySelector("[data-new-answers]"), other ? answers : []);
    place.querySelector("[data-other-answer]").hidden = !other;
  }

  /* A low score asks what is wrong; a better one does not. Chosen by key, nothing says "change": a moment later is early enough. */
  #ask() {
    for (const errors of this.querySelectorAll("[data-errors-of]")) {
      const chosen = this.querySelector(`input[name=${errors.dataset.errorsOf}]:checked`);
      errors.hidden = !(chosen && Number(chosen.value) < REJECTED_BELOW) || Boolean(errors.closest("[data-needs][hidden]"));
    }
  }
}

function list(place, texts) {
  place.replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text, dir: "auto" })));
}

customElements.define("askew-pair", AskewPair);
