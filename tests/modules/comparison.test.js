/* <askew-comparison>: variants of a table in one table, and as two tables next to each other. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openElement } from "./grid.js";

const HOSTILE = ["<img src=x onerror=alert(1)>", "<script>document.title='owned'</script>", "שלום עולם", "", "a\nb"];

/* Show lists of operations as variants A, B, ... */
async function openComparison(table, ...variants) {
  const comparison = await openElement("askew-comparison", ["comparison"]);
  comparison.element.compare({ table, variants: variants.map((operations, at) => ({ letter: "ABCD"[at], name: `Variant ${"ABCD"[at]}`, operations })) });
  return comparison;
}

const setCell = (row, column, old, text) => ({ op: "set_cell", row: `r${row}`, column: `c${column}`, at: [row, column], old, new: text });
const renamed = (column, old, text) => ({ op: "rename_header", column: `c${column}`, at: column, old, new: text });
const lines = (number) => Array.from({ length: number }, (_, row) => [String(row), "1"]);
const runs = (comparison) => comparison.page.all("button").filter(({ textContent }) => textContent.includes("rows without changes"));
const hasButton = (comparison, name) => comparison.page.texts("button").includes(name);

test("cells of variants are text", async () => {
  const table = { header: ["x", "<b>y</b>"], rows: HOSTILE.map((text) => [text, "1"]) };
  const comparison = await openComparison(table, [setCell(0, 0, HOSTILE[0], HOSTILE[1]), setCell(3, 0, "", HOSTILE[2])], [setCell(0, 0, HOSTILE[0], "")]);
  const first = comparison.cell("r0", "c0");
  assert.ok(first.querySelector("del").textContent.includes(HOSTILE[0]));
  const texts = [...first.querySelectorAll("ins")].map(({ textContent }) => textContent);
  assert.equal(texts.length, 2);
  assert.ok(texts[0].includes(HOSTILE[1]));
  assert.ok(texts[1].includes("empty"));
  assert.ok(comparison.cell("r3", "c0").querySelector("ins").textContent.includes(HOSTILE[2]));
  assert.equal(comparison.page.all("askew-comparison th")[2].textContent, "<b>y</b>");
  assert.equal(comparison.count("askew-comparison :is(img, script, td b:not(.who), th b:not(.who))"), 0);
});

test("rows without changes of a long table are opened by key, and their texts are found", async () => {
  const numbers = (number) => Array.from({ length: number }, (_, at) => at);
  const table = { header: numbers(4).map((column) => `h${column}`), rows: numbers(1000).map((row) => numbers(4).map((column) => `${row}.${column}`)) };
  const comparison = await openComparison(table, [setCell(400, 3, "400.3", "new")], [setCell(400, 3, "400.3", "other")]);
  const { page } = comparison;
  assert.deepEqual(runs(comparison).map(({ textContent }) => textContent), ["399 rows without changes", "598 rows without changes"]);
  runs(comparison)[0].focus();
  comparison.press("Enter");
  comparison.rests();
  assert.equal(runs(comparison).length, 1);
  assert.ok(comparison.number("r5"));
  assert.equal(comparison.focused, page.find(".sheet"));
  comparison.button("Show all rows").click();
  assert.equal(runs(comparison).length, 0);
  assert.equal(comparison.focused, comparison.button("Only changed rows"));
  comparison.press("Enter");
  assert.equal(runs(comparison).length, 2);
  page.find(".sheet").focus();
  comparison.press("Control+f");
  comparison.types("821.2");
  assert.equal(page.find("td.hit.now").textContent, "821.2");
});

test("a long table has all its rows again after two tables were shown", async () => {
  const comparison = await openComparison({ header: ["x", "y"], rows: lines(100) }, [setCell(50, 0, "50", "new")], [setCell(60, 0, "60", "other")]);
  assert.equal(runs(comparison).length, 3);
  comparison.element.turn();
  assert.equal(comparison.count("askew-comparison table"), 2);
  comparison.element.turn();
  assert.equal(comparison.count("askew-comparison table"), 1);
  assert.ok(comparison.cell("r50", "c0").querySelector("ins").textContent.includes("new"));
  assert.ok(comparison.cell("r60", "c0").querySelector("ins").textContent.includes("other"));
  comparison.button("Show all rows").click();
  comparison.rests();
  assert.equal(comparison.count("tr[data-row^=r]"), 100);
});

