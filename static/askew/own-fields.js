/* Fields that only own task types have: ranks, numbers with a slider, and passages (spans.js). */

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

/* A rank that was given an option of another rank: both change places. */
/** @param {HTMLSelectElement} rank */
function swapRanks(rank) {
  const same = ranksOf(rank).find((other) => other !== rank && rank.value && other.value === rank.value);
  if (same) same.value = before;
  before = rank.value;
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
