/* The answer of a model as elements and texts of a page. */

import { element } from "./elements.js";
import { t } from "./language.js";

/** @param {HTMLElement} place @param {readonly VerdictPart[]} parts */
export function showParts(place, parts) {
  place.replaceChildren(...parts.flatMap(([kind, words, short], number) => {
    const both = [element("span", { className: "in-full" }, words), element("span", { className: "in-short" }, short ?? "")];
    const part = element("span", { className: kind, dir: "auto", title: words }, ...(short ? both : [words]));
    return [...(number ? [" "] : []), part];
  }));
}

/* The line of a model of the panel. Unlike that of the model in the loop, it has an answer where that is wrong already. */
/** @param {ModelCheck} said @returns {readonly VerdictPart[]} */
export function withAnswer({ line, original, perturbed, verdict }) {
  const isWrongAlready = verdict === "wrong_on_original" || (!verdict && original?.right === false);
  if (!isWrongAlready) return line;
  const last = perturbed ?? original;
  /** @type {VerdictPart[]} */
  const parts = [["verdict", t("Wrong on the original")], ["answer", inWords(last?.answers ?? [])], ["confidence", last?.confidence ?? ""]];
  return parts.filter(([, text]) => text);
}

/** @param {readonly string[]} answers */
function inWords(answers) {
  return answers.filter((text) => text.trim()).join(" | ") || t("no answer");
}

/* The parts of a line in one text. */
/** @param {readonly VerdictPart[]} parts */
export function brief(parts) {
  return parts.map(([, text]) => text).join(" · ");
}

/* Right is green only where the answer that it rests on is verified. */
/** @param {HTMLElement} place @param {ModelAnswer | null} said */
export function showAnswer(place, said, isVerified = true) {
  place.hidden = !said;
  if (!said) return;
  const answers = said.answers.filter((text) => text.trim());
  showList(place, answers.length ? answers : [t("no answer")]);
  const state = place.querySelector(".state");
  state.hidden = said.right === null;
  state.textContent = said.right ? t("right") : t("wrong");
  state.dataset.kind = !said.right ? "bad" : isVerified ? "good" : "open";
}

/** @param {HTMLElement} place @param {readonly string[]} texts */
export function showList(place, texts) {
  place.hidden = !texts.length;
  place.querySelector("ul").replaceChildren(...texts.map((text) => element("li", { textContent: text, dir: "auto" })));
}

/** @param {ModelAnswer} said */
export function answerFacts({ score, confidence, next_best: others, rows_seen: seen, rows_total: total }) {
  const sure = score === null ? "" : `${confidence} (${Math.round(score * 100)} %)`;
  const rows = seen < total ? t`rows 1–${seen} of ${total}` : "";
  return [sure, others, rows];
}
