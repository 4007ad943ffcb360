/* Runs shared modules for test_twins.py: `node --import ./hooks.js twins.js FUNCTION` reads a case in
   each line, as JSON, and prints a line for each result. */

import { readFileSync } from "node:fs";

globalThis.document = { documentElement: { lang: "en" } }; // the language of the sentences

const { formatOf, modelFor, sameFormat } = await import("/static/askew/cells.js");
const { fromText, toText } = await import("/static/askew/clipboard.js");
const { check } = await import("/static/askew/contract.js");
const { Edits } = await import("/static/askew/edits.js");
const { History } = await import("/static/askew/history.js");
const { hasChanges, insertedBy, merge, removedBy } = await import("/static/askew/merged.js");
const { normalise, replay, withIds } = await import("/static/askew/operations.js");
const { holdsNumbers } = await import("/static/askew/column-facts.js");
const { describe, visible } = await import("/static/askew/words.js");
const { applyConditions, lackOf } = await import("/static/askew/conditions.js");

const FUNCTIONS = {
  /* [form, [values, ...]] -> for each, what the page sends, and whether it calls the response complete. */
  forms([html, responses]) {
    form.innerHTML = html;
    const fields = [...form.querySelectorAll("[data-field]")];
    return responses.map((values) => {
      for (const field of fields) fill(field, values[field.dataset.field]);
      applyConditions(form.querySelectorAll("[data-condition]"), fields, valueOf);
      const data = Object.fromEntries(fields.map((field) => [field.dataset.field, valueOf(field)]));
      return { data, complete: fields.every((field) => !lackOf(field, fields, valueOf)) };
    });
  },

  /* {table, variants, contract, reason, texts, column} -> what each twin makes of it; operations are those of the first variant. */
  twins({ table, variants, contract, reason, texts, column }) {
    const base = withIds(table);
    const [operations] = variants;
    const edited = replay(table, operations);
    const merged = merge(base, variants.map((variant) => replay(base, variant)));
    const line = (each) => [each.id, each.base, each.places, each.moved, removedBy(each), insertedBy(each)];
    const cells = ({ texts: shown, changes }) => [shown, [...changes].sort(([one], [other]) => one - other)];
    return {
      edited: [edited.header, edited.rows, edited.row_ids, edited.column_ids, edited.header_rows],
      net: normalise(operations, table),
      violations: check(contract, table, operations, reason),
      words: operations.map((operation) => describe(operation, table)),
      merged: merged && {
        lines: [merged.columns.map(line), merged.rows.map(line)],
        cells: [...merged.above, merged.header, ...merged.cells].map(cells),
        changed: merged.rows.map((_, at) => hasChanges(merged, at)),
      },
      formats: texts.map((text) => formatOf(text)),
      same: texts.slice(1).map((text, at) => [sameFormat(texts[at], text, column), sameFormat(null, text, column), modelFor(texts[at], text, column)]),
      visible: [...texts, ...column].map(visible),
    };
  },

  /* [table, operations] -> [code, index] of the error, or null. */
  refusal([table, operations]) {
    try {
      replay(table, operations);
      return null;
    } catch (error) {
      return [error.code, error.index];
    }
  },

  /* [table, operations] -> what is left after every second row and column was removed and restored. */
  restore([table, operations]) {
    const { base, edited } = restored(table, operations);
    return [
      restored(table, []).operations.length,
      base.row_ids.every((id) => edited.row_ids.includes(id)),
      base.column_ids.every((id) => edited.column_ids.includes(id)),
      edited.rows.every((cells) => cells.length === edited.header.length),
    ];
  },

  /* [table, gestures] -> the edits that a session of gestures leaves, with undo and redo. */
  session([table, gestures]) {
    const edits = new Edits(table);
    const history = new History();
    for (const [kind, row, column, text] of gestures) {
      if (kind === "undo" || kind === "redo") {
        const step = history[kind]({ operations: edits.operations });
        if (step) edits.become(step.operations);
        continue;
      }
      const before = edits.operations;
      const { rowIds, columnIds } = edits.state;
      const after = GESTURES[kind](edits, some(rowIds, row), some(columnIds, column), text);
      if (JSON.stringify(after) === JSON.stringify(before)) continue;
      history.did({ operations: before }, after);
      edits.become(after);
    }
    const { operations, edited } = edits;
    const session = { operations, edited: [edited.header, edited.rows, edited.row_ids, edited.column_ids] };
    edits.become(edits.withBack(removed(edits, "rows"), removed(edits, "columns")));
    session.restored = edits.operations;
    edits.become(operations);
    const undone = [];
    let step;
    while ((step = history.undo({ operations: edits.operations }))) {
      undone.push(edits.operations);
      edits.become(step.operations);
    }
    session.first = edits.operations;
    while (undone.length && (step = history.redo({ operations: edits.operations }))) {
      edits.become(step.operations);
      if (JSON.stringify(edits.operations) !== JSON.stringify(undone.pop())) session.first = "redo differs from undo";
    }
    return session;
  },

  numbers: (column) => holdsNumbers(column),

  /* Lines of cells -> the same after a copy, without and with a line end at the end. */
  clipboard: (lines) => [fromText(toText(lines)), fromText(`${toText(lines)}\r\n`)],
};

