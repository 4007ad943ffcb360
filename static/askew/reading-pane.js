/* A dialog in which one long text is read: lines of a readable length, as high as the window. Esc closes it, and the focus
   returns to the cell or button from which it was opened. */

import { t } from "./language.js";
import { element } from "./elements.js";

/* `parts` are what the text consists of: strings, or elements that tell old from new. */
/** @param {string} title @param {readonly (string | Node)[]} parts */
export function openReadingPane(title, parts) {
  const dialog = element("dialog", { className: "reading" });
  dialog.setAttribute("aria-labelledby", "reading-title");
  const close = element("button", { type: "button", className: "quiet", textContent: t("Close") });
  close.append(element("kbd", { ariaHidden: "true", textContent: t("Esc") }));
  const head = element("header");
  head.append(element("h2", { id: "reading-title", textContent: title, dir: "auto" }), close);
  // The text takes the focus, so that the keys scroll it.
  const text = element("div", { className: "text", role: "region", ariaLabel: title, tabIndex: 0, autofocus: true, dir: "auto" });
  text.append(...parts);
  dialog.append(head, text);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (/** @type {MouseEvent} */ { target }) => target === dialog && dialog.close()); // on what lies around it
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
