/* What stands in the list of keys: every action with its key, which can be changed here, and the tables of keys that the
   page has besides. keys.js opens the list and fetches this. */

import { element } from "./elements.js";
import { t } from "./language.js";

export class AllKeys {
  /** @type {import("./keys.js").Keys} */
  #keys;
  /** @type {HTMLElement} */
  #body;
  /** @type {readonly KeyTable[]} */
  #sections;
  /** @type {string | null} */
  #listening = null;

  /** @param {import("./keys.js").Keys} keys @param {HTMLDialogElement} dialog @param {HTMLElement} body @param {readonly KeyTable[]} sections */
  constructor(keys, dialog, body, sections) {
    this.#keys = keys;
    this.#body = body;
    this.#sections = sections;
    body.addEventListener("click", (event) => this.#onDialogClick(event));
    body.addEventListener("change", (event) => {
      if (event.target.matches("[data-off]")) keys.keep({ ...keys.own, off: !event.target.checked });
    });
    dialog.addEventListener("keydown", (event) => this.#onNewKey(event));
    dialog.addEventListener("close", () => { this.#listening = null; });
  }

  /* `refusal` says why the last key cannot be used. */
  /** @param {string | null} focus @param {string} refusal */
  fill(focus = null, refusal = "") {
    const rows = this.#keys.table().map((action) => {
      const waiting = this.#listening === action.name;
      const ariaLabel = waiting ? t`Press the new key for ${action.label}` : t`Change the shortcut for ${action.label}`;
      const words = waiting ? t("Press a key…") : t("Change");
      return row([this.#keys.shown(action.key)], action.label, element("button", { type: "button", className: "quiet", ariaLabel, dataset: { change: action.name } }, words));
    });
    const box = element("input", { type: "checkbox", checked: !this.#keys.off, role: "switch", dataset: { off: "" } });
    const off = element("label", { className: "switch" }, box, t(" Use single-key shortcuts on this page"));
    const reset = element("button", { type: "button", className: "quiet", textContent: t("Reset shortcuts"), dataset: { reset: "" } });
    this.#body.replaceChildren(
      element("p", { className: "row" }, off, reset),
      ...(refusal ? [element("p", { className: "notice problem", role: "alert", textContent: refusal })] : []),
      section(t("On this page, outside the table and text fields"), rows),
      ...this.#sections.map(({ title, rows: lines }) => section(title, lines.map(([keys, text]) => row(keys, text)))),
      element("p", { className: "soft", textContent: t("Keys with a dashed border wait while you are in the table or a text field: press Esc first. Ctrl Enter submits from a text field. Your shortcuts are stored in this browser.") }),
    );
    if (focus) this.#body.querySelector(`[data-change="${CSS.escape(focus)}"]`)?.focus();
  }

  /** @param {Press} event */
  #onDialogClick(event) {
    const button = event.target.closest("button");
    if (button?.dataset.change) {
      this.#listening = button.dataset.change;
      this.fill(this.#listening);
    } else if (button && "reset" in button.dataset) {
      this.#keys.keep({});
      this.fill();
    }
  }

  /** @param {KeyboardEvent} event */
  #onNewKey(event) {
    if (!this.#listening || ["Shift", "Control", "Alt", "Meta", "Tab", "AltGraph"].includes(event.key)) return;
    event.preventDefault();
    const name = this.#listening;
    this.#listening = null;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const refusal = event.key === "Escape" ? "" : this.#move(name, key);
    this.fill(name, refusal);
  }

  /* Give an action or a choice this key; if it belongs to another one of its sort, the two change places. Choices and actions
     keep apart, as another task type has other choices and the same actions. Returns why not, or "". */
  /** @param {string} name @param {string} key */
  #move(name, key) {
    const table = this.#keys.table();
    const mine = /** @type {KeyAction} */ (table.find((action) => action.name === name));
    const taken = table.find((action) => action.name !== name && action.key.toLowerCase() === key.toLowerCase());
    const isChoice = Boolean(mine.input);
    if (taken && Boolean(taken.input) !== isChoice) {
      return t`${this.#keys.shown(key)} is the shortcut for “${taken.label}”. Press Change and choose another key.`;
    }
    if (!isChoice && /^\d$/u.test(key)) return t("Digits choose options. Press Change and choose another key.");
    const keys = { ...this.#keys.own.keys, [name]: key };
    if (taken) keys[taken.name] = mine.key;
    this.#keys.keep({ ...this.#keys.own, keys });
    return "";
  }
}

/** @param {string} title @param {readonly HTMLElement[]} rows */
function section(title, rows) {
  return element("table", { className: "keys" }, element("caption", { textContent: title }), element("tbody", {}, ...rows));
}

/** @param {readonly string[]} keys @param {string} text @param {HTMLElement | null} extra */
function row(keys, text, extra = null) {
  const th = element("th", { scope: "row" }, ...keys.flatMap((key) => [element("kbd", { textContent: key }), " "]));
  return element("tr", {}, th, element("td", { textContent: text }), element("td", {}, extra ?? ""));
}
