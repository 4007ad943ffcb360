/* <askew-renames>, <askew-extension>, <askew-masking> and <askew-adding>: the lists of columns and what their keys do. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, hold, openLive, reload, stopClock, until } from "./live.js";

const [MEDALS, JUMPS, OFFICES, CAPTAINS, GAMES] = ["nt-3630", "nt-15", "nt-92", "nt-771", "nt-908"];
const REST = 251; // ms after which digits act again

/* Ada's first item of a batch over these examples, once its suggestions have come. */
async function begin(kind, ids, { beside = [], ...options } = {}) {
  stopClock();
  const page = await openLive("columns/batch", { kind, ids, beside }, options);
  await page.passes(REST);
  return page;
}

/* Press keys one after the other, as somebody who looks at the page in between. */
async function press(page, ...keys) {
  for (const key of keys) {
    page.press(key);
    await page.settled();
    await page.passes(REST);
  }
}

const withText = (page, selector, text) => {
  const element = page.all(selector).find(({ textContent }) => textContent.includes(text));
  if (!element) throw new Error(`no ${selector} has the text ${text}`);
  return element;
};
const line = (page, name) => withText(page, ".line", name);
const digitOf = (page, text) => withText(page, ".choice", text).querySelector("kbd").textContent;
const open = (page) => page.find(".line.open .head");
const button = (page, label, within = page.document) => {
  const buttons = [...within.querySelectorAll("button")].filter((each) => (each.ariaLabel ?? each.getAttribute("aria-label") ?? each.firstChild?.textContent) === label);
  assert.ok(buttons.length, `a button ${label}`);
  return buttons.at(-1);
};
const header = (page, column) => page.find(`thead th[data-column=${column}]`).textContent;
const headers = (page) => page.texts("thead th[data-column]");
const notices = (page) => page.find("[data-notices]").textContent;
const status = (page) => page.find("fieldset.tool [role=status]").textContent;
const responses = () => ask("columns/responses");
const names = (data) => Object.fromEntries(data.operations.map(({ column, new: name }) => [column, name]));
const matches = assert.match;
const type = (page, text) => page.fill(page.focused, text);

// --- where an item begins --------------------------------------------------------------------------------------------

for (const [kind, id, column] of [
  ["column_extension", JUMPS, "Venue"],
  ["column_masking", "league", "Lost"],
  ["header_abbreviation", CAPTAINS, "Player"],
  ["header_synonym", MEDALS, "Rank"],
]) {
  test(`an item of ${kind} begins at the first column that something can be done with`, async () => {
    const page = await begin(kind, [id]);
    matches(open(page).textContent, new RegExp(column));
    assert.equal(page.focused, open(page));
    matches(page.find("thead th.about").textContent, new RegExp(column));
  });
}

test("columns that can go come first and have the button that removes them", async () => {
  const page = await begin("column_masking", ["league"]);
  matches(open(page).textContent, /Lost/);
  assert.deepEqual(page.texts(".line .name"), ["Lost", "Played", "Won", "Team"]); // Won has the answer, Team follows from nothing

  page.click(button(page, "Remove column Played", page.find(".lines")));
  await page.settled();
  button(page, "Restore column Played", page.find(".lines"));
  assert.equal(page.find(".line.open del").textContent, "Played");
  assert.deepEqual(page.all(".line").map(({ dataset }) => dataset.line), ["c2", "c3", "c1", "c0"], "what is removed stays where it is");

  await press(page, "Enter");
  assert.deepEqual((await responses())[0].operations.map(({ column }) => column), ["c3"]);
  assert.ok(hasLeft(page));
});

test("suggestions that come late do not move somebody who has begun", async () => {
  const suggestions = hold();
  const page = await begin("column_masking", ["league"], { replies: { "GET /suggestions/": suggestions.reply } });
  assert.equal(page.focused, open(page));
  assert.doesNotMatch(page.find(".lines").textContent, /worked out/);
  await press(page, "End");
  suggestions.answer();
  await page.settled();
  matches(open(page).textContent, /Played.*can be worked out from others/);
});

