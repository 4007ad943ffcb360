/* What changed between two wordings of a text, word by word. Blanks between words belong to the word before them. */

import { element } from "./elements.js";

const WORD = /[\p{L}\p{M}\p{N}_]+(?:['’.,-][\p{L}\p{M}\p{N}_]+)*\s*|[^\s\p{L}\p{M}\p{N}_]\s*|\s+/gu;
const MOST = 400_000; // comparisons; texts beyond that are shown as replaced as a whole

/* [{kind: "same" | "removed" | "added", text}]: "same" and "removed" together are the old text (but for blanks),
   "same" and "added" the new one. */
/** @param {string} before @param {string} after */
export function changesOfWords(before, after) {
  const old = before.match(WORD) ?? [];
  const now = after.match(WORD) ?? [];
  let start = 0;
  while (start < old.length && start < now.length && alike(old[start], now[start])) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && alike(old[old.length - 1 - end], now[now.length - 1 - end])) end += 1;
  /** @type {{ kind: string, text: string }[]} */
  const parts = [];
  /** @param {string} kind @param {readonly string[]} texts */
  const put = (kind, texts) => {
    if (!texts.length) return;
    if (parts.at(-1)?.kind === kind) parts.at(-1).text += texts.join("");
    else parts.push({ kind, text: texts.join("") });
  };
  put("same", now.slice(0, start));
  for (const [kind, texts] of middle(old.slice(start, old.length - end), now.slice(start, now.length - end))) put(kind, texts);
  put("same", now.slice(now.length - end));
  return parts;
}

/* Draw a wording into a place: what is gone struck through, what is new marked. As text, like everything. */
/** @param {HTMLElement} place @param {string} before @param {string} after */
export function drawWording(place, before, after) {
  place.replaceChildren(...changesOfWords(before, after).flatMap(({ kind, text }) => {
    if (kind === "same") return [text];
    const word = text.trimEnd();
    return [element(kind === "removed" ? "del" : "ins", { textContent: word }), text.slice(word.length)];
  }));
}

/* Case does not count as a change, as in tableqa.perturbations.wording. */
/** @param {string} one @param {string} other */
const alike = (one, other) => one.trimEnd().toLowerCase() === other.trimEnd().toLowerCase();

/* The longest common subsequence, removals before additions. */
/** @param {readonly string[]} old @param {readonly string[]} now @returns {(readonly [kind: string, texts: readonly string[]])[]} */
function middle(old, now) {
  if (old.length * now.length > MOST) return [["removed", old], ["added", now]];
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = alike(old[i], now[j]) ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  /** @type {(readonly [string, readonly string[]])[]} */
  const steps = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && alike(old[i], now[j])) {
      steps.push(["same", [now[j]]]);
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      steps.push(["removed", [old[i]]]);
      i += 1;
    } else {
      steps.push(["added", [now[j]]]);
      j += 1;
    }
  }
  return steps;
}
