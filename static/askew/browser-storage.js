/* What this browser keeps as texts. Where it stores nothing, nothing is there, and what is kept holds until the page is left. */

/** @param {string} key */
export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
export function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch { /* full or forbidden */ }
}
