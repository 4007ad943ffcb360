/* A question of more than two lines is set smaller; what then has no room is behind a button, so that the table keeps its share.

   The style sheet clamps (`.asked`), and only where the page fills the window: elsewhere the page scrolls and the question is
   whole. All of it is in the page for screen readers. Another question, or another width, is measured anew. */

const MOST_LINES = 2; // as in askew.css

export class LongQuestion {
  /** @type {PagePart} */
  #part;
  /** @type {PagePart} */
  #question;
  /** @type {PagePart<HTMLButtonElement>} */
  #button;
  #width = 0;

  /** @param {HTMLElement} page */
  constructor(page) {
    this.#part = page.querySelector(".subject > .asked");
    this.#question = this.#part?.querySelector(".question");
    this.#button = this.#part?.querySelector("button[data-whole-question]");
    if (!this.#button) return;
    this.#button.addEventListener("click", () => this.#open(!this.#isOpen));
    new MutationObserver(() => this.#begin()).observe(this.#question, { childList: true, characterData: true, subtree: true });
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === this.#width) return;
      this.#width = contentRect.width;
      requestAnimationFrame(() => this.#fit()); // it may change the height of what is observed
    }).observe(this.#part);
    this.#begin();
  }

  get #isOpen() {
    return this.#button.getAttribute("aria-expanded") === "true";
  }

  #begin() {
    this.#open(false);
    this.#fit();
  }

  /** @param {boolean} open */
  #open(open) {
    this.#part.toggleAttribute("data-whole", open);
    this.#button.setAttribute("aria-expanded", String(open));
    this.#button.textContent = open ? this.#button.dataset.less : this.#button.dataset.all;
  }

  #fit() {
    this.#part.removeAttribute("data-long");
    this.#part.toggleAttribute("data-long", this.#lines > MOST_LINES);
    this.#button.hidden = this.#lines <= MOST_LINES;
  }

  get #lines() {
    return Math.round(this.#question.offsetHeight / parseFloat(getComputedStyle(this.#question).lineHeight));
  }
}
