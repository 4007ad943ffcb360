/* Folded parts of a form (<details data-fold>): the hidden field `open` in each is sent while it is open, so that a form that
   failed comes back with the same parts open. */

for (const fold of document.querySelectorAll("details[data-fold]")) {
  const field = fold.querySelector("input[name=open]");
  const note = () => { field.disabled = !fold.open; };
  fold.addEventListener("toggle", note);
  note();
}
