/* One table of shortcuts for the annotation page, a dialog that shows it, and what a person changed in it.

   A shortcut is a single key that acts while neither a text field nor the table has the focus. Actions come from the
   page (submit, skip, ...) and from inputs that carry data-key (the choices of a form). Each can be moved to another
   key, and all can be switched off (WCAG 2.1.4); both are kept in this browser. */

import { keep, recallJson } from "./browser-storage.js";
import { element, openDialog } from "./elements.js";
import { t } from "./language.js";
import { styled } from "./later.js";

const STORE = "askew:keys";
const DIGIT = /^[\d-]$/u;
const NUMBER = /^-?\d+$/u;

export class Keys {
  /** @type {readonly KeyAction[]} */
  #actions;
  /** @type {TypedNumber | null} */
  typed = null; // {text, group, input}: digits that may begin a longer key, set by the page's choose()

  /* actions: [{name, key, label, run(event)}]; sections() -> further tables for the dialog, [{title, rows: [[keys], text]}], or a
     promise of them. */
  /** @param {KeyPage} page @param {readonly KeyAction[]} actions @param {() => readonly KeyTable[] | Promise<readonly KeyTable[]>} sections */
  constructor(page, actions, sections = () => []) {
    this.page = page;
    this.sections = sections;
    this.#actions = actions;
    this.own = recallJson(STORE) ?? {};
    document.addEventListener("keydown", (event) => this.#onKey(event));
    this.label();
  }

  get off() {
    return Boolean(this.own.off);
  }

  /* Whether an option in one of these groups has a key of several digits: then no key of theirs alone says what is meant. */
  /** @param {readonly Element[]} groups */
  takesNumbers(groups) {
    return this.table().some(({ key, input }) => NUMBER.test(key) && key.length > 1 && groups.some((group) => group.contains(input ?? null)));
  }

  /* Every action with the key it has for this person. */
  /** @returns {KeyAction[]} */
  table() {
    const inputs = outside(this.page, "[data-key]").filter((input) => !input.closest("[hidden]")).map((input) => ({
      name: input.matches("[type=radio], [type=checkbox], button") ? `${input.name}:${input.value}` : input.name,
      key: input.dataset.key,
      label: input.dataset.label ?? input.closest("label")?.querySelector("[data-name]")?.textContent ?? input.value,
      input,
    }));
    return /** @type {KeyAction[]} */ ([...inputs, ...this.#actions]).map((action) => ({ ...action, key: this.own.keys?.[action.name] ?? action.key }));
  }

  /* The name of the page's action that a key stands for, or null; null for every key while shortcuts are off. */
  /** @param {string} key */
  nameOf(key) {
    if (this.off) return null;
    return this.table().find((action) => action.run && action.key.toLowerCase() === key.toLowerCase())?.name ?? null;
  }

  /* What a key is called on the page. */
  /** @param {string} key */
  shown(key) {
    return shown(key);
  }

  /* Write the keys onto the buttons; hide them while shortcuts are off. */
  label() {
    document.documentElement.toggleAttribute("data-keys-off", this.off);
    const keys = new Map(this.table().map((action) => [action.name, action.key]));
    for (const place of outside(this.page, "kbd[data-shortcut]")) {
      place.textContent = shown(keys.get(place.dataset.shortcut) ?? place.textContent);
    }
    for (const place of outside(this.page, ":is(label, button, a, summary) kbd")) this.#leaveOutOfName(place);
    for (const place of outside(this.page, "[data-key-tip]")) this.#entitle(place, keys.get(place.dataset.keyTip));
  }

  /* The key on a control is no part of its name: a screen reader tells it as the shortcut. */
  /** @param {HTMLElement} place */
  #leaveOutOfName(place) {
    place.ariaHidden = "true";
    const control = place.closest("label")?.control ?? place.closest("button, a, summary");
    if (control) control.ariaKeyShortcuts = this.off ? null : place.textContent;
  }

  /* Controls that are not pressed per item show no key; a pointer over them and a screen reader tell it. */
  /** @param {HTMLElement} place @param {string | undefined} key */
  #entitle(place, key) {
    const title = place.dataset.title ??= place.title;
    const words = key && !this.off ? t`Key: ${shown(key)}` : "";
    place.title = [title, words].filter(Boolean).join(" ");
    place.ariaKeyShortcuts = key && words ? shown(key) : null;
  }

  /* A dialog with all keys. It is there at once and takes the keys; what stands in it is fetched then (all-keys.js). */
  async help() {
    const body = element("div", { className: "help-body" });
    const dialog = openDialog("all-keys", t("Keyboard shortcuts"), body);
    try {
      const { AllKeys } = await styled(() => import("./all-keys.js"));
      new AllKeys(this, dialog, body, await this.sections()).fill();
    } catch (problem) {
      body.replaceChildren(element("p", { className: "notice problem", textContent: t("The server cannot be reached.") }));
      throw problem;
    }
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    const { typed } = this;
    if (!event.repeat && event.key !== "Shift") this.typed = null;
    if (this.off && event.key !== "Escape") return;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || writes(event.target)) return;
    // Enter has its own meaning on what can be pressed; on a choice it has none that anybody wants.
    if (event.key === "Enter" && event.target.closest("button, a, summary, input:not([type=radio], [type=checkbox])")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const { text = key, found, goesOn = null } = this.#matching(key, typed);
    if (!found.length) return;
    // In an open panel nothing answers the item that lies behind it.
    if (event.target.closest("details[data-panel][open]") && (!found[0].run || found[0].name === "submit")) return;
    event.preventDefault();
    if (event.repeat || this.page.commits?.ignores(key)) return;
    if (typed && key === "Enter" && this.page.endNumber?.(typed)) return;
    if (found[0].run) found[0].run(event);
    else this.page.choose?.(found, text, goesOn);
  }

  /* What a key stands for. The keys of many options are numbers of several digits: a digit that goes on with the number typed
     so far belongs to it, and any other one begins anew. */
  /** @param {string} key @param {TypedNumber | null} typed @returns {{ text?: string, found: KeyAction[], goesOn?: TypedNumber }} */
  #matching(key, typed) {
    const table = this.table();
    /** @param {string} text */
    const beginning = (text) => table.filter(({ key: own, input }) => input && NUMBER.test(own) && own.startsWith(text));
    const longer = typed && DIGIT.test(key) ? beginning(typed.text + key).filter(({ input }) => typed.group.contains(input ?? null)) : [];
    if (typed && longer.length) return { text: typed.text + key, found: longer, goesOn: typed };
    const numbers = DIGIT.test(key) ? beginning(key) : [];
    return { found: numbers.length ? numbers : table.filter((action) => action.key.toLowerCase() === key.toLowerCase()) };
  }

  /** @param {OwnKeys} own */
  keep(own) {
    this.own = own;
    keep(STORE, JSON.stringify(own));
    this.label();
  }
}

/* What of a page matches, but for what is in its tables: those may hold a hundred thousand elements. */
/** @param {HTMLElement} page @param {string} selector @returns {PagePart<HTMLInputElement>[]} */
export function outside(page, selector) {
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_ELEMENT, (node) => {
    const part = /** @type {HTMLInputElement} */ (node);
    if (part.localName === "askew-grid") return NodeFilter.FILTER_REJECT;
    return part.matches(selector) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  });
  const found = [];
  while (walker.nextNode()) found.push(/** @type {PagePart<HTMLInputElement>} */ (walker.currentNode));
  return found;
}

/* True where letters and digits belong to what has the focus. */
/** @param {EventTarget | null} target */
export function writes(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("[role=grid], textarea, select, [contenteditable=true]")) return true;
  return target.matches("input:not([type=radio], [type=checkbox], [type=button], [type=submit])");
}

/** @type {Record<string, string>} */
const NAMES = { " ": "Space", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
/** @param {string} key */
const shown = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
