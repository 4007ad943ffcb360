/* <askew-pair>: one or two perturbed examples of one original, each as what it changes: the question word by word, the
   table old beside new. What is wrong with an example is asked for where its score is low. */

import { drawWording } from "../askew/wording.js";

const REJECTED_BELOW = 3;

class AskewPair extends HTMLElement {
  connectedCallback() {
    // Said by a class: with :has() every change in a table would make the browser look at the whole page again.
    this.closest(".workbench")?.classList.add("paired");
    this.addEventListener("change", () => this.#ask());
    this.addEventListener("item-shown", () => this.#ask());
  }

  /* Called with what an item shows: the sides that are there, and the original that they change. */
  shown(_, { shows }) {
    this.toggleAttribute("data-two", Boolean(shows.right));
    for (const part of this.querySelectorAll("[data-needs]")) part.hidden = !shows[part.dataset.needs];
    for (const side of ["left", "right"]) {
      if (shows[side]) this.#draw(this.querySelector(`[data-side=${side}]`), shows[side], shows.original);
    }
  }

  #draw(place, { question, answers, operations, changes }, original) {
    drawWording(place.querySelector("[data-wording]"), original.question, question);
    place.querySelector("askew-grid").compare(original.table, operations, { label: place.dataset.label });
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
