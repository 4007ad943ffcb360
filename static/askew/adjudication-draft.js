/* What an adjudicator has chosen and written about an item, kept in this browser until the item is decided.

   {choose: [letters], back: letter, note, exclude, back_note, at}; the pages of an item and of an own response share it. */

import { keep, recall } from "./browser-storage.js";

const PREFIX = "askew:adjudication:";
const KEPT = 30 * 86_400_000; // ms

/** @type {("note" | "exclude" | "back_note")[]} */
export const WRITTEN = ["note", "exclude", "back_note"];

/** @param {string} item @returns {AdjudicationDraft | null} */
export function draftOf(item) {
  try {
    return JSON.parse(recall(PREFIX + item));
  } catch {
    return null;
  }
}

/* Keep a draft; an empty one is removed. */
/** @param {string} item @param {AdjudicationDraft} draft */
export function keepDraft(item, draft) {
  if (!draft.choose?.length && !WRITTEN.some((name) => draft[name])) return forgetDraft(item);
  keep(PREFIX + item, JSON.stringify({ ...draft, at: Date.now() }));
}

/** @param {string} item */
export function forgetDraft(item) {
  try {
    localStorage.removeItem(PREFIX + item);
  } catch { /* as above */ }
}

/* Remove drafts of items that were left a month ago. */
export function sweepDrafts() {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX) && !(Date.now() - JSON.parse(localStorage.getItem(key)).at < KEPT)) localStorage.removeItem(key);
    }
  } catch { /* as above */ }
}