for (const [rows, shown] of [[9, 9], [40, 40], [100, 20]]) {
  test(`“Only changed rows” is offered only where a row is changed: ${rows} rows`, async () => {
    const comparison = await openComparison({ header: ["x", "y"], rows: lines(rows) }, [renamed(0, "x", "u")], [renamed(0, "x", "v")]);
    assert.ok(comparison.header("c0").textContent.includes("u"));
    assert.equal(comparison.count("tr[data-row^=r]:not(.left-out)"), shown);
    assert.equal(hasButton(comparison, "Only changed rows"), false);
    assert.equal(hasButton(comparison, "Show all rows"), false);
    for (const run of runs(comparison)) run.click();
    comparison.rests();
    assert.equal(comparison.count("tr[data-row^=r]"), rows);
  });
}

test("the changes of two tables are gone through", async () => {
  const table = { header: ["a", "b"], rows: [["1", "2"], ["3", "4"]] };
  const places = (comparison) => comparison.page.texts("askew-comparison .where");
  const one = await openComparison(table, [], [setCell(0, 0, "1", "5")]);
  one.element.turn();
  one.element.next();
  assert.deepEqual(places(one), ["No change", "Change 1 of 1"]);
  const both = await openComparison(table, [setCell(1, 1, "4", "6")], [setCell(0, 0, "1", "5")]);
  both.element.turn();
  for (const expected of [["Change 1 of 1", "1 change"], ["Change 1 of 1", "Change 1 of 1"]]) {
    both.element.next();
    assert.deepEqual(places(both), expected);
  }
});

test("the new name of a column is before the old one", async () => {
  const comparison = await openComparison({ header: ["City", "Year"], rows: [["Oslo", "1952"]] }, [renamed(1, "Year", "When")], []);
  const parts = [...comparison.page.find("thead th.changed").children].map(({ localName }) => localName);
  assert.deepEqual(parts.slice(0, 2), ["ins", "del"]);
});

test("a removed column says who removed it", async () => {
  const removal = { op: "remove_column", column: "c1", old: ["Score", "1", "2"] };
  const comparison = await openComparison({ header: ["City", "Score"], rows: [["Rome", "1"], ["Oslo", "2"]] }, [removal], [removal]);
  assert.equal(comparison.header("c1").querySelector("small").textContent, "removed by A B");
  assert.equal(comparison.count("td.removed"), 2);
});

test("exchanged rows and columns are shown as two tables only", async () => {
  const table = { header: ["a", "b"], rows: [["1", "2"], ["3", "4"]] };
  const comparison = await openComparison(table, [{ op: "transpose" }], [setCell(0, 0, "1", "5")]);
  assert.equal(comparison.count(".sheet"), 2);
  comparison.element.turn();
  assert.equal(comparison.count(".sheet"), 2);
});

test("of three variants, every pair is shown once", async () => {
  const comparison = await openComparison({ header: ["a"], rows: [["1"]] }, ...["2", "3", "4"].map((text) => [setCell(0, 0, "1", text)]));
  for (const pair of ["23", "24", "34"]) {
    comparison.element.turn();
    assert.deepEqual(comparison.page.texts("td ins").map((text) => text.at(-1)), [...pair]);
  }
  comparison.element.turn();
  assert.equal(comparison.count(".sheet"), 1);
});

test("two tables begin at their first columns, also where one of them has one more before those of both", async () => {
  const inserted = { op: "insert_column", column: "k1", after: null, header: "new", cells: ["a", "b"] };
  const comparison = await openComparison({ header: ["x", "y"], rows: lines(2) }, [setCell(1, 1, "1", "2")], [inserted]);
  comparison.element.turn();
  assert.deepEqual(comparison.page.all(".sheet").map(({ scrollLeft }) => scrollLeft), [0, 0]);
});

test("new, removed and moved rows and columns say whose they are", async () => {
  const comparison = await openComparison(
    { header: ["a", "b"], rows: [["1", "2"], ["3", "4"], ["5", "6"]] },
    [{ op: "insert_row", row: "n1", after: "r0", cells: ["7", "8"] }],
    [{ op: "remove_column", column: "c1", at: 1, old: ["b", "2", "4", "6"] }, { op: "move_row", row: "r2", after: null }],
  );
  assert.equal(comparison.page.texts("thead th").at(-1), "bremoved by B");
  assert.equal(comparison.page.find("tr.inserted th").textContent, "new by A");
  assert.ok(comparison.number("r2").textContent.includes("moved by B"));
  comparison.element.next(-1);
  assert.equal(comparison.page.find("askew-grid > [role=status]").textContent, "Change 3 of 3. Row 3: moved by B");
});
