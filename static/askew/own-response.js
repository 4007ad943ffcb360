/* The page of an adjudicator's own response: its note is kept in this browser, as on the page of the item. The response is
   kept by annotate.js. Without this script the note goes along with the form. */

import { draftOf, keepDraft } from "./adjudication-draft.js";

const form = document.querySelector("askew-annotate[data-item-id] form");
if (form) {
  const { itemId, done } = form.closest("[data-item-id]").dataset;
  const { note } = /** @type {{ note: HTMLTextAreaElement }} */ (/** @type {unknown} */ (form.elements));
  note.value ||= draftOf(itemId)?.note ?? "";
  note.addEventListener("input", () => keepDraft(itemId, { ...draftOf(itemId), note: note.value }));
  form.querySelector("button[value=back]").addEventListener("click", (event) => {
    event.preventDefault();
    location.assign(done);
  });
}
