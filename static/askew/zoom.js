/* How large tables are shown: five steps, one choice for all tables of this browser. */

import { keep, recall } from "./browser-storage.js";

const STORE = "askew:zoom";
const STEPS = [0.75, 0.87, 1, 1.25, 1.5];
const PLAIN = STEPS.indexOf(1);

let step = remembered();
/** @type {Set<WeakRef<HTMLElement>>} */
const grids = new Set();

export const percent = () => Math.round(STEPS[step] * 100);
/** @param {number} by */
export const canZoom = (by) => step + by in STEPS;

/* Show this element's table at the chosen size, now and when the choice changes. */
/** @param {HTMLElement} grid */
export function follow(grid) {
  grids.add(new WeakRef(grid));
  grid.style.setProperty("--zoom", String(STEPS[step]));
}

/* By one step up or down; 0 is the plain size. */
/** @param {number} by */
export function zoom(by) {
  const next = by === 0 ? PLAIN : step + by;
  if (!(next in STEPS) || next === step) return;
  step = next;
  keep(STORE, String(STEPS[step]));
  for (const reference of grids) {
    const grid = reference.deref();
    if (!grid) grids.delete(reference);
    else {
      grid.style.setProperty("--zoom", String(STEPS[step]));
      grid.dispatchEvent(new CustomEvent("grid-zoom"));
    }
  }
}

function remembered() {
  const stored = STEPS.indexOf(Number(recall(STORE)));
  return stored < 0 ? PLAIN : stored;
}
