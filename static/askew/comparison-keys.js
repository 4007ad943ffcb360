/* The keys of a page with an <askew-comparison>; they act wherever the focus is. */

import { t } from "./language.js";

/* Actions for keys.js; none where nothing is compared. */
/** @param {{ next(by: number): void, turn(): void } | null} comparison @returns {KeyAction[]} */
export function comparisonKeys(comparison) {
  if (!comparison) return [];
  return [
    { name: "next_change", key: "n", label: t("Next change in the table; with Shift the previous one"), run: (event) => comparison.next(event.shiftKey ? -1 : 1) },
    { name: "side_by_side", key: "v", label: t("Show two tables or one"), run: () => comparison.turn() },
  ];
}
