/* Modules that the grid consists of, without a page. test_twins.py compares others with Python. */

import assert from "node:assert/strict";
import { test } from "node:test";

const { fromText } = await import("/static/askew/clipboard.js");
const { Edits } = await import("/static/askew/edits.js");
const { Cells } = await import("/static/askew/selection.js");

for (const [text, lines] of [
  ["a", [["a"]]],
  ["a\tb\r\nc\td\r\n", [["a", "b"], ["c", "d"]]],
  ["a\rb", [["a"], ["b"]]],
  ['"a\tb"\tc', [["a\tb", "c"]]],
  ['"a ""quoted"" one"', [['a "quoted" one']]],
  ['"not closed\tb', [['"not closed', "b"]]],
  ['"a" and more\tb', [['"a" and more', "b"]]],
  ['5" disk', [['5" disk']]],
  ["", [[""]]],
  ["\t", [["", ""]]],
  ["a\n\nb", [["a"], [""], ["b"]]],
]) {
  test(`a text of a spreadsheet is split into cells: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(fromText(text), lines);
  });
}

test("a set of cells is given in the order of the table", () => {
  const cells = Cells.of([["r2", "c1"], ["r0", "c1"], ["r2", "c0"], ["gone", "c0"]]);
  const more = cells.with(["r0", "r1"], ["c0"]);
  const less = more.with(["r2"], ["c0", "c1"], false);
  const places = new Map([["r0", 0], ["r1", 1], ["r2", 2]]);
  const inOrder = (some) => some.pairs(places, ["c0", "c1"]).map((pair) => pair.join("/")).join(" ");
  assert.equal(inOrder(cells), "r0/c1 r2/c0 r2/c1");
  assert.equal(inOrder(more), "r0/c0 r0/c1 r1/c0 r2/c0 r2/c1");
  assert.equal(inOrder(less), "r0/c0 r0/c1 r1/c0");
  assert.equal(more.size, 6);
  assert.ok(more.hasAll(["r0", "r2"], ["c0", "c1"]));
  assert.deepEqual([...Cells.between(cells, more)], ["r0", "r1"]);
});

const DASHES = { header: ["a", "b"], rows: [["1-2", "x"], ["3-4", "y"], ["5-6", "z"]] };
const split = (edits) => edits.with([{ op: "split_column", column: "c0", into: [0, 1].map((part) => ({
  column: `n${part + 1}`, header: `part ${part}`, cells: edits.edited.rows.map(([text]) => text.split("-")[part]),
})) }]);
const names = (edits) => edits.operations.map(({ op }) => op);

test("a row that is removed after a split has its parts again when it is restored", () => {
  const edits = new Edits(DASHES);
  edits.become(split(edits));
  const before = structuredClone(edits.operations);
  edits.become(edits.without(["r1"], []));
  edits.become(edits.withBack(["r1"], []));
  assert.deepEqual(edits.operations, before);
});

test("a row that is removed before a split has empty parts when it is restored", () => {
  const edits = new Edits(DASHES);
  edits.become(edits.without(["r1"], ["c1"]));
  edits.become(split(edits));
  edits.become(edits.withBack(["r1"], []));
  assert.deepEqual(names(edits), ["remove_column", "split_column"]);
  assert.deepEqual(edits.edited.rows, [["1", "2"], ["", ""], ["5", "6"]]);
  edits.become(edits.withBack([], ["c1"]));
  assert.deepEqual(names(edits), ["split_column"]);
  assert.deepEqual(edits.edited.header, ["part 0", "part 1", "b"]);
  assert.deepEqual(edits.edited.rows, [["1", "2", "x"], ["", "", "y"], ["5", "6", "z"]]);
});
