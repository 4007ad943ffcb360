/* What this tab remembers beside drafts. Where nothing can be stored, nothing is remembered. */

/** @param {string} key @returns {any[]} */
export function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

/** @param {string} key @param {readonly unknown[]} list */
export function remember(key, list) {
  try {
    sessionStorage.setItem(key, JSON.stringify(list.slice(-50)));
  } catch { /* then a reload forgets which submission was the last */ }
}
