/* The row of buttons over a table: icons of the mode's tools with their names where there is room, and a menu that lists
   all of them with their keys, finding and zooming. */

import { icon } from "./icons.js";
import { t } from "./language.js";
import { element } from "./elements.js";
import { canZoom } from "./zoom.js";

const KNOWN = new Set(["undo", "redo", "restore", "find"]); // an icon is enough: every editor has it

let numbers = 0;

export class Tools {
  bar = element("div", { className: "grid-tools", role: "group", ariaLabel: t("Table tools") });
  /** @type {Map<string, HTMLElement[]>} */
  #buttons = new Map(); // name -> the button in the row and its line in the menu
  /** @type {HTMLElement | undefined} */
  #menu;
  /** @type {HTMLElement} */
  #where;

  /* own: [{name, label (words or a function), keys, act, off()}]; further: {find(), zoom(by)} or null; where: an element
     that names the current cell, in the same row; before() runs before a button acts, after(by mouse) when it has acted. */
  /** @param {readonly Tool[]} own @param {FurtherTools | null} further @param {HTMLElement} where @param {{ before(): void, after(byMouse: boolean): void }} calls */
  constructor(own, further, where, { before, after }) {
    this.before = before;
    this.after = after;
    this.#where = where;
    for (const tool of own) this.#add(tool);
    this.bar.append(where);
    if (further) {
      this.#add({ name: "find", label: t("Find"), keys: "Ctrl F", act: () => further.find() });
      this.#addMenu(own, further);
    }
  }

  /* Bring labels and states in line with the tools of the mode as they are now. */
  /** @param {readonly Tool[]} own */
  refresh(own) {
    for (const { name, label, off } of own) {
      for (const button of this.#buttons.get(name) ?? []) {
        this.#turn(button, off?.() ?? false);
        this.#name(button, typeof label === "function" ? label() : label);
      }
    }
    for (const [name, by] of /** @type {const} */ ([["smaller", -1], ["larger", 1]])) {
      for (const button of this.#buttons.get(name) ?? []) this.#turn(button, !canZoom(by));
    }
    this.bar.hidden = !this.#buttons.size && !this.#where.textContent;
  }

  /** @param {HTMLElement} button @param {boolean} off */
  #turn(button, off) {
    if (button.getAttribute("aria-disabled") !== String(off)) button.setAttribute("aria-disabled", String(off));
  }

  /** @param {HTMLElement} button @param {string} words */
  #name(button, words) {
    const text = /** @type {Text} */ (button.querySelector("span").firstChild);
    if (text.data === words) return;
    text.data = words;
    if (button.title) button.title = titled(words, button.dataset.keys);
  }

  /** @param {Tool} tool */
  #add({ name, label, keys, act }) {
    const words = typeof label === "function" ? label() : label;
    const button = this.#button(name, words, act);
    const drawn = icon(name);
    if (drawn) {
      button.prepend(drawn);
      if (KNOWN.has(name)) button.classList.add("icon-only");
    }
    if (keys) button.dataset.keys = keys;
    button.title = titled(words, keys);
    this.bar.append(button);
    this.#buttons.set(name, [button]);
  }

  /** @param {string} name @param {string} words @param {() => void} act */
  #button(name, words, act) {
    const button = element("button", { type: "button", className: "quiet", dataset: { tool: name } }, element("span", { textContent: words }));
    button.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      this.before();
      if (button.getAttribute("aria-disabled") === "true") return;
      if (name !== "smaller" && name !== "larger") this.#menu?.hidePopover();
      act();
      if (!this.#menu?.contains(button)) this.after(event.detail > 0);
      else if (event.detail > 0 && !this.#menu.matches(":popover-open")) this.after(true);
    });
    return button;
  }

  /** @param {readonly Tool[]} own @param {FurtherTools} further */
  #addMenu(own, further) {
    numbers += 1;
    const menu = this.#menu = element("div", { className: "tool-menu", id: `tool-menu-${numbers}`, popover: "auto", role: "group", ariaLabel: t("Table tools") });
    const lines = [
      ...own,
      { name: "find", label: t("Find"), keys: "Ctrl F", act: () => further.find() },
      { name: "larger", label: t("Zoom in"), keys: "Ctrl +", act: () => further.zoom(1) },
      { name: "smaller", label: t("Zoom out"), keys: "Ctrl −", act: () => further.zoom(-1) },
    ];
    for (const { name, label, keys, act } of lines) {
      const line = this.#button(name, typeof label === "function" ? label() : label, act);
      line.dataset.menu = line.dataset.tool;
      delete line.dataset.tool;
      line.prepend(icon(name) ?? element("i"));
      if (keys) line.append(element("kbd", { ariaHidden: "true", textContent: keys }));
      menu.append(line);
      this.#buttons.set(name, [...this.#buttons.get(name) ?? [], line]);
    }
    const contents = [/** @type {Node} */ (icon("more")), element("span", { textContent: t("More tools") })];
    const opener = element("button", { type: "button", className: "quiet icon-only", title: t("More tools"), popoverTargetElement: menu }, ...contents);
    menu.addEventListener("beforetoggle", (/** @type {ToggleEvent} */ { newState }) => newState === "open" && this.#place(menu, opener));
    this.bar.append(opener, menu);
  }

  /* Below its button, as far to the right as the window allows. */
  /** @param {HTMLElement} menu @param {HTMLElement} opener */
  #place(menu, opener) {
    const { bottom, right } = opener.getBoundingClientRect();
    menu.style.insetBlockStart = `${bottom + 4}px`;
    menu.style.insetInlineEnd = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
  }
}

/** @param {string} words @param {string | undefined} keys */
const titled = (words, keys) => (keys ? `${words} (${keys})` : words);