test("a digit takes no suggestion for a moment after the suggestions have come", async () => {
  const suggestions = hold();
  const page = await begin("header_synonym", [MEDALS], { replies: { "GET /suggestions/": suggestions.reply } });
  await press(page, "ArrowDown");
  suggestions.answer();
  await page.settled();
  assert.ok(page.all(".line.open .choice").length);
  page.press("1");
  await page.settled();
  assert.equal(page.all("thead ins").length, 0);
  await page.passes(REST);
  page.press("1");
  await page.settled();
  assert.equal(page.all("thead ins").length, 1);
});

// --- names -----------------------------------------------------------------------------------------------------------

test("a column is renamed with one key, and what is rejected is kept", async () => {
  const page = await begin("header_synonym", [MEDALS, JUMPS, OFFICES]);
  matches(page.find(".question").textContent, /the nation before mexico/);
  await press(page, "ArrowDown");
  await press(page, digitOf(page, "Country"));
  matches(line(page, "Nation").textContent, /Country/);
  matches(header(page, "c1"), /Country/);
  await press(page, "0", "Enter"); // none of the names for Gold fits
  const [first] = await responses();
  assert.deepEqual(names(first), { c1: "Country" });
  assert.deepEqual(first.taken, [["c1", "Country", "usual"]]);
  assert.deepEqual([...new Set(first.rejected.map(([column]) => column))], ["c2"]);

  matches(page.find(".question").textContent, /what was the venue/);
  await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
  assert.equal(digitOf(page, "Rank"), "1");
  await press(page, "ArrowRight", "Delete", "F2"); // rejected, and then edited all the same
  assert.equal(page.focused.ariaLabel, "New name for Position");
  assert.equal(page.focused.value, "Rank");
  type(page, "Rank taken");
  await press(page, "Enter", "Enter");
  const [, second] = await responses();
  assert.deepEqual(names(second), { c3: "Rank taken" });
  assert.deepEqual(second.taken, [["c3", "Rank", "usual"]]);
  assert.deepEqual(second.rejected, []);

  matches(page.find(".question").textContent, /first to take office/);
  await press(page, "Home", "ArrowDown", "ArrowDown", "B"); // the letter opens the field
  assert.equal(page.focused.value, "");
  type(page, "Begin");
  await press(page, "Enter", "Enter");
  const [, , third] = await responses();
  assert.deepEqual(names(third), { c2: "Begin" });
  assert.deepEqual(third.taken, []);
  assert.ok(hasLeft(page), "only the page that says that nothing is left is loaded");

  const rows = await ask("columns/report");
  assert.deepEqual(rows["usual names"].slice(0, 2), [1, 1]);
  assert.equal(rows["Own names"][0], 1);
});

test("short forms are taken one after the other", async () => {
  const page = await begin("header_abbreviation", [CAPTAINS]);
  matches(open(page).textContent, /Player/);
  digitOf(page, "Plyr.");
  await press(page, "1", "ArrowDown", "ArrowDown", "1", "1", "Enter");
  const [data] = await responses();
  assert.deepEqual(names(data), { c1: "Plyr.", c4: "Tot. caps", c5: "W %" });
  assert.deepEqual(data.taken.map(([, , source]) => source), ["dictionary", "dictionary", "dictionary"]);
  assert.ok(hasLeft(page));
});

test("a response that breaks the contract gets a reason and is not submitted", async () => {
  const page = await begin("header_abbreviation", [CAPTAINS]);
  await press(page, "F2");
  type(page, "Span");
  await press(page, "Enter", "Enter");
  matches(notices(page), /Two columns are now called “Span”: 2 and 3\./);
  assert.deepEqual(await responses(), []);
  await press(page, "Control+z");
  assert.doesNotMatch(header(page, "c1"), /Span/);
});

test("the keys of the list are in the list of keys", async () => {
  const page = await begin("header_synonym", [MEDALS]);
  await press(page, "Escape", "?");
  await until(page, () => page.find("dialog[open]").textContent.includes("In the list"));
  const dialog = page.find("dialog[open]").textContent;
  matches(dialog, /accept that suggestion, go to the next column/);
  assert.doesNotMatch(dialog, /type a new value/);
});

test("practice comes with suggestions and with an answer", async () => {
  stopClock();
  const page = await openLive("columns/practice", { kind: "header_synonym" });
  await page.passes(REST);
  await press(page, "ArrowDown");
  await press(page, digitOf(page, "Country"), "1", "Enter"); // and then “Amber” for gold
  matches(page.find("[data-feedback]").textContent, /“Amber” does not fit “Gold” in this table\./);
});

