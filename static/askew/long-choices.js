/* Choices that a phone keeps above the bar ("Of longer forms" in askew.css): where they have no room there, their first part
   is in sight, and the rest follows as the page scrolls. So they need no scrollbar of their own.

   The style sheet is given their height, as --height. */

const KEPT = ".panel > fieldset[data-kind=choices]:only-of-type, .panel > section > :is(.choices[data-kind=choices], [data-step=program], div:has(> [data-lines]))";

/* bar: what lies over the end of the window. */
/** @param {HTMLElement} form @param {Element} bar */
export function growWithPage(form, bar) {
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of /** @type {{ target: HTMLElement }[]} */ (/** @type {unknown} */ (entries))) target.style.setProperty("--height", `${target.offsetHeight}px`);
  });
  for (const choices of form.querySelectorAll(KEPT)) {
    sizes.observe(choices);
    choices.addEventListener("focusin", ({ target }) => reveal(target, choices, bar));
  }
}

/* Scroll to what has the focus below the bar: to where it is once the choices are no longer kept above. */
/** @param {HTMLElement} target @param {HTMLElement} choices @param {Element} bar */
function reveal(target, choices, bar) {
  if (getComputedStyle(choices).position !== "sticky") return;
  if (target.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top) return;
  choices.style.position = "static";
  target.scrollIntoView({ block: "nearest" });
  choices.style.position = "";
}
