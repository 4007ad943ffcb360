/* The guidelines of a task type, in a drawer beside the item: open for the first items, then closed, one key away.

   They are a <details> whose summary is the head of the drawer. A button of the bar and a key open and close it; what a
   person chooses counts from then on, for each task type on its own. Where the drawer would cover the item (a small
   window) it stays closed until it is asked for. Opening it moves the focus into the text, which scrolls with the arrow
   keys; Esc closes it and goes back. A field at its head searches the text (guidelines-search.js), and the paragraph about
   the chosen option is highlighted (guidelines-terms.js). Closed, in whatever way, it gives the focus back to where keys act. */

import { keep, recall } from "./browser-storage.js";
import { Terms } from "./guidelines-terms.js";
import { later } from "./later.js";

const STORE = "askew:guidelines:";
const COUNT = "askew:guidelines-items:";
const FIRST_ITEMS = 3; // submitted items of a task type after which its guidelines close
const BESIDE = "(min-width: 75rem) and (min-height: 32rem)"; // as in askew.css: there is room for a column

export class Guidelines {
  /** @type {PagePart<HTMLDetailsElement>} */
  #part;
  /** @type {PagePart} */
  #prose = /** @type {never} */ (undefined);
  /** @type {PagePart} */
  #button = /** @type {never} */ (undefined);
  #input = /** @type {HTMLInputElement} */ (/** @type {never} */ (undefined));
  #search = later(() => this.#page.status.fetched(async () => {
    const { Search } = await import("./guidelines-search.js");
    return new Search(this.#part.querySelector("[data-search]"), this.#prose);
  }));
  /** @type {Terms} */
  #terms = /** @type {never} */ (undefined);
  /** @type {HTMLElement | null} */
  #from = null; // what had the focus last, outside the drawer and its button
  #page;

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.#page = page;
    this.#part = page.querySelector("details[data-guidelines]");
    if (!this.#part) return;
    this.#prose = this.#part.querySelector(".prose");
    this.#button = page.querySelector("[data-guidelines-button]");
    const bar = this.#part.querySelector("[data-search]");
    this.#input = bar.querySelector("input");
    this.#input.addEventListener("input", (event) => {
      event.stopPropagation(); // it is nothing about the item
      this.#find();
    });
    bar.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.#go(Number(button.value));
    });
    this.#terms = new Terms(this.#prose);
    this.#label();
    this.#part.addEventListener("toggle", () => this.#label());
    this.#part.querySelector("summary").addEventListener("click", (event) => {
      event.preventDefault(); // there is nothing left to press once it is closed
      this.toggle(false);
    });
    this.#part.addEventListener("keydown", (event) => this.#onKey(event));
    this.#button?.addEventListener("click", () => this.toggle());
    for (const kind of ["change", "focusin"]) {
      page.addEventListener(kind, ({ target }) => this.#point(/** @type {HTMLInputElement} */ (target)));
    }
    page.addEventListener("focusin", ({ target }) => {
      if (target !== this.#button && !this.#part.contains(target)) this.#from = target;
    });
    new ResizeObserver(() => this.#fit()).observe(this.#prose);
  }

  get open() {
    return Boolean(this.#part?.open);
  }

  /* Another item is shown: `submitted` items of its batch are done. What a person chose stays; nothing closes under them. */
  /** @param {number} submitted */
  begin(submitted) {
    if (!this.#part) return;
    this.#terms.clear();
    const choice = recall(STORE + this.#kind);
    const items = Math.max(submitted, Number(recall(COUNT + this.#kind)) || 0);
    const isShort = this.#prose.textContent.trim() === this.#page.querySelector(".instruction").textContent.trim(); // it is said above
    const opens = !isShort && matchMedia(BESIDE).matches && (choice === null ? items < FIRST_ITEMS : choice !== "closed");
    if (opens === this.open || this.#part.contains(document.activeElement)) return;
    this.#part.open = opens;
    this.#label();
  }

  /* What is chosen in the panel when an item comes, which begins at its top. */
  /** @param {HTMLElement} panel */
  pointAtChoices(panel) {
    if (!this.#part) return;
    for (const input of panel.querySelectorAll("[data-field] input:checked")) this.#point(input, { scrolls: false });
  }

  /* An item of this task type is submitted. */
  count() {
    if (this.#part) keep(COUNT + this.#kind, String((Number(recall(COUNT + this.#kind)) || 0) + 1));
  }

  /* By a person: what they choose is kept. */
  toggle(open = !this.open) {
    if (!this.#part) return;
    const { activeElement } = document;
    const isAway = activeElement === this.#button || activeElement === document.body || this.#part.contains(activeElement);
    this.#part.open = open;
    this.#label();
    keep(STORE + this.#kind, open ? "open" : "closed");
    if (open) this.#prose.focus({ preventScroll: true });
    else if (isAway) this.#goBack();
  }

  #goBack() {
    if (this.#from?.isConnected) this.#from.focus({ preventScroll: true });
    if (document.activeElement !== this.#from) this.#page.focusStart();
  }

  get #kind() {
    return this.#part.dataset.guidelines;
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#leave();
    } else if (event.key === "/" && !event.target.matches("input")) {
      event.preventDefault();
      event.stopPropagation();
      this.#input.focus();
      this.#input.select();
    } else if (event.key === "Enter" && event.target === this.#input && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      this.#go(event.shiftKey ? -1 : 1);
    }
  }

  /* Empty the field and go back to the text, or close the drawer where there is nothing to leave. */
  #leave() {
    if (document.activeElement !== this.#input && !this.#input.value) return void this.toggle(false);
    this.#input.value = "";
    this.#find();
    this.#prose.focus({ preventScroll: true });
  }

  /* What is typed and pressed before the module has come is done once it is there, in that order. */
  async #find() {
    (await this.#search()).find();
  }

  /** @param {number} step */
  async #go(step) {
    (await this.#search()).go(step);
  }

  /* The option that is chosen, or the one that has the focus. */
  /** @param {HTMLInputElement} input @param {{ scrolls?: boolean }} [how] */
  #point(input, how) {
    if (!input.matches?.(".panel input:is([type=radio], [type=checkbox])")) return;
    const unticked = input.type === "checkbox" && !input.checked && document.activeElement !== input;
    if (unticked) this.#terms.clear();
    else this.#terms.show(input, how);
  }

  #label() {
    document.body.classList.toggle("guided", this.open);
    this.#still();
    this.#button?.setAttribute("aria-expanded", String(this.open));
    this.#fit();
    if (this.open) this.#terms.scroll();
  }

  /* In a small window the page behind does not scroll (askew.css); the room of its scrollbar stays, so that nothing moves. */
  #still() {
    const root = document.documentElement;
    if (root.hasAttribute("data-guided") === this.open) return;
    if (this.open) root.style.setProperty("--scrollbar", `${innerWidth - root.clientWidth}px`);
    root.toggleAttribute("data-guided", this.open);
  }

  /* Words stay whole as long as the tables fit; else they break, so that no column is cut. */
  #fit() {
    const tables = [...this.#prose.querySelectorAll("table")];
    for (const table of tables) table.classList.remove("tight");
    if (this.#prose.scrollWidth > this.#prose.clientWidth) for (const table of tables) table.classList.add("tight");
  }
}