test("names and rejections are there again after a reload", async () => {
  let page = await begin("header_synonym", [MEDALS]);
  await press(page, "ArrowDown");
  await press(page, digitOf(page, "Country"));
  await press(page, "0");
  await page.passes(300);
  matches(page.find("[data-saved]").textContent, /Saved/);
  page = await reload(page);
  matches(line(page, "Nation").textContent, /Country/);
  matches(line(page, "Gold").textContent, /none fits/);
});

test("with a pointer a suggestion is clicked and another one rejected", async () => {
  const page = await begin("header_synonym", [MEDALS]);
  page.click(line(page, "Nation"));
  digitOf(page, "Country");
  page.click(button(page, "Reject “State”"));
  page.click(withText(page, ".choice", "Country"));
  await page.passes(REST);
  page.click("button[value=submit]");
  await page.passes(REST);
  const [data] = await responses();
  assert.deepEqual(names(data), { c1: "Country" });
  assert.deepEqual(data.rejected, [["c1", "State", "usual"]]);
  assert.ok(hasLeft(page));
});

test("“does not apply” is two keys outside the list", async () => {
  const page = await begin("header_synonym", [MEDALS]);
  await press(page, "Escape", "n");
  assert.ok(page.find("[name=does_not_apply]").checked);
  page.find("button[value=submit]").focus();
  await press(page, "Enter");
  const [data] = await responses();
  assert.equal(data.does_not_apply, true);
  assert.deepEqual(data.operations, []);
  assert.ok(hasLeft(page));
});

// --- splitting -------------------------------------------------------------------------------------------------------

test("a proposal splits a column with one key; rows that do not split are written by hand", async () => {
  const page = await begin("column_extension", [JUMPS, OFFICES]);
  assert.equal(digitOf(page, "City | Country"), "1");
  await press(page, "1");
  assert.ok(headers(page).some((name) => name.includes("Country")));
  await press(page, "Enter");
  const [split] = (await responses())[0].operations;
  assert.equal(split.op, "split_column");
  assert.equal(split.column, "c2");
  assert.deepEqual(split.into.map((part) => part.header), ["City", "Country"]);
  assert.deepEqual(split.into[1].cells.slice(0, 2), ["Australia", "India"]);

  matches(open(page).textContent, /Left office/);
  assert.equal(digitOf(page, "Month | Day | Year"), "1");
  await press(page, "1");
  assert.equal(page.focused.ariaLabel, "Row 1, Month");
  assert.equal(page.focused.value, "July 1890");
  matches(status(page), /6 of 9 filled rows split into 3/);
  type(page, "July");
  page.all("ol.cuts input")[2].focus();
  type(page, "1890");
  await press(page, "Enter");
  assert.ok(headers(page).some((name) => name.includes("Month")));
  await press(page, "Enter");
  const [parts] = (await responses())[1].operations;
  const [month, day, year] = parts.into.map(({ cells }) => cells);
  assert.deepEqual([month[0], day[0], year[0]], ["July", "", "1890"]);
  assert.deepEqual([month[1], day[1], year[1]], ["1922", "", ""], "left whole in the first");
  assert.ok(hasLeft(page));
});

test("Enter pressed before a split is worked out submits the split", async () => {
  const work = hold();
  const page = await begin("column_extension", [CAPTAINS, JUMPS], { replies: { "POST /work-out/": work.reply } });
  digitOf(page, "First name | Last name");
  page.press("1", "Enter", "Enter");
  work.answer();
  await page.passes(REST);
  const sent = await responses();
  assert.equal(sent.length, 1, "the second Enter submits nothing");
  assert.deepEqual(sent[0].operations[0].into.map((part) => part.header), ["First name", "Last name"]);
});

test("Enter pressed before a split that needs names asks for them", async () => {
  const work = hold();
  const page = await begin("column_extension", ["codes"], { replies: { "POST /work-out/": work.reply } });
  digitOf(page, "Code 1 | Code 2");
  page.press("1", "Enter");
  work.answer();
  await page.passes(REST);
  assert.equal(page.focused.ariaLabel, "Name of part 1");
  matches(notices(page), /Not submitted yet\. Finish or cancel the split of Code\./);
  page.click("button[value=submit]");
  await page.passes(REST);
  assert.equal(page.focused.ariaLabel, "Name of part 1");
  assert.deepEqual(await responses(), []);
  await press(page, "Enter");
  assert.doesNotMatch(notices(page), /Finish or cancel/);
  await press(page, "Enter");
  const [data] = await responses();
  assert.deepEqual(data.operations[0].into.map((part) => part.header), ["Code 1", "Code 2"]);
  assert.ok(hasLeft(page));
});

