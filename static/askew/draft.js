/* The copy of a response that this browser keeps, until the server has confirmed the same content.

   It is written with every change, so neither a dead server nor a closed lid loses a key. It then stays for a minute: a page
   that the server made just before, and that is shown just after, knows of no draft. */

import { forget as forgetText, recallJson, sweep as sweepTexts } from "./browser-storage.js";

const OVERTAKEN = 60_000; // ms that a page may be older than the draft saved last
const PREFIX = "askew:draft:";
/** @type {Map<string, Copy>} */
const onPage = new Map(); // where the browser stores none

/**
 * @typedef {ResponseBody} Response
 * @typedef {{revision: number, response: Response | null, at: number, unheard: number[], saved?: boolean}} Copy
 *   `unheard`: digests of responses whose answer nobody has heard; `saved`: the server has it as this revision
 */

/**
 * @param {string} id  of the assignment
 * @param {Copy} copy
 */
export function keep(id, copy) {
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify(copy));
    onPage.delete(id);
  } catch { // full or forbidden: until the page is left, it is on the page alone
    onPage.set(id, copy);
  }
}

/**
 * The copy of an assignment's response, or null.
 * @param {string} id
 * @returns {Copy | null}
 */
export function copyOf(id) {
  const copy = onPage.get(id) ?? recallJson(PREFIX + id);
  return copy?.saved && Date.now() - copy.at > OVERTAKEN ? null : copy;
}

/** The assignment is done: its copy goes. @param {string} id */
export function forget(id) {
  onPage.delete(id);
  forgetText(PREFIX + id);
}

/** Delete copies that nobody has come back to. */
export const sweep = () => sweepTexts(PREFIX);

/** Equal as JSON, whatever the order of keys: a database may sort them. @param {unknown} one @param {unknown} other */
export function same(one, other) {
  return sorted(one) === sorted(other);
}

/** A number that tells responses apart, whatever the order of keys: two hashes of 26 bits in one. @param {unknown} value */
export function digest(value) {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (const letter of sorted(value)) {
    const code = letter.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995) + one | 0;
  }
  return (one >>> 6) * 2 ** 26 + (other >>> 6);
}

/** @param {unknown} value @returns {string} */
function sorted(value) {
  return JSON.stringify(value, (_, part) => (
    part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  ));
}
