/* The keys of the annotation page, as its list of keys shows them. */

import { comparisonKeys } from "./comparison-keys.js";
import { outside } from "./keys.js";
import { t } from "./language.js";

/** @param {import("./annotate.js").AskewAnnotate} page */
export function pageKeys(page) {
  return [
    { name: "submit", key: "Enter", label: t("Submit"), run: () => page.submission.submit() },
    { name: "skip", key: "s", label: t("Skip this item"), run: () => page.panels.openPanel("skip") },
    { name: "flag", key: "g", label: t("Flag this item"), run: () => page.panels.openPanel("flag") },
    ...(page.querySelector("[data-panel=ask]") ? [
      { name: "ask", key: "q", label: t("Ask the managers"), run: () => page.panels.openPanel("ask") },
    ] : []),
    ...(page.bar.querySelector("[data-unsure]") ? [
      { name: "unsure", key: "l", label: t("Not sure, or sure again"), run: () => page.toggleUnsure() },
    ] : []),
    { name: "undo", key: "u", label: t("Undo last submission"), run: () => page.submission.undo() },
    ...(page.querySelector("[data-past]") ? [
      { name: "examples", key: "e", label: t("Show examples of earlier work"), run: () => page.lookback.showExamples() },
      { name: "back", key: "p", label: t("Previous items: one back"), run: () => page.lookback.lookAround((past) => past.step(1)) },
      { name: "forward", key: "f", label: t("Previous items: one forward"), run: () => page.past?.step(-1) },
    ] : []),
    { name: "table", key: "t", label: t("Go to the table"), run: () => page.toTable() },
    ...comparisonKeys(page.comparison),
    { name: "guidelines", key: "i", label: t("Show or hide the guidelines"), run: () => page.guidelines.toggle() },
    { name: "help", key: "?", label: t("Show keyboard shortcuts"), run: () => page.keys.help() },
    ...(page.form.querySelector("[data-hide-marked]") ? [
      { name: "evidence", key: "h", label: t("Show or hide the marked cells"), run: () => page.form.querySelector("[data-hide-marked]")?.click() },
    ] : []),
  ];
}

/** Further tables for the list of keys: those of the table in its mode, and those of the kind's own elements. @param {import("./annotate.js").AskewAnnotate} page */
export async function keySections(page) {
  const { gridKeys } = await import("./grid-keys.js");
  const { grid: mode, contract } = page.current;
  const own = /** @type {FormPart[]} */ (outside(page, "[data-hears]")).flatMap(({ keyTable }) => keyTable ?? []);
  if (!page.grid && !page.comparison) return own;
  return [...own, { title: t("In the table"), rows: gridKeys(page.comparison ? "compare" : mode, contract?.allowed ?? null) }];
}