test("a split that the server cannot work out is not submitted", async () => {
  const work = hold();
  const page = await begin("column_extension", [CAPTAINS], { replies: { "POST /work-out/": work.reply } });
  page.press("1", "Enter");
  work.fail();
  await page.passes(REST);
  matches(status(page), /The server cannot be reached\./);
  matches(notices(page), /Finish or cancel the split of Player\./);
  assert.deepEqual(await responses(), []);
});

for (const [how, text, parts] of [
  ["delimiter", "-", ["1997", "2006"]],
  ["template", "{First}-{Last}", ["1997", "2006"]],
  ["pattern", "(\\d\\d)\\d\\d-(\\d+)", ["19", "2006"]],
]) {
  test(`a column is split by a ${how} of one's own`, async () => {
    const page = await begin("column_extension", [CAPTAINS]);
    await press(page, "ArrowDown", "F2");
    page.fill("select[name=way]", how);
    page.fill("[name=way-text]", text);
    await page.passes(200);
    assert.ok(page.all("fieldset.tool .names input").some(({ ariaLabel }) => ariaLabel === "Name of part 2"));
    await press(page, "Enter", "Enter");
    const [operation] = (await responses())[0].operations;
    assert.deepEqual(operation.into.map(({ cells }) => cells[0]), parts);
    assert.ok(hasLeft(page));
  });
}

test("a pattern that cannot be used gets a message", async () => {
  const page = await begin("column_extension", [CAPTAINS]);
  await press(page, "ArrowDown", "F2");
  page.fill("select[name=way]", "pattern");
  page.fill("[name=way-text]", "(a+)+\\1(");
  await page.passes(200);
  matches(status(page), /cannot be used/);
  await press(page, "Escape");
  assert.ok(page.find("fieldset.tool").hidden);
  assert.deepEqual(await responses(), []);
});

test("a split is changed and undone", async () => {
  const page = await begin("column_extension", ["codes"]);
  await press(page, "1");
  assert.equal(page.focused.ariaLabel, "Name of part 1");
  await press(page, "Enter");
  assert.ok(headers(page).some((name) => name.includes("Code 2")));
  await press(page, "F2");
  assert.equal(page.focused.ariaLabel, "Name of part 1");
  type(page, "City");
  await press(page, "Enter");
  assert.ok(headers(page).some((name) => name.includes("City")));
  matches(line(page, "Code").textContent, /City \| Code 2/);
  await press(page, "Delete");
  assert.ok(!headers(page).some((name) => name.includes("City")));
});

// --- masking ---------------------------------------------------------------------------------------------------------

test("a column that follows from others is removed with one key", async () => {
  const page = await begin("column_masking", [MEDALS]);
  matches(line(page, "Total").textContent, /can be worked out from others/);
  await press(page, "5");
  matches(line(page, "Total").textContent, /can be worked out from the rest/);
  await press(page, "Enter");
  const [operation] = (await responses())[0].operations;
  assert.deepEqual([operation.op, operation.column], ["remove_column", "c5"]);
  assert.ok(hasLeft(page));
});

test("a column whose source is removed as well is pointed out", async () => {
  const page = await begin("column_masking", [MEDALS]);
  await press(page, "5", "ArrowUp", " ", "ArrowDown");
  matches(line(page, "Total").textContent, /cannot be worked out from the rest/);
  matches(line(page, "Total").textContent, /But Bronze is also removed\./);
  await press(page, " ");
  assert.doesNotMatch(line(page, "Total").querySelector(".head").textContent, /removed/);
});

