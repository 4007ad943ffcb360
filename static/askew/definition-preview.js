/* The preview of a task type reacts to what is chosen in it: fields come and go with their conditions. */

import { applyConditions } from "./conditions.js";
import { COLLECT } from "./response-fields.js";

const place = /** @type {HTMLElement} */ (document.querySelector("#preview"));

function react() {
  const fields = /** @type {Field[]} */ ([...place.querySelectorAll("[data-field]")]);
  const grid = /** @type {GridElement} */ (/** @type {unknown} */ ({ cells: [] })); // nothing is marked in a preview
  applyConditions(/** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-condition]")), fields, (field) => COLLECT[field.dataset.kind](field, grid));
}

place.addEventListener("change", react);
document.addEventListener("htmx:afterSwap", react);
react();
