/* <askew-masking>: the columns of a table with what the table tells of how others imply them: first those that the rest
   gives, then those that it gives with a gap, then the others. Space and the button of a line remove its column or put it back,
   and so does the digit of one that has evidence. */

import { t } from "../askew/language.js";
import { ColumnList } from "../askew/columns.js";

class AskewMasking extends ColumnList {
  adviceField = "does_not_apply";

  lines() {
    if (!this.table) return [];
    const left = new Set(this.grid?.edits ? this.grid.edited.column_ids : this.table.column_ids);
    let digit = 0;
    const ranks = new Map(this.table.column_ids.map((id) => [id, rank(this.suggestions?.columns?.[id])]));
    const ids = [...this.table.column_ids].sort((one, other) => ranks.get(one) - ranks.get(other));
    return ids.map((id) => {
      const place = this.table.column_ids.indexOf(id);
      /** @type {ImpliedColumn} */
      const { evidence = [], answer = false, read = false } = this.suggestions?.columns?.[id] ?? {};
      const removed = !left.has(id);
      const good = evidence.filter(({ tells, holds }) => tells && holds);
      const given = good.filter(({ sources }) => sources.every((source) => left.has(source)));
      const stands = given.some(({ short }) => !short);
      const follows = stands ? t("can be worked out from the rest") : given.length ? t("can be worked out, but not in the answer row") : t("cannot be worked out from the rest");
      if (good.length) digit += 1;
      return {
        id, column: id, name: this.table.header[place], now: removed ? t("removed") : null,
        key: good.length && digit < 10 ? String(digit) : "",
        state: removed ? (stands ? "changed" : "look") : "",
        note: removed ? follows : note(evidence, good, given, answer || read),
        act: this.#act(this.table.header[place], removed),
        details: this.#details(evidence, answer, read, removed, left),
        removed, stands,
      };
    });
  }

  /** @param {readonly MaskedLine[]} lines */
  advice(lines) {
    if (lines.some(({ stands, removed }) => stands || removed)) return "";
    return t("The table shows no column that follows from the others. If you see none either, choose “Does not apply”.");
  }

  /** @param {MaskedLine} line */
  opens({ stands }) {
    return stands;
  }

  /** @param {string} name @param {boolean} removed @returns {[label: string, name: string]} */
  #act(name, removed) {
    return removed ? [t("Restore"), t`Restore column ${name}`] : [t("Remove"), t`Remove column ${name}`];
  }

  /** @param {readonly ColumnEvidence[]} evidence @param {boolean} answer @param {boolean} read @param {boolean} removed @param {ReadonlySet<string>} left */
  #details(evidence, answer, read, removed, left) {
    /** @type {{text: string, look?: boolean}[]} */
    const details = evidence.map(({ kind, words, sources, tells, holds, short }) => {
      const gone = sources.filter((source) => !left.has(source)).map((source) => this.grid.edits.columnName(source));
      const also = !gone.length ? "" : gone.length > 1 ? t` But ${gone.join(t(" and "))} are also removed.` : t` But ${gone[0]} is also removed.`;
      const open = short && holds ? t(" But not in the answer row.") : "";
      const step = kind === "running_number" && !tells ? t(" But the rest does not give the first value.") : "";
      return { text: words + step + open + also, look: !holds || Boolean(gone.length) || !tells || Boolean(short) };
    });
    if (this.suggestions && !evidence.length) details.push({ text: t("The table does not show how to work it out.") });
    if (answer) details.push({ text: removed ? t("An answer is only in this column: can it still be worked out?") : t("An answer is only in this column."), look: removed });
    else if (read) details.push({ text: removed ? t("The answer is worked out from this column: can it still be worked out?") : t("The answer is worked out from this column."), look: removed });
    return details;
  }

  /** @returns {KeyRow[]} */
  keyRows() {
    return [
      [["1 – 9"], t("remove or restore the column with that number")],
      [["Space"], t("remove or restore the column")],
    ];
  }

  /** @param {MaskedLine} line */
  toggle(line) {
    const { edits } = this.grid;
    if (line.removed) this.grid.change(edits.withBack([], [line.id]), t`${line.name} restored.`);
    else this.grid.change(edits.without([], [line.id]), t`${line.name} removed.`);
  }

  /** @param {MaskedLine} line @param {boolean} again */
  pressed(line, again) {
    if (again) this.toggle(line);
  }

  /** @param {MaskedLine} line */
  clear(line) {
    this.toggle(line);
  }

  /** @param {number} at */
  digit(at) {
    const line = this.lines().find(({ key }) => key === String(at + 1));
    if (!line) return;
    this.go(line.id);
    this.toggle(line);
  }
}

/* How well a column can go, whatever else is removed: 0 if the rest gives it, 1 if that leaves the answer open, 2 if it does not. */
/** @param {ImpliedColumn} [column] */
function rank({ evidence = [], answer = false, read = false } = {}) {
  const good = evidence.filter(({ tells, holds }) => tells && holds);
  if (!good.length) return 2;
  return answer || read || good.every(({ short }) => short) ? 1 : 0;
}

/** @param {readonly ColumnEvidence[]} evidence @param {readonly ColumnEvidence[]} good @param {readonly ColumnEvidence[]} given @param {boolean} answer */
function note(evidence, good, given, answer) {
  const follows = given.length ? from(given) : good.length ? t("can no longer be worked out") : hint(evidence);
  return [follows, answer ? t("contains the answer") : ""].filter(Boolean).join(", ");
}

/* From what it follows: other columns, or the order of the rows; and whether that reaches the answer. */
/** @param {readonly ColumnEvidence[]} given */
function from(given) {
  const best = given.filter(({ short }) => !short);
  const what = (best.length ? best : given).some(({ sources }) => sources.length) ? t("others") : t("the order of the rows");
  return best.length ? t`can be worked out from ${what}` : t`can be worked out from ${what}, except in the answer row`;
}

/* What the table shows of a column that cannot simply go. */
/** @param {readonly ColumnEvidence[]} evidence */
function hint(evidence) {
  if (evidence.some(({ tells }) => tells)) return t("can be worked out in some rows only");
  if (evidence.some(({ sources }) => sources.length)) return t("related to other columns, but cannot be worked out");
  if (evidence.some(({ kind }) => kind === "running_number")) return t("values increase steadily; the first value cannot be worked out");
  return evidence.length ? t("the same in every row") : "";
}

customElements.define("askew-masking", AskewMasking);
