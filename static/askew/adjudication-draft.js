/* What an adjudicator has chosen and written about an item, kept in this browser until the item is decided.

   {choose: [letters], back: letter, note, exclude, back_note, at}; the pages of an item and of an own response share it. */

import { forget, keep, recallJson, sweep } from "./browser-storage.js";

const PREFIX = "askew:adjudication:";

/** @type {("note" | "exclude" | "back_note")[]} */
export const WRITTEN = ["note", "exclude", "back_note"];

/** @param {string} item @returns {AdjudicationDraft | null} */
export const draftOf = (item) => recallJson(PREFIX + item);

/* Keep a draft; an empty one is removed. */
/** @param {string} item @param {AdjudicationDraft} draft */
export function keepDraft(item, draft) {
  if (!draft.choose?.length && !WRITTEN.some((name) => draft[name])) return forgetDraft(item);
  keep(PREFIX + item, JSON.stringify({ ...draft, at: Date.now() }));
}

/** @param {string} item */
export const forgetDraft = (item) => forget(PREFIX + item);

/* Remove drafts of items that were left a month ago. */
export const sweepDrafts = () => sweep(PREFIX);
