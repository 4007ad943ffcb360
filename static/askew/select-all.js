/* A checkbox that selects all checkboxes of one name in its form. Without scripts it stays hidden. */

for (const all of document.querySelectorAll("input[type=checkbox][data-selects]")) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...all.form?.elements ?? []]).filter((box) => box.name === all.dataset.selects);
  const show = () => {
    const selected = boxes.filter((box) => box.checked).length;
    all.checked = selected === boxes.length;
    all.indeterminate = selected > 0 && selected < boxes.length;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) box.addEventListener("change", show);
  show(); // going back to the page keeps what was selected
}