test("the only column of the answer stays until a reason says how it follows", async () => {
  const page = await begin("column_masking", [MEDALS]);
  matches(line(page, "Nation").textContent, /contains the answer/);
  await press(page, "End", " ");
  await page.passes(300);
  matches(page.find("[data-holds^=answer_gone]").textContent, /“Puerto Rico” is in no other column/);
  await press(page, "Enter");
  matches(notices(page), /Restore it, or explain how to work it out\./);
  assert.deepEqual(await responses(), []);
  await press(page, "Escape", "r");
  type(page, "The medals tell it.");
  await press(page, "Control+Enter");
  const [data] = await responses();
  assert.equal(data.reason, "The medals tell it.");
  assert.equal(data.operations[0].column, "c1");
  assert.ok(hasLeft(page));
});

test("a column that leaves the row of the answer open does not count as worked out", async () => {
  const page = await begin("column_masking", ["winners"]);
  const at = (column) => page.find(`[data-line=${column}]`).textContent;
  const gone = () => page.find("[data-holds^=answer_gone]").textContent;
  matches(at("c0"), /No\. counts the rows: 1 in the first, 2 in the second/);
  matches(at("c5"), /values increase steadily; the first value cannot be worked out/);
  matches(at("c4"), /can be worked out from others, except in the answer row, contains the answer/);
  await press(page, "End", " ");
  await page.passes(300);
  matches(gone(), /“2005” is in no other column/);
  matches(at("c5"), /cannot be worked out from the rest/);
  matches(at("c0"), /can be worked out from the order of the rows/);
  await press(page, " ", "4");
  await page.passes(300);
  matches(at("c4"), /can be worked out, but not in the answer row/);
  matches(at("c4"), /in all 4 rows that can be tested\. But not in the answer row/);
  matches(gone(), /does not give it in row 5/);
  await press(page, "Enter");
  matches(notices(page), /Restore it, or explain how to work it out\./);
  assert.deepEqual(await responses(), []);
});

test("where no column follows from the others the list says what to choose", async () => {
  const page = await begin("column_masking", ["teams"]);
  const advice = () => page.texts("askew-masking > [role=status]")[0];
  matches(advice(), /If you see none either, choose “Does not apply”\./);
  page.click(button(page, "Remove column Team"));
  await page.settled();
  assert.doesNotMatch(advice(), /If you see none/);
  page.click(button(page, "Restore column Team"));
  await page.settled();
  page.click(button(page, "Does not apply", page.find("askew-masking > [role=status]")));
  await page.settled();
  const choice = page.find("[name=does_not_apply]");
  assert.ok(choice.checked);
  assert.equal(page.focused, choice);
});

test("a column that nothing implies is asked about once", async () => {
  const page = await begin("column_masking", ["league", MEDALS]);
  await press(page, "End", " ", "Enter");
  matches(notices(page), /The table does not show how to work out “Team”/);
  matches(notices(page), /Give a reason, or submit again\./);
  button(page, "Submit anyway");
  await press(page, "ArrowUp", " ");
  assert.equal(notices(page).trim(), "");
  await press(page, "Enter");
  matches(notices(page), /submit again/);
  assert.deepEqual(await responses(), [], "a change asks again");
  button(page, "Submit anyway").focus();
  await press(page, "Control+Enter");
  assert.equal((await responses())[0].operations.length, 2);
  assert.deepEqual(await ask("columns/unmet"), [["not_derivable"]]);

  matches(page.find(".question").textContent, /the nation before mexico/);
  matches(line(page, "Nation").textContent, /contains the answer/);
  assert.equal(notices(page).trim(), "");
  await press(page, "End", " ", "Escape", "r");
  type(page, "All medals tell it.");
  await press(page, "Control+Enter");
  assert.equal((await responses())[1].reason, "All medals tell it.");
  assert.deepEqual((await ask("columns/unmet"))[1], ["answer_gone", "not_derivable"]);
  assert.ok(hasLeft(page));
});

// --- adding ----------------------------------------------------------------------------------------------------------

const CAPITALS = ["Havana", "Mexico City", "Santiago", "Buenos Aires", "Brasília"];
const adding = () => begin("column_adding", [GAMES], { beside: ["capitals"] });
const has = (page, name) => headers(page).some((text) => text.includes(name));

