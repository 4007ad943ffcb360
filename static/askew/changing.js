/* What editing and structure share: rows and columns come and go. */

import "./edits.js";
import { counted, t } from "./language.js";
import { columnWords, sentence } from "./modes.js";
import { Pointed } from "./pointed.js";
import { count } from "./words.js";

export class Changing extends Pointed {
  /* Remove these rows and columns, or put them back where all of them are removed. */
  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  remove(rows, columns) {
    const { grid } = this;
    const { state } = grid.edits;
    const rowsHere = rows.map((id) => state.rows[grid.edits.rowPlaces.get(id)]).filter(Boolean);
    const columnsHere = columns.map((id) => state.columns[grid.edits.columnPlaces.get(id)]).filter(Boolean);
    const parts = [...rowsHere, ...columnsHere];
    if (!parts.length) return;
    if (parts.every(({ removed }) => removed)) return this.putBack(rowsHere, columnsHere);
    const forbidden = [rowsHere.length && !grid.may("remove_row") && t("Rows"), columnsHere.length && !grid.may("remove_column") && t("Columns")].filter(Boolean);
    if (forbidden.length) return grid.say(t`${forbidden.join(t(" and "))} cannot be removed here.`, { shown: true });
    this.removeAllowed(rowsHere.filter(({ removed }) => !removed), columnsHere.filter(({ removed }) => !removed));
  }

  /** @param {readonly { id: string }[]} rows @param {readonly { id: string }[]} columns @param {string} kept */
  removeAllowed(rows, columns, kept = "") {
    const { grid } = this;
    const guard = grid.guard;
    const stay = [...rows.map(({ id }) => guard.row(id)), ...columns.map(({ id }) => guard.column(id))];
    const going = rows.filter(({ id }) => !guard.row(id));
    const leaving = columns.filter(({ id }) => !guard.column(id));
    const reasons = stay.filter(Boolean).length ? this.#whyTheyStay(rows, columns) : "";
    const gone = [named(going.map(({ id }) => grid.edits.rowName(id)), "row"), named(leaving.map(({ id }) => columnWords(grid, id)), "column")].filter(Boolean);
    const said = [kept || (gone.length ? t`${sentence(gone.join(t(" and ")))} removed.` : ""), reasons].filter(Boolean).join(" ");
    if (!gone.length) return grid.say(said || t("Nothing to remove."), { shown: true });
    const operations = grid.edits.without(going.map(({ id }) => id), leaving.map(({ id }) => id));
    grid.change(operations, said, { shown: Boolean(reasons) });
  }

  /** @param {readonly { id: string }[]} rows @param {readonly { id: string }[]} columns */
  #whyTheyStay(rows, columns) {
    const { grid } = this;
    const words = [
      ...rows.map(({ id }) => ({ name: grid.edits.rowName(id), cell: grid.guard.row(id) })),
      ...columns.map(({ id }) => ({ name: columnWords(grid, id), cell: grid.guard.column(id) })),
    ].filter(({ cell }) => cell).map(({ name, cell }) => {
      const [row, column, reason] = /** @type {ProtectedCell} */ (cell);
      const why = reason === "protected" ? t("protected") : t`protected (${reason})`;
      return t`${sentence(name)} cannot be removed: ${grid.placeInWords(row, column)} is ${why}.`;
    });
    return words.length > 3 ? t`${words.slice(0, 3).join(" ")} The same applies to ${words.length - 3} more.` : words.join(" ");
  }

  /** @param {readonly { id: string }[]} rows @param {readonly { id: string }[]} columns */
  putBack(rows, columns) {
    const { grid } = this;
    const names = [named(rows.map(({ id }) => grid.edits.rowName(id)), "row"), named(columns.map(({ id }) => columnWords(grid, id)), "column")].filter(Boolean);
    const operations = grid.edits.withBack(rows.map(({ id }) => id), columns.map(({ id }) => id));
    grid.change(operations, t`${sentence(names.join(t(" and ")))} restored.`);
  }

  /** @param {"row" | "column"} what @param {readonly string[]} ids @param {boolean} removed */
  removalWords(what, ids, removed) {
    const rows = what === "row";
    if (ids.length < 2) {
      if (ids.length && removed) return rows ? t("Restore row") : t("Restore column");
      return rows ? t("Remove row") : t("Remove column");
    }
    if (removed) return rows ? counted(ids.length, "Restore {0} row", "Restore {0} rows") : counted(ids.length, "Restore {0} column", "Restore {0} columns");
    return rows ? counted(ids.length, "Remove {0} row", "Remove {0} rows") : counted(ids.length, "Remove {0} column", "Remove {0} columns");
  }
}

/** @param {readonly string[]} names @param {string} what */
export function named(names, what) {
  if (!names.length) return "";
  return names.length === 1 ? names[0] : count(names.length, what);
}
