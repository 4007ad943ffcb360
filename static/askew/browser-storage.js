/* What this browser keeps as texts. Where it stores nothing, nothing is there, and what is kept holds until the page is left. */

/** @param {string} key */
export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key */
export const isKeptOpen = (key) => recall(key) === "open";

/* What was kept as JSON, null where there is none. */
/** @param {string} key @returns {any} */
export function recallJson(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
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

/** @param {string} key */
export function forget(key) {
  try {
    localStorage.removeItem(key);
  } catch { /* what stores nothing has nothing to forget */ }
}

/* Forget what was kept under such keys as {at, ...} and nobody has come back to for 30 days. */
/** @param {string} prefix */
export function sweep(prefix) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(prefix) && !(Date.now() - recallJson(key)?.at < 30 * 86_400_000)) localStorage.removeItem(key);
    }
  } catch { /* as above */ }
}
