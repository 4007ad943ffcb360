/* Modules that the grid consists of, without a page. test_twins.py compares others with Python. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const { formatOf } = await import("/static/askew/cells.js");
const { fromText } = await import("/static/askew/clipboard.js");
const { Edits } = await import("/static/askew/edits.js");
const { History } = await import("/static/askew/history.js");
const { Cells } = await import("/static/askew/selection.js");

for (const [text, lines] of [
  ["a", [["a"]]],
  ["a\tb\r\nc\td\r\n", [["a", "b"], ["c", "d"]]],
  ["a\rb", [["a"], ["b"]]],
  ['"a\tb"\tc', [["a\tb", "c"]]],
  ['"a ""quoted"" one"', [['a "quoted" one']]],
  ['"Heroes"\t"a"', [['"Heroes"', '"a"']]],
  ['"Heroes" (live)', [['"Heroes" (live)']]],
  ['"two\r\nlines"\t""', [["two\r\nlines", '""']]],
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

for (const [old, text, expected] of [
  ["a\rb", "a\nc", "a\rc"],
  ["a\r\nb\nc", "a\nb\nd", "a\r\nb\nd"],
  ["a\r\nb\nc\rd", "x\nb\nc\ny", "x\r\nb\nc\ry"],
  ["a\r\nb\nc", "a\nb", "a\r\nb"],
  ["a\r\nb\nc", "b\nc", "b\nc"],
  ["a\r\nb", "a\nb\nc", "a\r\nb\r\nc"],
  ["a\r\nb\nc", "a\nb\nc\nd", "a\r\nb\nc\nd"],
  ["a\r\nb", "a\nb", "a\r\nb"],
  ["a\r\nb", "new\rtext", "new\rtext"],
  ["a\rb\nc", "a\n\nb\nc", "a\n\nb\nc"], // \r and \n side by side would be one line end
  ["a\rb\nc", "a\n\nc", "a\n\nc"],
  ["\u{1f600}\r\n\u{1f601}", "\u{1f600}!\n\u{1f601}", "\u{1f600}!\r\n\u{1f601}"],
]) {
  test(`a cell ${JSON.stringify(old)} that is edited to ${JSON.stringify(text)} keeps its line ends`, () => {
    const edits = new Edits({ header: ["a"], rows: [[old]] });
    edits.become(edits.withTexts([{ row: "r0", column: "c0", text }]));
    assert.equal(edits.text("r0", "c0"), expected);
    assert.equal(edits.operations.length, expected === old ? 0 : 1);
  });
}

test("of a long list each step of the history keeps what differs", () => {
  const operations = Array.from({ length: 20_000 }, (_, at) => ({ op: "set_cell", row: `r${at}`, column: "c0", old: "", new: `${at}` }));
  const history = new History(operations, { here: null });
  let now = { operations, here: "last" };
  for (const left of [19_999, 19_998]) {
    now = history.undo(now);
    assert.equal(now.operations.length, left);
    assert.equal(now.here, null);
  }
  for (const left of [19_999, 20_000]) {
    now = history.redo(now);
    assert.deepEqual(now.operations, operations.slice(0, left));
  }
  assert.equal(now.here, "last");
  const changed = operations.with(7, { ...operations[7], new: "other" });
  history.did(now, changed);
  assert.ok(!history.canRedo);
  assert.deepEqual(history.undo({ operations: changed }).operations, operations);
});

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

test("a page that shows many tables keeps the formats of few texts", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const heap = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  formatOf("0");
  const before = heap();
  for (let number = 1; number < 20_000; number += 1) formatOf(`${number} m`);
  assert.ok(heap() - before < 1_000_000);
});
