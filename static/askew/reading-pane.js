/* A dialog in which one long text is read: lines of a readable length, as high as the window. Esc closes it, and the focus
   returns to the cell or button from which it was opened. */

import { element, openDialog } from "./elements.js";

/* `parts` are what the text consists of: strings, or elements that tell old from new. */
/** @param {string} title @param {readonly (string | Node)[]} parts */
export function openReadingPane(title, parts) {
  // The text takes the focus, so that the keys scroll it.
  const text = element("div", { className: "text", role: "region", ariaLabel: title, tabIndex: 0, autofocus: true, dir: "auto" }, ...parts);
  const dialog = openDialog("reading", title, text);
  dialog.addEventListener("click", (/** @type {MouseEvent} */ { target }) => target === dialog && dialog.close()); // on what lies around it
}
