/* <askew-masking>: the columns of a table with what the table tells of how others imply them. Space removes a column
   or puts it back, and so does the digit of one that has evidence. */

import { ColumnList } from "../askew/columns.js";

class AskewMasking extends ColumnList {
  lines() {
    if (!this.table) return [];
    const left = new Set(this.grid?.edits ? this.grid.edited.column_ids : this.table.column_ids);
    let digit = 0;
    return this.table.column_ids.map((id, place) => {
      const { evidence = [], answer = false, read = false } = this.suggestions?.columns?.[id] ?? {};
      const removed = !left.has(id);
      const good = evidence.filter(({ tells, holds }) => tells && holds);
      const stands = good.some(({ sources }) => sources.every((source) => left.has(source)));
      if (good.length) digit += 1;
      return {
        id, column: id, name: this.table.header[place], now: removed ? "removed" : null,
        key: good.length && digit < 10 ? String(digit) : "",
        state: removed ? (stands ? "changed" : "look") : "",
        note: removed ? (stands ? "follows from what is left" : "does not follow from what is left") : note(evidence, good, stands, answer || read),
        details: this.#details(evidence, answer, read, removed, left),
        removed,
      };
    });
  }

  #details(evidence, answer, read, removed, left) {
    const details = evidence.map(({ words, sources, tells, holds }) => {
      const gone = sources.filter((source) => !left.has(source)).map((source) => this.grid.edits.columnName(source));
      const also = gone.length ? ` But ${gone.join(" and ")} ${gone.length > 1 ? "are" : "is"} removed, too.` : "";
      return { text: words + also, look: !holds || Boolean(gone.length) || !tells };
    });
    if (this.suggestions && !evidence.length) details.push({ text: "Nothing in the table shows that the others imply it." });
    if (answer) details.push({ text: `An answer stands in this column only${removed ? ": does it still follow?" : "."}`, look: removed });
    else if (read) details.push({ text: `The answer is worked out from this column${removed ? ": does it still follow?" : "."}`, look: removed });
    return details;
  }

  keyRows() {
    return [
      [["1 – 9"], "remove the column with that number, or put it back"],
      [["Space"], "remove the column, or put it back"],
    ];
  }

  toggle(line) {
    const { edits } = this.grid;
    if (line.removed) this.grid.change(edits.withBack([], [line.id]), `${line.name} is back.`);
    else this.grid.change(edits.without([], [line.id]), `${line.name} removed.`);
  }

  pressed(line, again) {
    if (again) this.toggle(line);
  }

  clear(line) {
    this.toggle(line);
  }

  digit(at) {
    const line = this.lines().find(({ key }) => key === String(at + 1));
    if (!line) return;
    this.go(line.id);
    this.toggle(line);
  }
}

function note(evidence, good, stands, answer) {
  const follows = stands ? "follows from others" : good.length ? "no longer follows" : hint(evidence);
  return [follows, answer ? "holds the answer" : ""].filter(Boolean).join(", ");
}

/* What the table shows of a column that cannot simply go. */
function hint(evidence) {
  if (evidence.some(({ tells }) => tells)) return "follows in some rows only";
  if (evidence.some(({ sources }) => sources.length)) return "goes with others, but they do not give it";
  return evidence.length ? "the same in every row" : "";
}

customElements.define("askew-masking", AskewMasking);
