/* Keys of the explorer: from item to item, open, and select. The list works without it. */

import { comparisonKeys } from "./comparison-keys.js";
import { Keys, writes } from "./keys.js";
import { t } from "./language.js";
import { Ticks } from "./ticks.js";

class Explorer {
  /** @type {HTMLElement} */
  #list;
  /** @type {Ticks | null} */
  #ticks;

  /** @param {HTMLElement} list */
  constructor(list) {
    this.#list = list;
    this.#ticks = list.querySelector("#act") && new Ticks(list);
    this.keys = new Keys(list, [
      { name: "next", key: "j", label: t("Next item"), run: () => this.#move(1) },
      { name: "previous", key: "k", label: t("Previous item"), run: () => this.#move(-1) },
      ...(this.#ticks ? [{ name: "select", key: "x", label: t("Select the item"), run: (/** @type {KeyboardEvent} */ event) => this.#ticks?.toggle(this.#row, event?.shiftKey) }] : []),
      ...(this.#ticks ? [{ name: "actions", key: "a", label: t("Actions on the selected items"), run: () => this.#ticks?.choose() }] : []),
      ...(document.querySelector(".undo") ? [{ name: "undo", key: "u", label: t("Undo the last action"), run: () => document.querySelector("form.undo").requestSubmit() }] : []),
      { name: "beside", key: "o", label: t("Go to the open item, and back"), run: () => this.#cross() },
      ...comparisonKeys({ next: (by) => this.#comparison?.next(by), turn: () => this.#comparison?.turn() }),
      { name: "search", key: "/", label: t("Search"), run: () => document.querySelector("[name=q]")?.focus() },
      { name: "help", key: "?", label: t("Keyboard shortcuts"), run: () => this.keys.help() },
    ], () => /** @type {KeyTable[]} */ (/** @type {unknown} */ ([{ title: t("In the list"), rows: [[["↓", "↑"], t("Next or previous item")], [["Enter"], t("Open the item next to the list")], [["Esc"], t("Return from the open item to the list")], ...(this.#ticks ? [[[t("Shift"), "X"], t("Select up to this item")]] : [])] }])));
    document.addEventListener("keydown", (event) => this.#onArrow(event));
    this.#beside.addEventListener("keydown", (event) => event.key === "Escape" && this.#cross());
    document.body.addEventListener("htmx:afterSwap", (event) => this.#opened(/** @type {CustomEvent} */ (event).detail));
    document.querySelector("[data-all-keys]")?.addEventListener("click", () => this.keys.help());
  }

  get #links() {
    return [...this.#list.querySelectorAll("[data-item]")];
  }

  /* The item that has the focus, or else the one that is open. */
  get #at() {
    const row = document.activeElement?.closest("tr");
    return this.#links.findIndex((link) => (row ? row.contains(link) : link.closest("tr").hasAttribute("aria-current")));
  }

  get #beside() {
    return this.#list.querySelector("#beside");
  }

  /* The table with the changes of the open item, if it has one. */
  get #comparison() {
    return this.#beside.querySelector("askew-comparison");
  }

  get #row() {
    return this.#links[this.#at]?.closest("tr");
  }

  /** @param {number} step */
  #move(step) {
    const links = this.#links;
    const at = this.#at;
    links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
  }

  /* From the list to the item that is open beside it, or from there to its row. */
  #cross() {
    const beside = this.#beside;
    if (beside.contains(document.activeElement)) (this.#list.querySelector("tr[aria-current] [data-item]") ?? this.#links[0])?.focus();
    else if (beside.childElementCount) beside.focus();
  }

  /** @param {KeyPress} event */
  #onArrow(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step || this.#at < 0 || writes(event.target) || !event.target.closest?.("[data-item]")) return;
    event.preventDefault();
    this.#move(step);
  }

  /** @param {{ target: Element, requestConfig: { elt: Element } }} detail */
  #opened({ target, requestConfig }) {
    if (target.id !== "beside") return;
    for (const row of this.#list.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
    requestConfig.elt.closest("tr")?.setAttribute("aria-current", "true");
  }
}

/* Filters by number come before the list on a narrow page, so they are folded there. */
/** @param {HTMLDetailsElement} facets */
function fold(facets) {
  const narrow = matchMedia("(max-width: 60rem)");
  const show = () => { facets.open = !narrow.matches; };
  narrow.addEventListener("change", show);
  show();
}

const list = document.querySelector("[data-explorer]");
if (list) {
  new Explorer(list);
  fold(list.querySelector(".facets > details"));
}
