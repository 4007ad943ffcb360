/* A menu (<details class="menu">, and those of the explorer and beside figures) closes with Escape, with a click elsewhere, and when the focus leaves it. */

/** @returns {NodeListOf<HTMLDetailsElement>} */
const open = () => document.querySelectorAll("details.menu[open], details.figure-menu[open], .explorer details.pop[open], .saved-views > details[open]");

document.addEventListener("click", ({ target }) => {
  for (const menu of open()) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});
document.addEventListener("focusin", ({ target }) => {
  for (const menu of open()) if (!menu.contains(target)) menu.open = false;
});
/* The event does not bubble. */
document.addEventListener(
  "toggle",
  (event) => {
    const target = /** @type {HTMLDetailsElement} */ (event.target);
    if (!target.matches("details.menu")) return;
    target.classList.remove("to-the-left");
    if (target.open) target.classList.toggle("to-the-left", /** @type {Element} */ (target.lastElementChild).getBoundingClientRect().right > document.documentElement.clientWidth);
  },
  true,
);

/* A row of pages that is too long for the window shows the current one whole. */
for (const current of document.querySelectorAll(".places .line > ul > li:has(> :is([aria-current], [data-current]))")) {
  const row = current.parentElement;
  const [shown, item] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
  if (item.right > shown.right || item.left < shown.left) row.scrollLeft += item.right - shown.right;
}
