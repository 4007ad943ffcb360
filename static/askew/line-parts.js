/* Parts of a line in a list of columns (columns.js). */

import { element } from "./elements.js";
import { t } from "./language.js";

/* Bring a column into sight without moving the page. */
/** @param {HTMLElement} th */
export function reveal(th) {
  const sheet = th.closest(".sheet");
  const [box, own] = [sheet.getBoundingClientRect(), th.getBoundingClientRect()];
  if (own.left < box.left + 60) sheet.scrollLeft += own.left - box.left - 60;
  else if (own.right > box.right) sheet.scrollLeft += own.right - box.right + 8;
}

/* Why something is offered, on demand; its keys are its own. */
/** @param {ColumnLine} line */
export function reasonsOf({ reasons }) {
  const texts = (reasons ?? []).map((textContent) => element("p", { textContent, dir: "auto" }));
  const details = element("details", { className: "small" }, element("summary", { textContent: t("Why offered?") }), ...texts);
  details.addEventListener("keydown", (event) => ["Enter", " "].includes(event.key) && event.stopPropagation());
  return details;
}
