/* One table of shortcuts for the annotation page, a dialog that shows it, and what a person changed in it.

   A shortcut is a single key that acts while neither a text field nor the table has the focus. Actions come from the
   page (submit, skip, ...) and from inputs that carry data-key (the choices of a form). Each can be moved to another
   key, and all can be switched off (WCAG 2.1.4); both are kept in this browser. */

import { t } from "./language.js";

const STORE = "askew:keys";

export class Keys {
  #actions;
  #own;
  #dialog = null;
  #listening = null;

  /* actions: [{name, key, label, run}]; sections: further tables for the dialog, [{title, rows: [[keys], text]}]. */
  constructor(page, actions, sections = []) {
    this.page = page;
    this.sections = sections;
    this.#actions = actions;
    this.#own = read();
    document.addEventListener("keydown", (event) => this.#onKey(event));
    this.label();
  }

  get off() {
    return Boolean(this.#own.off);
  }

  /* Every action with the key it has for this person. */
  table() {
    const inputs = outside(this.page, "[data-key]").filter((input) => !input.closest("[hidden]")).map((input) => ({
      name: input.matches("[type=radio], [type=checkbox]") ? `${input.name}:${input.value}` : input.name,
      key: input.dataset.key,
      label: input.dataset.label ?? input.closest("label")?.querySelector("[data-name]")?.textContent ?? input.value,
      input,
    }));
    return [...inputs, ...this.#actions].map((action) => ({ ...action, key: this.#own.keys?.[action.name] ?? action.key }));
  }

  /* Write the keys onto the buttons; hide them while shortcuts are off. */
  label() {
    document.documentElement.toggleAttribute("data-keys-off", this.off);
    const keys = new Map(this.table().map((action) => [action.name, action.key]));
    for (const place of outside(this.page, "kbd[data-shortcut]")) {
      place.textContent = shown(keys.get(place.dataset.shortcut) ?? place.textContent);
    }
  }

  help() {
    this.#dialog ??= this.#build();
    this.#fill();
    this.#dialog.showModal();
  }

  #onKey(event) {
    if (this.off && event.key !== "Escape") return;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || writes(event.target)) return;
    // Enter has its own meaning on what can be pressed; on a choice it has none that anybody wants.
    if (event.key === "Enter" && event.target.closest("button, a, summary, input:not([type=radio], [type=checkbox])")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = this.table().filter((action) => action.key.toLowerCase() === key.toLowerCase());
    if (!found.length) return;
    // In an open panel nothing answers the item that lies behind it.
    if (event.target.closest("details[data-panel][open]") && (!found[0].run || found[0].name === "submit")) return;
    event.preventDefault();
    if (event.repeat) return;
    if (found[0].run) found[0].run();
    else this.page.choose(found.map((action) => action.input), shown(found[0].key));
  }

  // --- the dialog --------------------------------------------------------------------------------------------------

  #build() {
    const dialog = make("dialog", { className: "all-keys" });
    dialog.setAttribute("aria-labelledby", "help-title");
    const head = make("header");
    head.append(make("h2", { id: "help-title", textContent: t("Keys") }));
    const close = make("button", { type: "button", className: "quiet", textContent: t("Close") });
    close.append(make("kbd", { textContent: t("Esc") }));
    close.addEventListener("click", () => dialog.close());
    head.append(close);
    const body = make("div", { className: "help-body" });
    body.addEventListener("click", (event) => this.#onDialogClick(event));
    body.addEventListener("change", (event) => {
      if (event.target.matches("[data-off]")) this.#keep({ ...this.#own, off: !event.target.checked });
    });
    dialog.addEventListener("keydown", (event) => this.#onNewKey(event));
    dialog.addEventListener("close", () => { this.#listening = null; });
    dialog.append(head, body);
    document.body.append(dialog);
    return dialog;
  }

  #fill(focus = null) {
    const body = this.#dialog.querySelector(".help-body");
    const rows = this.table().map((action) => {
      const button = make("button", { type: "button", className: "quiet" });
      button.dataset.change = action.name;
      const waiting = this.#listening === action.name;
      button.textContent = waiting ? t("Press a key…") : t("Change");
      button.setAttribute("aria-label", waiting ? t`Press the new key for ${action.label}` : t`Change the key for ${action.label}`);
      return row([shown(action.key)], action.label, button);
    });
    const off = make("label", { className: "switch" });
    const box = make("input", { type: "checkbox", checked: !this.off, role: "switch" });
    box.dataset.off = "";
    off.append(box, t(" Single keys act on this page"));
    const reset = make("button", { type: "button", className: "quiet", textContent: t("Set all keys back") });
    reset.dataset.reset = "";
    const own = make("p", { className: "row" });
    own.append(off, reset);
    body.replaceChildren(
      own,
      section(t("On this page, outside the table and text fields"), rows),
      ...this.sections.map(({ title, rows: lines }) => section(title, lines.map(([keys, text]) => row(keys, text)))),
      make("p", { className: "soft", textContent: t("Esc leaves the table and text fields for the buttons below. Ctrl Enter submits from a text field. Changes are kept in this browser.") }),
    );
    if (focus) body.querySelector(`[data-change="${CSS.escape(focus)}"]`)?.focus();
  }

  #onDialogClick(event) {
    const button = event.target.closest("button");
    if (button?.dataset.change) {
      this.#listening = button.dataset.change;
      this.#fill(this.#listening);
    } else if (button && "reset" in button.dataset) {
      this.#keep({});
      this.#fill();
    }
  }

  #onNewKey(event) {
    if (!this.#listening || ["Shift", "Control", "Alt", "Meta", "Tab", "AltGraph"].includes(event.key)) return;
    event.preventDefault();
    const name = this.#listening;
    this.#listening = null;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.key !== "Escape") {
      const taken = this.table().find((action) => action.key.toLowerCase() === key.toLowerCase());
      const mine = this.table().find((action) => action.name === name);
      const keys = { ...this.#own.keys, [name]: key };
      if (taken && taken.name !== name) keys[taken.name] = mine.key; // the two change places
      this.#keep({ ...this.#own, keys });
    }
    this.#fill(name);
  }

  #keep(own) {
    this.#own = own;
    try {
      localStorage.setItem(STORE, JSON.stringify(own));
    } catch { /* then it holds until the page is left */ }
    this.label();
  }
}

/* What of a page matches, but for what is in its tables: those may hold a hundred thousand elements. */
export function outside(page, selector) {
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_ELEMENT, (part) => {
    if (part.localName === "askew-grid") return NodeFilter.FILTER_REJECT;
    return part.matches(selector) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  });
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

/* True where letters and digits belong to what has the focus. */
export function writes(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("[role=grid], textarea, select, [contenteditable=true]")) return true;
  return target.matches("input:not([type=radio], [type=checkbox], [type=button], [type=submit])");
}

const NAMES = { " ": "Space", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
const shown = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);

function read() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

function section(title, rows) {
  const table = make("table", { className: "keys" });
  table.append(make("caption", { textContent: title }), make("tbody"));
  table.tBodies[0].append(...rows);
  return table;
}

function row(keys, text, extra = null) {
  const tr = make("tr");
  const th = make("th", { scope: "row" });
  keys.forEach((key) => th.append(make("kbd", { textContent: key }), " "));
  tr.append(th, make("td", { textContent: text }));
  const last = make("td");
  if (extra) last.append(extra);
  tr.append(last);
  return tr;
}

const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);
