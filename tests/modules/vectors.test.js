/* The modules that exist in Python, too: the cases of tests/vectors/, which Python's tests run as well. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const { sameFormat } = await import("/static/askew/cells.js");
const { applyConditions, lackOf } = await import("/static/askew/conditions.js");
const { check } = await import("/static/askew/contract.js");
const { hasChanges, insertedBy, merge, removedBy } = await import("/static/askew/merged.js");
const { normalise, replay, withIds } = await import("/static/askew/operations.js");

const vectors = (name) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));
const CONDITIONS = vectors("conditions");
const CONTRACTS = vectors("contracts");
const MERGED = vectors("merged");

test("the same fields are asked and missing", () => {
  assert.ok(CONDITIONS.cases.length);
  for (const { name, fields, values, asked, missing, trees = {} } of CONDITIONS.cases) {
    const parts = fields.map((field) => fieldset(field, fields, trees[field.name]));
    const valueOf = ({ dataset: { field } }) => (typeof values[field] === "number" ? String(values[field]) : values[field] ?? "");
    applyConditions(parts.filter(({ dataset }) => dataset.condition), parts, valueOf);
    const names = (list) => list.map(({ dataset }) => dataset.field);
    assert.deepEqual(names(parts.filter(({ hidden }) => !hidden)), asked, name);
    assert.deepEqual(names(parts.filter((part) => lackOf(part, parts, valueOf))), missing, name);
  }
});

/* A field of a definition as conditions.js reads it from the page. */
function fieldset({ name, type, optional, when = "", different_from: differs }, fields, tree) {
  const [, other, operator, value] = /^(\w+) (\S+) (.*)$/.exec(when) ?? [];
  const isOption = fields.find((field) => field.name === other)?.options?.includes(value);
  const own = tree ?? (other && [other, operator, isOption ? value : READ[value] ?? value]);
  const condition = own && { condition: JSON.stringify(own) };
  const dataset = { field: name, label: name, ...(optional ? {} : { required: `Answer ${name}.` }), ...(differs ? { differs } : {}), ...condition };
  return { dataset, hidden: false, matches: (selector) => selector.includes("inputmode") && ["scale", "number"].includes(type), closest() { return this.hidden ? this : null; } };
}
const READ = { '"x"': "x", "01": "1" }; // as the server reads values that are no options

test("contracts find the same violations", () => {
  assert.ok(CONTRACTS.cases.length);
  for (const { name, contract, table, operations, reason = "", violations, index } of CONTRACTS.cases) {
    const codes = (list) => list.map(({ code }) => code);
    const results = check(contract, table, operations, reason);
    if (index === undefined) assert.deepEqual(results, violations, name);
    else assert.deepEqual(codes(results), codes(violations), name); // operations that do not replay: the words may differ
  }
});

test("net operations are the same", () => {
  const cases = CONTRACTS.cases.filter(({ net }) => net);
  assert.ok(cases.length);
  for (const { name, table, operations, net } of cases) assert.deepEqual(normalise(operations, withIds(table)), net, name);
});

test("formats of cells are judged the same", () => {
  assert.ok(CONTRACTS.same_format.length);
  for (const { old, new: text, column, same } of CONTRACTS.same_format) {
    assert.equal(sameFormat(old, text, column), same, JSON.stringify([old, text]));
  }
});

test("variants are merged the same", () => {
  const line = (each) => ({ ...each, removed: removedBy(each), inserted: insertedBy(each) });
  const cells = ({ texts, changes }) => ({ texts, changes: [...changes] });
  assert.ok(MERGED.cases.length);
  for (const { name, table, variants, merged: expected } of MERGED.cases) {
    const base = withIds(table);
    const merged = merge(base, variants.map((operations) => replay(base, operations)));
    const result = merged && {
      columns: merged.columns.map(line),
      rows: merged.rows.map(line),
      above: merged.above.map(cells),
      header: cells(merged.header),
      cells: merged.cells.map(cells),
      changed: merged.rows.map((_, at) => hasChanges(merged, at)),
    };
    assert.deepEqual(JSON.parse(JSON.stringify(result)), expected, name);
  }
});
