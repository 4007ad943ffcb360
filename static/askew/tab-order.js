/* Tab past a table that is read at once. */

/* Tab leaves a table that is read at once unless it has long texts, and Shift+Tab comes back to it from where that led: looking for the next stop by
   itself, the browser would lay out every cell. */
/** @param {HTMLElement} sheet @param {HTMLElement} after */
export function passBy(sheet, after) {
  const stops = new WeakSet();
  const back = (/** @type {KeyPress} */ event) => {
    if (event.key !== "Tab" || !event.shiftKey || event.defaultPrevented || !sheet.isConnected) return;
    if (event.target !== event.currentTarget) return; // from within the stop the key goes back to it first
    event.preventDefault();
    sheet.focus();
  };
  after.tabIndex = -1;
  sheet.addEventListener("keydown", ({ key, shiftKey, target }) => {
    if (key !== "Tab" || shiftKey || target !== sheet) return;
    if (sheet.querySelector("table:not([data-whole]) td > .whole")) return; // the buttons of its long texts come next
    after.focus({ preventScroll: true }); // from there the key goes on
    const now = new AbortController(); // it may also leave the page: what is focused later was not reached by it
    setTimeout(() => now.abort());
    document.addEventListener("focusin", ({ target: stop }) => {
      if (stops.has(stop)) return;
      stops.add(stop);
      stop.addEventListener("keydown", back);
    }, { once: true, signal: now.signal });
  });
}
