/* The guidelines of a kind, beside the item: open on the first visit, then as they were left, for each kind on its own.

   They are a <details> whose summary is the head of the column; a button of the bar and a key show and hide it. Where
   they would lie over the item (a small window) they wait until they are asked for. Whoever opens them stands in them
   and can scroll with the arrows; Esc closes them and goes back to where one was. */

const STORE = "askew:guidelines:";
const BESIDE = "(min-width: 75rem) and (min-height: 32rem)"; // as in askew.css: there is room for a column

export class Guidelines {
  #part;
  #button;
  #from = null;

  constructor(page) {
    this.#part = page.querySelector("[data-guidelines]");
    if (!this.#part) return;
    this.#button = page.querySelector("[data-guidelines-button]");
    this.#part.open = matchMedia(BESIDE).matches && recall(this.#part.dataset.guidelines) !== "closed";
    this.#label();
    this.#part.addEventListener("toggle", () => this.#label());
    this.#part.querySelector("summary").addEventListener("click", (event) => {
      event.preventDefault(); // there is nothing left to press once it is closed
      this.toggle(false);
    });
    this.#part.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.toggle(false);
    });
    this.#button?.addEventListener("click", () => this.toggle());
    addEventListener("resize", () => this.#fit());
  }

  get open() {
    return Boolean(this.#part?.open);
  }

  /* By a person: what they choose is kept. */
  toggle(open = !this.open) {
    if (!this.#part) return;
    if (open) this.#from = document.activeElement;
    const inside = this.#part.contains(document.activeElement);
    this.#part.open = open;
    this.#label();
    keep(this.#part.dataset.guidelines, open ? "open" : "closed");
    if (open) this.#part.querySelector(".prose").focus({ preventScroll: true });
    else if (inside) (this.#from?.isConnected && this.#from !== document.body ? this.#from : this.#button)?.focus({ preventScroll: true });
  }

  #label() {
    document.body.classList.toggle("guided", this.open);
    this.#button?.setAttribute("aria-expanded", String(this.open));
    this.#fit();
  }

  /* Words stay whole as long as the tables fit; else they break, so that no column is cut. */
  #fit() {
    const prose = this.#part.querySelector(".prose");
    const tables = [...prose.querySelectorAll("table")];
    for (const table of tables) table.classList.remove("tight");
    if (prose.scrollWidth > prose.clientWidth) for (const table of tables) table.classList.add("tight");
  }
}

function recall(kind) {
  try {
    return localStorage.getItem(STORE + kind);
  } catch {
    return null;
  }
}

function keep(kind, how) {
  try {
    localStorage.setItem(STORE + kind, how);
  } catch { /* then they open again on the next visit */ }
}