const form = process.argv[2] === "forms" ? new (await import("jsdom")).JSDOM("<form></form>").window.document.querySelector("form") : null;

function fill(field, value) {
  if (field.dataset.kind === "numbers") {
    field.querySelectorAll("input").forEach((input, place) => { input.value = value[place] ?? ""; });
    return;
  }
  if (field.dataset.kind === "text") field.value = value;
  field.querySelectorAll("select").forEach((select, place) => { select.value = value[place] ?? ""; });
  field.querySelectorAll("input").forEach((input) => { input.checked = [value].flat().includes(input.value); });
}

const valueOf = (field) => {
  if (field.dataset.kind === "text") return field.value;
  if (field.dataset.kind === "numbers") {
    const points = [...field.querySelectorAll("input")].map(({ value }) => value);
    return points.some((text) => text.trim()) ? points : [];
  }
  const values = [...field.querySelectorAll("input:checked, select")].map(({ value }) => value).filter(Boolean);
  return field.dataset.kind === "choice" ? values[0] ?? "" : values;
};

const GESTURES = {
  write: (edits, [row], [column], text) => edits.withTexts([{ row, column, text }]),
  name: (edits, _, [column], text) => edits.withTexts([{ row: edits.base.header_id, column, text }]),
  remove: (edits, rows, columns, text) => edits.without(text.length % 2 ? rows : [], text.length % 2 ? [] : columns),
  back: (edits) => edits.withBack(...["rows", "columns"].map((lines) => removed(edits, lines))),
  new: (edits, [row]) => edits.withNewRow(edits.edited.row_ids.includes(row) ? row : null)[1],
  split: (edits, _, [column], text) => edits.with(edits.edited.column_ids.includes(column)
    ? [{ op: "split_column", column, into: edits.freshIds(2).map((id, at) => (
      { column: id, header: `${text}${at}`, cells: edits.edited.rows.map(() => `${at}`) })) }]
    : []),
  mask: (edits, [row], [column], text) => edits.with(
    edits.edited.row_ids.includes(row) && edits.edited.column_ids.includes(column)
      ? [{ op: "mask_cells", cells: [[row, column]], with: text }]
      : []),
  "one back": (edits, _, __, text) => (edits.operations.length
    ? edits.withTakenBack(text.length % edits.operations.length) ?? edits.operations
    : edits.operations),
};

const removed = (edits, lines) => edits.state[lines].filter((line) => line.removed).map(({ id }) => id);
const some = (ids, at) => (ids.length ? [ids[at % ids.length]] : ["nothing"]);

function restored(table, operations) {
  const edits = new Edits(table);
  edits.begin(operations);
  const half = (ids) => ids.filter((_, at) => at % 2 === 0);
  const [rows, columns] = [half(edits.base.row_ids), half(edits.base.column_ids)];
  edits.become(edits.without(rows, columns));
  edits.become(edits.withBack(rows, columns));
  return edits;
}

const cases = readFileSync(0, "utf8").split("\n").filter(Boolean);
process.stdout.write(cases.map((each) => `${JSON.stringify(FUNCTIONS[process.argv[2]](JSON.parse(each)))}\n`).join(""));