test("a column of a related table is added with one key, with its origin", async () => {
  const page = await adding();
  assert.equal(digitOf(page, "Capital"), "1");
  await press(page, "1");
  assert.ok(has(page, "Capital"));
  matches(page.find("fieldset.tool").textContent, /5 of 10 rows are empty/);
  await press(page, "Enter");
  const [data] = await responses();
  const [operation] = data.operations;
  assert.equal(operation.header, "Capital");
  assert.deepEqual(new Set(operation.cells.filter(Boolean)), new Set(CAPITALS));
  const [[column, digest, from, title]] = data.provenance;
  assert.deepEqual([column, from, title], ["n1", "c1", "Countries of America"]);
  assert.equal(digest, await ask("columns/digest", { id: "capitals" }));
  assert.deepEqual(data.own, []);
  assert.ok(hasLeft(page));
});

test("a column is previewed in the table and then asked about", async () => {
  const page = await adding();
  const foot = () => page.find(".line.open .foot");
  matches(foot().textContent, /Choose a column to preview it in the table\./);
  assert.doesNotMatch(foot().textContent, /Does this column fit these rows\?/);
  await press(page, "1");
  assert.ok(has(page, "Capital"));
  matches(foot().textContent, /Does this column fit these rows\?/);
  page.click(button(page, "No, remove it", foot()));
  await page.passes(REST);
  assert.ok(!has(page, "Capital"));
  matches(foot().textContent, /Choose a column to preview it in the table\./);
  await press(page, "1", "2");
  matches(foot().textContent, /Do these columns fit these rows\?/);
  await press(page, "0");
  assert.ok(!has(page, "Capital"));
  assert.ok(!has(page, "Currency"));
  await press(page, "2", "Enter");
  const [data] = await responses();
  assert.deepEqual(data.operations.map((operation) => operation.header), ["Currency"]);
  assert.deepEqual(data.provenance.map((origin) => origin[2]), ["c2"]);
  assert.ok(hasLeft(page));
});

test("Enter on a choice that is taken submits", async () => {
  const page = await adding();
  await press(page, "ArrowRight", "1");
  assert.ok(has(page, "Capital"));
  await press(page, "Enter");
  assert.deepEqual((await responses())[0].operations.map((operation) => operation.header), ["Capital"]);
  assert.ok(hasLeft(page));
});

test("why a column is offered stays open when the list is drawn anew, and its keys are its own", async () => {
  const page = await adding();
  const why = () => page.find(".line.open details");
  why().open = true;
  why().querySelector("summary").focus();
  await press(page, "Enter", " ");
  assert.ok(!has(page, "Capital"));
  assert.deepEqual(await responses(), []);
  page.find(".line.open [tabindex='0']").focus();
  await press(page, "1");
  assert.ok(has(page, "Capital"));
  assert.ok(why().open);
});

test("an added column is named, moved and filled by hand, and can go again", async () => {
  const page = await adding();
  await press(page, "1", "2");
  const tool = (name) => withText(page, "fieldset.tool", `Added: ${name}`);
  page.fill(tool("Capital").querySelector("select"), "c1");
  page.fill(tool("Capital").querySelector("[data-does=name]"), "Seat");
  await press(page, "Enter");
  page.fill([...tool("Seat").querySelectorAll("input")].find(({ ariaLabel }) => ariaLabel === "Seat, row 2"), "Ottawa");
  await press(page, "Enter");
  matches(page.find("tbody").textContent, /Ottawa/);
  page.click(withText(page, ".choice", "Currency")); // the second one goes again
  await page.settled();
  assert.ok(!has(page, "Currency"));
  page.click("button[value=submit]");
  await page.passes(REST);
  const [data] = await responses();
  assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.provenance.length, 1);
  const [operation] = data.operations;
  assert.deepEqual([operation.header, operation.after, operation.cells[1]], ["Seat", "c1", "Ottawa"]);
  assert.deepEqual(data.provenance.map((origin) => origin[2]), ["c1"]);
  assert.deepEqual(data.own, [["r1", operation.column]], "the one cell that was written by hand");
  assert.ok(hasLeft(page));
});

test("Ctrl Enter in the name of an added column submits that name", async () => {
  const page = await adding();
  await press(page, "1");
  const field = page.find("fieldset.tool [data-does=name]");
  field.focus();
  field.value = "Seat"; // typed: the browser tells of the change when the field loses the focus
  field.addEventListener("blur", () => field.dispatchEvent(new page.window.Event("change", { bubbles: true })), { once: true });
  await press(page, "Control+Enter");
  assert.equal((await responses())[0].operations[0].header, "Seat");
  assert.ok(hasLeft(page));
});
