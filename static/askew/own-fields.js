/* Fields that only own task types have: ranks, numbers with a slider, and passages (spans.js). */

import { element } from "./elements.js";
import "./spans.js";

let before = ""; // the rank that has the focus, as it was

/** @param {Event} event @param {string} selector */
const within = ({ target }, selector) => (target instanceof Element ? target.closest(selector) : null);

/** @param {Element} part @returns {HTMLSelectElement[]} */
const ranksOf = (part) => [...part.closest("fieldset")?.querySelectorAll("select") ?? []];

document.addEventListener("focusin", (event) => {
  const rank = /** @type {HTMLSelectElement | null} */ (within(event, ".ranks select"));
  if (rank) before = rank.value;
});

document.addEventListener("input", (event) => {
  const rank = /** @type {HTMLSelectElement | null} */ (within(event, ".ranks select"));
  if (rank) swapRanks(rank);
  const part = within(event, ".section");
  if (part) moveSlider(part, within(event, "[data-slider]") !== null);
}, { capture: true });

document.addEventListener("click", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (within(event, "[data-rank]"));
  if (button) rankNext(button);
});

for (const slider of document.querySelectorAll("[data-slider]")) {
  const part = /** @type {Element} */ (slider.closest(".section"));
  slider.addEventListener("item-shown", () => moveSlider(part, false));
}

for (const field of /** @type {NodeListOf<Field>} */ (document.querySelectorAll("[data-ranks]"))) {
  field.offer = (answers) => offerRanks(field, answers);
}

/* A rank that was given an option of another rank: both change places. */
/** @param {HTMLSelectElement} rank */
function swapRanks(rank) {
  const same = ranksOf(rank).find((other) => other !== rank && rank.value && other.value === rank.value);
  if (same) same.value = before;
  before = rank.value;
}

/* Offer the answers of an item in a field that ranks them. */
/** @param {HTMLElement} field @param {readonly string[] | null} [answers] */
function offerRanks(field, answers) {
  const options = [...new Set(answers ?? [])];
  const choose = field.dataset.choose ??= field.querySelector("option")?.textContent ?? "";
  for (const label of field.querySelectorAll("label")) label.remove();
  const offered = field.querySelector(".rank-options");
  offered?.replaceChildren(...options.map((answer, place) => {
    const key = String(place + 1);
    const shortcut = element("kbd", { ariaHidden: "true", textContent: key, dataset: { shortcut: `${field.dataset.field}:${answer}` } });
    return element("button", { type: "button", name: field.dataset.field, value: answer, dataset: { rank: "", key, label: answer } }, answer, shortcut);
  }));
  options.forEach((_, place) => {
    const select = element("select", { name: field.dataset.field }, new Option(choose, ""), ...options.map((answer) => new Option(answer, answer)));
    field.append(element("label", {}, element("span", { textContent: `${place + 1}.` }), select));
  });
}

/* Give an option the first rank that is free, or take its rank away. */
/** @param {HTMLButtonElement} button */
function rankNext(button) {
  const ranks = ranksOf(button);
  const same = ranks.find(({ value }) => value === button.value);
  const rank = same ?? ranks.find(({ value }) => !value);
  if (!rank) return;
  rank.value = same ? "" : button.value;
  rank.dispatchEvent(new Event("input", { bubbles: true }));
}

/* The slider beside a number: each follows the other. */
/** @param {Element} part @param {boolean} isMoved */
function moveSlider(part, isMoved) {
  const [number, slider] = part.querySelectorAll("input");
  if (!slider?.matches("[data-slider]")) return;
  if (!isMoved) slider.value = number.value || slider.min;
  else if (number.value !== slider.value) {
    number.value = slider.value;
    number.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
