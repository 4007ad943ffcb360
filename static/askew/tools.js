/* The row of buttons over a table: icons of the mode's tools with their names where there is room, and a menu that lists
   all of them with their keys, finding and zooming. */

import { icon } from "./icons.js";
import { t } from "./language.js";
import { element } from "./painting.js";
import { canZoom } from "./zoom.js";

const KNOWN = new Set(["undo", "redo", "restore", "find"]); // an icon is enough: every editor has it

let numbers = 0;

export class Tools {
  bar = element("div", { className: "grid-tools", role: "group", ariaLabel: t("Table tools") });
  #buttons = new Map(); // name -> the button in the row and its line in the menu
  #menu = null;
  #where;

  /* own: [{name, label (words or a function), keys, act, off()}]; further: {find(), zoom(by)} or null; where: an element
     that names the current cell, in the same row; before() runs before a button acts, after(by mouse) when it has acted. */
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
  refresh(own) {
    for (const { name, label, off } of own) {
      for (const button of this.#buttons.get(name) ?? []) {
        this.#turn(button, off?.() ?? false);
        this.#name(button, typeof label === "function" ? label() : label);
      }
    }
    for (const [name, by] of [["smaller", -1], ["larger", 1]]) {
      for (const button of this.#buttons.get(name) ?? []) this.#turn(button, !canZoom(by));
    }
    this.bar.hidden = !this.#buttons.size && !this.#where.textContent;
  }

  #turn(button, off) {
    if (button.getAttribute("aria-disabled") !== String(off)) button.setAttribute("aria-disabled", String(off));
  }

  #name(button, words) {
    const text = button.querySelector("span").firstChild;
    if (text.data === words) return;
    text.data = words;
    if (button.title) button.title = titled(words, button.dataset.keys);
  }

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

  #button(name, words, act) {
    const button = element("button", { type: "button", className: "quiet" });
    button.dataset.tool = name;
    button.append(element("span", { textContent: words }));
    button.addEventListener("click", (event) => {
      this.before();
      if (button.getAttribute("aria-disabled") === "true") return;
      if (name !== "smaller" && name !== "larger") this.#menu?.hidePopover();
      act();
      if (!this.#menu?.contains(button)) this.after(event.detail > 0);
      else if (event.detail > 0 && !this.#menu.matches(":popover-open")) this.after(true);
    });
    return button;
  }

  #addMenu(own, further) {
    numbers += 1;
    this.#menu = element("div", { className: "tool-menu", id: `tool-menu-${numbers}`, popover: "auto", role: "group", ariaLabel: t("Table tools") });
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
      this.#menu.append(line);
      this.#buttons.set(name, [...this.#buttons.get(name) ?? [], line]);
    }
    const opener = element("button", { type: "button", className: "quiet icon-only", title: t("More tools") });
    opener.popoverTargetElement = this.#menu;
    opener.append(icon("more"), element("span", { textContent: t("More tools") }));
    this.#menu.addEventListener("beforetoggle", ({ newState }) => newState === "open" && this.#place(opener));
    this.bar.append(opener, this.#menu);
  }

  /* Below its button, as far to the right as the window allows. */
  #place(opener) {
    const { bottom, right } = opener.getBoundingClientRect();
    this.#menu.style.insetBlockStart = `${bottom + 4}px`;
    this.#menu.style.insetInlineEnd = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
  }
}

const titled = (words, keys) => (keys ? `${words} (${keys})` : words);
