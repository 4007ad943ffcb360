/* <button type="button" data-copies="ID" hidden> copies the field with this id, and says so beside all fields that were copied.
   Without scripts the button stays hidden, and the field can be selected. */

import { t } from "./language.js";

for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = /** @type {HTMLInputElement} */ (document.getElementById(button.dataset.copies));
  button.hidden = false;
  button.addEventListener("click", async () => {
    const isCopied = await copies(field);
    button.textContent = isCopied ? t("Copied") : t("Press Ctrl+C");
    button.toggleAttribute("data-done", isCopied);
    button.removeAttribute("aria-label");
    const status = button.closest("[data-links]").querySelector("[data-copied]");
    status.textContent = "";
    status.textContent = button.textContent;
  });
}

/* Without https there is no clipboard for scripts: the field is selected, and the browser copies what is selected. */
/** @param {HTMLInputElement} field */
async function copies(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}
