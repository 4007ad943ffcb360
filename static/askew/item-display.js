/* What an item shows: its question, table, answers and context, always as text. */

import { empty, offerAnswers } from "./conditions.js";
import { element } from "./elements.js";
import { outside } from "./keys.js";
import { t } from "./language.js";

export class ItemDisplay {
  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  instruction() {
    const words = this.page.querySelector(".instruction").textContent;
    return words.endsWith("?") ? words : `${words}.`;
  }

  asked() {
    return [...this.page.querySelectorAll(".asked:not([hidden]) > :is(h2, p)")].map(({ textContent }) => textContent).join(": ");
  }

  /* Where several answers to one question are rated, say which of them this is. It moves in when it takes the place of
     another one, as nothing else on the page would change. Returns the words for who does not see that, or "". */
  /** @param {ItemAssignment | null} before @param {ItemAssignment} item */
  tellSameQuestion(before, { same_question: answers, shows, base }) {
    const place = this.page.querySelector("[data-same-question]");
    if (!place) return "";
    const { number, total } = answers ?? { number: 1, total: 1 };
    place.hidden = number < 2;
    place.textContent = t`Same question, another answer: ${number} of ${total}`;
    const replaces = before !== null && before.base === base && before.shows.question === shows.question
      && before.shows.rated_answer !== shows.rated_answer;
    const section = place.closest(".rated");
    section.classList.remove("replaced");
    if (!replaces) return "";
    section.getBoundingClientRect(); // laid out without the class, it moves in once more
    section.classList.add("replaced");
    return place.hidden ? "" : `${place.textContent}. ${shows.rated_answer}`;
  }

  /** @param {ItemAssignment} assignment */
  fillShown(assignment) {
    const { shows } = assignment;
    for (const field of this.page.fields) field.offer?.(shows.answers);
    for (const field of this.page.fields.filter(({ dataset }) => dataset.prefill)) field.blank = startOf(shows, field.dataset.prefill);
    const choices = this.page.fields.filter(({ dataset }) => "of" in dataset);
    for (const field of choices) offerAnswers(field, shows.answers);
    if (choices.length) this.page.keys.label();
    for (const place of /** @type {FormPart[]} */ (outside(this.page, "[data-show]"))) {
      const value = shows[place.dataset.show];
      place.closest("[data-only-with]")?.toggleAttribute("hidden", empty(value));
      if (place.shown) place.shown(value, assignment);
      else (SHOW[place.dataset.show] ?? SHOW.text)(place, value, shows);
    }
  }
}

/* What a text begins with: the question, the answers in lines, or an own column (meta.NAME). */
/** @param {ItemAssignment["shows"]} shows @param {string} source */
const startOf = (shows, source) => [shows[source] ?? shows.meta?.[source.slice(5)] ?? ""].flat().join("\n");

/** @type {Record<string, (place: HTMLElement, value: any, shows: {alternatives?: readonly (readonly string[])[]}) => void>} */
export const SHOW = {
  text: (place, value) => { place.textContent = typeof value === "string" ? value : value?.text ?? ""; },
  question: (place, text) => { place.textContent = text ?? ""; },
  evidence: (place, evidence) => { place.textContent = evidence?.from ?? ""; },
  answers: (place, answers, { alternatives = [] } = {}) => {
    place.replaceChildren(...(answers ?? []).map((/** @type {string} */ text) => element("li", { textContent: text, dir: "auto" })));
    place.append(...alternatives.map((other) => element("li", { dir: "auto" }, element("span", { className: "soft", textContent: t("or") }), ` ${other.join(" | ")}`)));
  },
  context: (place, context) => {
    const facts = [[t("Unit"), context?.unit], [t("Scale"), context?.scale]].filter(([, value]) => value);
    place.replaceChildren(
      ...(context?.text ?? "").split("\n\n").filter(Boolean).map((/** @type {string} */ text) => element("p", { textContent: text, dir: "auto" })),
      ...facts.map(([name, value]) => element("p", { className: "soft", textContent: `${name}: ${value}` })),
    );
  },
  meta: (place, columns) => {
    place.replaceChildren(...Object.entries(columns ?? {}).flatMap(([name, value]) => [
      element("dt", { className: "caption", textContent: name, dir: "auto" }), element("dd", { textContent: value, dir: "auto" }),
    ]));
  },
  history: (place, turns) => {
    place.replaceChildren(...(turns ?? []).map((/** @type {{question: string, answers: readonly string[]}} */ { question, answers }) => (
      element("li", { dir: "auto" }, `${question} `, element("span", { className: "soft", textContent: answers.join(" | ") }))
    )));
  },
};
