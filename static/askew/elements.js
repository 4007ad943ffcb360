/* Elements of a page, made in one expression. */

import { t } from "./language.js";

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Properties<HTMLElementTagNameMap[Name]>} properties
 * @param {...(Node | string)} contents
 * @returns {PagePart<HTMLElementTagNameMap[Name]>}
 */
export function element(name, { dataset = {}, ...properties } = /** @type {never} */ ({}), ...contents) {
  const part = Object.assign(/** @type {PagePart<HTMLElementTagNameMap[Name]>} */ (document.createElement(name)), properties);
  Object.assign(part.dataset, dataset);
  part.append(...contents);
  return part;
}

/* Open a dialog with a title and a button that closes it, as Esc does. It is gone once it is closed. */
/** @param {string} name  of its class @param {string} title @param {...Node} contents */
export function openDialog(name, title, ...contents) {
  const close = element("button", { type: "button", className: "quiet" }, t("Close"), element("kbd", { ariaHidden: "true", textContent: t("Esc") }));
  const head = element("header", {}, element("h2", { id: `${name}-title`, textContent: title, dir: "auto" }), close);
  const dialog = element("dialog", { className: name }, head, ...contents);
  dialog.setAttribute("aria-labelledby", `${name}-title`);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/* Change the text of a node rather than its children: the latter makes the browser look at all that could depend on them. */
/** @param {Element & {firstChild: ChildNode & {data?: string} | null}} node @param {string} text */
export function write(node, text) {
  if (!node.firstChild) node.append(text);
  else if (node.firstChild.data !== text) node.firstChild.data = text;
}
