/* <askew-grid>, read and compare: marked cells are highlighted and hidden, edits are shown old beside new. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { VOTES, openGrid } from "./grid.js";

const EDIT = [
  { op: "rename_header", column: "c1", old: "Country", new: "Nation" },
  { op: "set_cell", row: "r2", column: "c2", old: "4", new: "361" },
  { op: "remove_row", row: "r3", old: VOTES.rows[3] },
  { op: "insert_row", row: "n1", after: "r0", cells: ["Ann", "Peru", "5", ""] },
  { op: "split_column", column: "c0", into: [
    { column: "n2", header: "First", cells: ["", "", "", "", ""] },
    { column: "n3", header: "Last", cells: ["Leslie", "Ann", "Nwosu", "Olsson", "Tanaka"] },
  ] },
];

test("marked cells are highlighted, hidden and shown again", async () => {
  const grid = await openGrid();
  grid.show({ mode: "read", marks: [["r2", "c2"], ["r1", "c3"], ["h", "c2"]] });
  assert.equal(grid.cell("r2", "c2").textContent, "marked: 4"); // in words for a screen reader
  assert.equal(grid.header("c2").className, "n evidence");
  grid.element.hideMarked(true);
  grid.hears("3 marked cells hidden.");
  grid.reads("3 marked cells, hidden");
  assert.equal(grid.cell("r2", "c2").textContent, "hidden");
  assert.equal(grid.cell("r1", "c3").textContent, "hidden");
  assert.equal(grid.cell("r1", "c2").textContent, "1,212");
  grid.element.hideMarked(false);
  grid.hears("3 marked cells shown again.");
  assert.ok(grid.cell("r1", "c3").textContent.includes("withdrew"));
});

test("what is hidden is not found either", async () => {
  const grid = await openGrid();
  grid.show({ mode: "read", marks: [["r1", "c3"]] });
  grid.element.hideMarked(true);
  grid.press("/");
  grid.types("second round");
  assert.ok(grid.page.find(".find-bar").textContent.includes("No matches"));
});

test("a button goes from one marked cell to the next", async () => {
  const grid = await openGrid();
  grid.show({ mode: "read", marks: [["r4", "c0"], ["r1", "c2"]] });
  grid.button("Next marked cell").click();
  grid.hears("Row 2, Votes: 1,212. Marked cell 1 of 2.");
  grid.button("Next marked cell").click();
  grid.hears("Row 5, Competitor: Tanaka. Marked cell 2 of 2.");
  assert.equal(grid.cell("r4", "c0").dataset.here, "");
});

test("a table to read leaves letters and digits to the page", async () => {
  const grid = await openGrid();
  grid.show({ mode: "read" });
  const keys = [];
  grid.page.document.addEventListener("keydown", ({ key }) => keys.push(key));
  assert.equal(grid.focused, grid.page.find(".sheet"));
  grid.press("1", "s", "ArrowDown", "Enter");
  assert.deepEqual(keys, ["1", "s", "ArrowDown", "Enter"]);
  assert.deepEqual(grid.operations, []);
  assert.equal(grid.page.find("table").getAttribute("role"), "table");
});

test("an edit is shown old beside new, with what was removed and added", async () => {
  const grid = await openGrid();
  grid.compare(EDIT);
  assert.ok(grid.cell("r2", "c2").querySelector("del").textContent.includes("4"));
  assert.equal(grid.cell("r2", "c2").querySelector("ins").textContent, "361");
  assert.equal(grid.header("c1").querySelector("ins").textContent, "Nation");
  assert.deepEqual(grid.page.all("tr.removed").map(({ dataset }) => dataset.row), ["r3"]);
  assert.deepEqual(grid.page.all("tr.inserted").map(({ dataset }) => dataset.row), ["n1"]);
  assert.ok(grid.header("c0").textContent.includes("split"));
  assert.ok(grid.header("n2").textContent.includes("from Competitor"));
  assert.deepEqual(grid.page.all("tbody tr").map(({ dataset }) => dataset.row), ["r0", "n1", "r1", "r2", "r3", "r4"]);
  assert.deepEqual(grid.page.all("thead th[data-column]").map(({ dataset }) => dataset.column), ["c0", "n2", "n3", "c1", "c2", "c3"]);
});

test("N goes from change to change in the order of the table", async () => {
  const grid = await openGrid();
  grid.compare(EDIT);
  const messages = EDIT.map(() => {
    grid.press("n");
    return grid.page.find("askew-grid > [role=status]").textContent.split(". ");
  });
  assert.deepEqual(messages.map(([first]) => first), [1, 2, 3, 4, 5].map((number) => `Change ${number} of 5`));
  assert.deepEqual(messages.map(([, second]) => second.split(":")[0]), [
    "Column 1 (Competitor) split into First | Last", "Header of column 2", "New row below row 1", "Row 3, Votes", "Row 4 removed",
  ]);
  assert.equal(grid.count("[data-here]"), 1);
  grid.press("Shift+N");
  assert.equal(grid.cell("r2", "c2").dataset.here, "");
  grid.press("n", "n");
  grid.reads("Change 1 of 5");
  grid.button("Previous change").click();
  grid.reads("Change 5 of 5");
});

test("moved rows and columns say so, and a transposed table is compared transposed", async () => {
  const grid = await openGrid();
  grid.compare([{ op: "move_row", row: "r4", after: null }, { op: "move_column", column: "c3", after: "c0" }]);
  assert.ok(grid.number("r4").textContent.includes("moved"));
  assert.ok(grid.header("c3").textContent.includes("moved"));
  grid.compare([{ op: "transpose" }, { op: "set_cell", row: "c2", column: "r2", old: "4", new: "5" }]);
  grid.reads("Rows and columns exchanged. 1 change");
  assert.ok(grid.cell("c2", "r2").querySelector("del").textContent.includes("4"));
});

test("a table without a change says so", async () => {
  const grid = await openGrid();
  grid.compare([]);
  grid.reads("No change");
  grid.press("n");
  grid.hears("No changes.");
});

test("all rows are numbered for screen readers, merged header cells are one and new rows are counted", async () => {
  const grid = await openGrid();
  const table = {
    header: ["2019", "2020", "Notes"],
    rows: [["1", "2", "a"], ["3", "4", "b"]],
    header_rows: [["Year", "Year", ""]],
    spans: [{ row: "h0", column: "c0", rows: 1, columns: 2 }],
    title: "Votes",
    caption: "by year",
  };
  grid.show({ table, mode: "edit" });
  const shown = grid.page.find("[role=grid]");
  const numbers = () => grid.page.all("tr").map((row) => row.getAttribute("aria-rowindex"));
  assert.equal(shown.getAttribute("aria-label"), "Votes. by year. Table, editable");
  assert.equal(shown.getAttribute("aria-rowcount"), "4");
  assert.deepEqual(numbers(), ["1", "2", "3", "4"]);
  assert.deepEqual(grid.page.texts("tr.above [role=columnheader]"), ["Year", ""]);
  assert.equal(grid.page.find("tr.above [role=columnheader]").colSpan, 2);
  grid.press("Alt+Enter"); // a new row below the first
  assert.deepEqual(numbers(), ["1", "2", "3", "4", "5"]);
  assert.equal(shown.getAttribute("aria-rowcount"), "5");
});

test("columns of numbers are recognised by most of their cells", async () => {
  const grid = await openGrid();
  grid.show({ table: {
    header: ["Rank", "Film", "Gross", "Share", "Run"],
    rows: [
      ["1", "Heat", "$1,234.5", "12 %", "1–2"],
      ["2", "12", "(9.9)", "n/a", "3–1"],
      ["-", "Alien", "$40", "", "2"],
    ],
  } });
  assert.deepEqual(grid.page.all("thead th.n").map(({ dataset }) => dataset.column), ["c0", "c2", "c3"]);
  assert.deepEqual(grid.page.all("[data-row=r0] td.n").map(({ dataset }) => dataset.column), ["c0", "c2", "c3"]);
});
