/* The buttons over a table: those of its mode, and finding and zooming for tables in which that helps. */

import { t } from "./language.js";
import { element } from "./painting.js";
import { canZoom } from "./zoom.js";

export class Tools {
  bar = element("div", { className: "grid-tools", role: "group", ariaLabel: t("Table tools") });
  #buttons = new Map();

  /* own: [{name, label (words or a function), keys, act, off()}]; further: {find(), zoom(by)} or null;
     before() runs before a button acts, after(by mouse) when it has acted. */
  constructor(own, further, { before, after }) {
    this.before = before;
    this.after = after;
    for (const tool of own) this.#add(tool);
    if (further) {
      this.bar.append(element("span", { className: "gap" }));
      this.#add({ name: "find", label: t("Find"), keys: "Ctrl F", act: () => further.find() });
      this.#add({ name: "smaller", label: "−", title: t("Zoom out"), act: () => further.zoom(-1) });
      this.#add({ name: "larger", label: "+", title: t("Zoom in"), act: () => further.zoom(1) });
    }
  }

  /* Bring labels and states in line with the tools of the mode as they are now. */
  refresh(own) {
    for (const { name, label, off } of own) {
      const button = this.#buttons.get(name);
      if (!button) continue;
      this.#turn(button, off?.() ?? false);
      const words = typeof label === "function" ? label() : label;
      const text = button.firstChild.firstChild;
      if (text.data !== words) text.data = words;
    }
    for (const [name, by] of [["smaller", -1], ["larger", 1]]) {
      if (this.#buttons.has(name)) this.#turn(this.#buttons.get(name), !canZoom(by));
    }
  }

  #turn(button, off) {
    if (button.getAttribute("aria-disabled") !== String(off)) button.setAttribute("aria-disabled", String(off));
  }

  #add({ name, label, keys, act, title }) {
    const button = element("button", { type: "button", className: "quiet" });
    button.dataset.tool = name;
    button.append(element("span", { textContent: typeof label === "function" ? label() : label }));
    if (title) Object.assign(button, { title, ariaLabel: title });
    if (keys) button.append(element("kbd", { textContent: keys }));
    button.addEventListener("click", (event) => {
      this.before();
      if (button.getAttribute("aria-disabled") === "true") return;
      act();
      this.after(event.detail > 0);
    });
    this.bar.append(button);
    this.#buttons.set(name, button);
  }
}
