/* The form of value change: what counts as a change, the conditions on the page, and programs that disagree. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";
import { ask, openLive, platform, reload, stopClock } from "./live.js";
import { press, type } from "./grid.js";

const REST = 251; // ms after which digits act again

const line = (page, code) => page.find(`li[data-holds~=${code}]`);
const cell = (page, row, column) => page.find(`[data-row=${row}] [data-column=${column}]`);
const programs = (page) => page.all("askew-programs input");
const chosen = (page) => page.all("askew-programs input:checked");
const isShown = (element) => !element.closest("[hidden]");
const shownPrograms = (page) => page.all("askew-programs label").filter(isShown);
const asked = (page) => page.find("askew-disagreement");
const choices = (page) => page.all("askew-disagreement button");
const answers = (page) => page.find("[data-field=answers]").value;
const notices = (page) => page.find("[data-notices]").textContent;
const matches = assert.match;

/* Ada's first item, once its programs have come. */
async function begin(name, values = {}) {
  stopClock();
  const page = await openLive(`value_change/${name}`, values);
  await page.passes(REST);
  return page;
}

/* Write into a cell and keep the text; the draft is saved and checked. */
async function edit(page, row, column, text) {
  page.click(cell(page, row, column));
  type(page, text);
  press(page, "Enter");
  await saves(page);
}

/* Let the page save its draft, and hear what the server says of it. */
async function saves(page) {
  for (let turn = 0; turn < 6; turn += 1) await page.passes(500); // an answer that is filled in then is saved after it
}

async function keys(page, ...chords) {
  for (const chord of chords) {
    press(page, chord);
    await page.settled();
  }
}

test("a blank at the end of a cell is no change", async () => {
  const page = await begin("sales");
  const first = page.find(".question").textContent;
  page.click(cell(page, "r3", "c0"));
  await keys(page, "F2", "End", "Space", "Enter");
  assert.equal(line(page, "table_unchanged").dataset.state, "no");
  matches(line(page, "table_unchanged").textContent, /Only whitespace or invisible characters have changed/);
  await keys(page, "Control+Enter");
  matches(notices(page), /Not submitted yet\. Only whitespace/);
  assert.equal(page.find(".question").textContent, first);
  assert.deepEqual(await ask("value_change/responses"), []);
  page.click(cell(page, "r3", "c3"));
  type(page, "60");
  await keys(page, "Enter");
  assert.equal(line(page, "blanks_changed").dataset.state, "look");
  matches(line(page, "blanks_changed").textContent, /only whitespace or invisible/);
});

test("an unchanged table is no fault before it can be changed", async () => {
  const page = await begin("sales", { variant: "answer_changes" });
  const unchanged = line(page, "table_unchanged");
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  await keys(page, "1");
  await saves(page);
  assert.ok(page.find("[data-step=program]").hasAttribute("data-done"));
  assert.ok(isShown(unchanged));
  assert.equal(unchanged.dataset.state, "open");
  assert.equal(unchanged.querySelector("[data-why]").textContent, "");
  await keys(page, "Control+Enter");
  matches(notices(page), /Not submitted yet/);
  assert.equal(unchanged.dataset.state, "no");
  matches(unchanged.textContent, /The table is unchanged\. Change something\./);
});

test("an unchanged table is a fault after a change is undone", async () => {
  const page = await begin("sales", { variant: "answer_changes" });
  const unchanged = line(page, "table_unchanged");
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  await keys(page, "1");
  await edit(page, "r1", "c1", "$110");
  assert.equal(unchanged.dataset.state, "yes");
  cell(page, "r1", "c1").focus();
  await keys(page, "Control+z");
  assert.equal(unchanged.dataset.state, "no");
});

for (const scripts of [null, []]) {
  test(`where a reason changes nothing, none is asked for${scripts ? ", without scripts" : ""}`, async () => {
    const page = await openLive("value_change/sales", { settings: { contract: { at_most: 1, more_with_reason: false } } }, { scripts });
    assert.equal(line(page, "too_many_operations").querySelector("span").textContent, "At most 1 change");
    assert.deepEqual(page.all("[name=reason]"), []);
  });
}

test("a limit that a reason lifts says so", async () => {
  const page = await begin("sales", { settings: { at_most: 1 } });
  assert.equal(line(page, "too_many_operations").querySelector("span").textContent, "At most 1 change, or a reason");
  assert.equal(page.find("[data-over-limit]").hidden, true);
  for (const row of ["r1", "r2"]) await edit(page, row, "c3", "7");
  assert.ok(isShown(page.find("[name=reason]")));
  matches(page.find("[data-over-limit]").textContent, /More than 1 change needs a reason\./);
});

test("every cell in another format is named", async () => {
  const page = await begin("sales");
  const why = line(page, "cell_format").querySelector("[data-why]");
  for (const row of ["r2", "r3", "r4", "r1"]) {
    await edit(page, row, "c3", "many");
    if (row !== "r3") continue;
    matches(why.textContent, /Row 3, 2017/);
    matches(why.textContent, /Row 4, 2017/);
  }
  matches(why.textContent, /And 1 more\./);
});

// --- digits that change their meaning --------------------------------------------------------------------------------

test("digits choose no program for a moment after the programs have come", async () => {
  const page = await begin("films");
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  const offers = programs(page).slice(0, 2).map(({ value, dataset }) => ({ program: JSON.parse(value), words: dataset.label }));
  page.focused.blur();
  page.find("askew-programs").dispatchEvent(new CustomEvent("item-suggested", { detail: { suggestions: { programs: offers } } }));
  await keys(page, "2");
  assert.equal(chosen(page).length, 0);
  assert.deepEqual(page.all("askew-programs kbd").filter(isShown), []);
  await page.passes(REST);
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  await keys(page, "2");
  assert.equal(chosen(page).length, 1);
});

test("digits choose no answer for a moment after the programs disagree", async () => {
  const page = await begin("films");
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  page.focused.blur();
  const program = (words) => ({ program: { op: words }, words });
  page.find("askew-programs").dispatchEvent(new CustomEvent("draft-checked", { detail: { answer: { alternatives: [
    { answers: ["Alien"], programs: [program("longest")] },
    { answers: ["Heat"], programs: [program("first")] },
  ] } } }));
  await keys(page, "2");
  assert.equal(choices(page).length, 2);
  assert.ok(page.find("askew-annotate").hasAttribute("data-rekeyed")); // the page shows no digits meanwhile
  await page.passes(REST);
  assert.equal(page.find("askew-annotate").hasAttribute("data-rekeyed"), false);
  await keys(page, "2");
  assert.equal(choices(page).length, 0);
});

// --- programs that disagree on the edited table ----------------------------------------------------------------------

test("where the programs disagree, the page asks and one key answers", async () => {
  const page = await begin("films");
  assert.equal(page.focused.getAttribute("role"), "radiogroup");
  const minutes = page.all("askew-programs label").find(({ textContent }) => textContent.includes("Minutes"));
  await keys(page, minutes.querySelector("kbd").textContent);
  await edit(page, "r1", "c2", "300");
  matches(asked(page).textContent, /The programs give different answers for your table\. Which one is right\?/);
  assert.deepEqual(page.texts("askew-disagreement button strong"), ["Alien", "Heat"]);
  assert.equal(answers(page), "");
  await keys(page, "Control+Enter");
  matches(notices(page), /Choose an answer, or write one\./);
  assert.deepEqual(await ask("value_change/responses"), []);
  await keys(page, "Escape");
  await page.passes(REST);
  assert.equal(page.all("askew-disagreement kbd").filter(isShown).length, 2);
  await keys(page, "1");
  assert.equal(asked(page).textContent, "");
  assert.equal(answers(page), "Alien");
  assert.equal(shownPrograms(page).length, 1);
  matches(shownPrograms(page)[0].textContent, /Minutes/);
  // The program with the other answer is ruled out: the next change asks nothing.
  await edit(page, "r0", "c2", "400");
  assert.equal(answers(page), "Heat");
  await edit(page, "r0", "c2", "200");
  assert.equal(answers(page), "Alien");
  assert.equal(asked(page).textContent, "");
  matches(page.find("[data-saved]").textContent, /Saved/);
  assert.deepEqual((await ask("value_change/drafts")).map((draft) => draft.answers), [["Alien"]]);

  const again = await reload(page);
  await saves(again);
  matches(again.find("askew-programs .computed").textContent, /Heat → Alien/);
  assert.equal(asked(again).textContent, "");
  cell(again, "r1", "c2").focus();
  await keys(again, "Control+Enter");
  const [stored] = await ask("value_change/responses");
  assert.deepEqual([stored.answers, stored.program.rows.column], [["Alien"], "c2"]);
});

test("the answer that is right brings its program", async () => {
  const page = await begin("films");
  await edit(page, "r1", "c2", "300"); // no program is chosen
  choices(page).find(({ textContent }) => textContent.includes("Alien")).click();
  await page.settled();
  assert.equal(answers(page), "Alien");
  assert.equal(chosen(page).length, 1);
  matches(shownPrograms(page)[0].textContent, /Minutes/);
  assert.ok(page.find("askew-grid").contains(page.focused));
});

test("the table without a change and a declined program ask nothing", async () => {
  const page = await begin("films");
  await edit(page, "r1", "c2", "300");
  assert.equal(choices(page).length, 2);
  cell(page, "r1", "c2").focus();
  await keys(page, "Control+z");
  assert.equal(asked(page).textContent, "");
  await keys(page, "Control+y");
  await saves(page);
  assert.equal(choices(page).length, 2);
  programs(page).at(-1).click(); // none of these
  await saves(page);
  assert.equal(JSON.parse(chosen(page)[0].value).op, "none");
  assert.equal(asked(page).textContent, "");
  assert.equal(answers(page), "");
});

test("“None of these” stays chosen after a reload, also before the programs have come", async () => {
  const page = await begin("films");
  programs(page).at(-1).click();
  await saves(page);
  const again = await reload(page);
  assert.equal(JSON.parse(chosen(again)[0].value).op, "none");
  await again.passes(REST);
  assert.ok(programs(again).length > 1);
  assert.deepEqual(chosen(again).map((input) => JSON.parse(input.value).op), ["none"]);
});

test("where the answer stays, the page asks and stops nobody", async () => {
  const page = await begin("films", { variant: "answer_stays" });
  await edit(page, "r1", "c2", "300");
  choices(page).find(({ textContent }) => textContent.includes("Alien")).click();
  await saves(page);
  assert.equal(line(page, "computed_answer_differs").dataset.state, "no");
  await edit(page, "r1", "c2", "120");
  assert.equal(line(page, "computed_answer_differs").dataset.state, "yes");
  assert.equal(asked(page).textContent, "");
  await keys(page, "Control+Enter");
  assert.equal((await ask("value_change/responses")).length, 1);
});

// --- awkward tables --------------------------------------------------------------------------------------------------

for (const [rows, columns] of [[753, 4], [60, 43]]) {
  test(`the last cell of a large table is reached and changed by keyboard: ${rows} x ${columns}`, async () => {
    const page = await begin("large", { rows, columns });
    assert.equal(page.find(".question").textContent, "<b>how many?</b> & why");
    page.click(cell(page, "r0", "c0"));
    await keys(page, "Control+End");
    type(page, "7.5");
    await keys(page, "Enter");
    const last = cell(page, `r${rows - 1}`, `c${columns - 1}`);
    assert.equal(last.querySelector("ins").textContent, "7.5");
    matches(last.querySelector("del").textContent, new RegExp(`${rows - 1}\\.${columns - 1}`));
    await keys(page, "Control+z");
    assert.equal(last.querySelector("del"), null);
  });
}

test("a table without rows is shown", async () => {
  const page = await begin("empty");
  matches(page.find("askew-grid").textContent, /names/);
});

test("titles, rows above the header and merged cells are shown", async () => {
  const page = await begin("merged");
  matches(page.find("askew-grid caption").textContent, /Net revenue: in thousands/);
  assert.deepEqual(page.texts("tr.above td[colspan='2']"), ["Fiscal year"]);
  assert.equal(page.all("askew-grid td.merged").length, 2);
  await edit(page, "r1", "c0", "Costs");
  matches(cell(page, "r1", "c0").textContent, /Costs/);
});

// --- without scripts -------------------------------------------------------------------------------------------------

/* Press a button of the form: the page that the server replies with. */
async function submit(page, button) {
  const { form } = button;
  const sent = new page.window.FormData(form, button);
  const path = form.getAttribute("action") || page.window.location.pathname + page.window.location.search;
  const response = await platform({ method: "POST", url: path, body: sent, headers: {} });
  return openPage(await response.text(), { scripts: [], path: response.url || path });
}

const withText = (page, selector, text) => page.all(selector).find(({ textContent }) => textContent.includes(text));

async function apply(page, row, column, value) {
  page.find("[name=row]").value = row;
  page.find("[name=column]").value = column;
  page.find("[name=value]").value = value;
  return submit(page, page.find("button[value=apply]"));
}

const save = (page) => submit(page, page.all("button[value=save]").at(-1));
const state = (page, code) => [line(page, code).dataset.state, line(page, code).textContent];

test("without scripts, the page says what the program gives and which conditions hold", async () => {
  let page = await openLive("value_change/sales", { variant: "answer_changes" }, { scripts: [] });
  matches(line(page, "table_unchanged").textContent, /waiting/);
  const link = withText(page, "a", "Show ways to work out the answer").getAttribute("href");
  const response = await platform({ method: "GET", url: new URL(link, page.window.location.href).href, headers: {} });
  page = await openPage(await response.text(), { scripts: [], path: page.window.location.pathname });
  const program = page.find("askew-programs label");
  const words = program.textContent.trim();
  program.querySelector("input").checked = true;

  page = await apply(page, "r1", "c1", "$110");
  assert.ok(page.find("askew-programs").textContent.includes(words));
  assert.equal(page.find("askew-programs .computed").textContent.trim(), "18 → 28");
  assert.equal(page.find("[name=answers]").value, "28\n");
  for (const code of ["table_unchanged", "answer_unchanged", "computed_answer_differs", "too_many_operations"]) {
    const [is, text] = state(page, code);
    assert.equal(is, "yes", code);
    matches(text, /OK/);
  }
  page = await apply(page, "r1", "c1", "$120");
  assert.equal(page.find("askew-programs .computed").textContent.trim(), "18 → 38");
  assert.equal(page.find("[name=answers]").value, "38\n"); // the one before was filled in, not written
  page.find("[name=answers]").value = "40";
  page = await save(page);
  assert.equal(page.find("[name=answers]").value, "40\n"); // this one was written
  const [is, text] = state(page, "computed_answer_differs");
  assert.equal(is, "no");
  matches(text, /not yet/);
  page = await submit(page, page.find("button[value=restore]"));
  assert.equal(page.find("[name=answers]").value, "40\n");
  page.find("[name=answers]").value = "";
  page = await save(page);
  assert.equal(page.find("[name=answers]").value, ""); // nothing was changed: what the program gives is no new answer
  matches(line(page, "table_unchanged").textContent, /not yet/);
  page = await apply(page, "r1", "c1", "many");
  matches(line(page, "cell_format").textContent, /please check/);
  matches(line(page, "cell_format").textContent, /has a different format from/);
  page = await apply(page, "r1", "c1", "$110");
  assert.deepEqual((await ask("value_change/drafts")).map((draft) => draft.answers), [["28"]]);
  page = await submit(page, page.find(".actions button.primary"));
  assert.equal(page.find("[data-progress-text]").textContent, "1 of 2");
  assert.deepEqual((await ask("value_change/responses")).map((stored) => stored.answers), [["28"]]);
});

test("without scripts, an answer is chosen where the programs disagree", async () => {
  let page = await openLive("value_change/films", {}, { scripts: [] });
  page = await apply(page, "r1", "c2", "300");
  assert.equal(page.find("[name=answers]").value, "");
  page = await submit(page, withText(page, "button", "Alien"));
  assert.equal(page.find("[name=answers]").value, "Alien\n");
  assert.equal(page.find("askew-programs .computed").textContent.trim(), "Heat → Alien");
  await submit(page, page.find(".actions button.primary"));
  const [stored] = await ask("value_change/responses");
  assert.deepEqual([stored.answers, stored.program.rows.column], [["Alien"], "c2"]);
});

// --- answers with line breaks -----------------------------------------------------------------------------------------

/* Ada's first item with its answer changed to the text of a cell. */
async function changesCity(text) {
  const page = await begin("cities");
  await keys(page, "1");
  page.click(cell(page, "r0", "c0"));
  press(page, "F2");
  page.fill(page.focused, text);
  press(page, "Enter");
  await saves(page);
  return page;
}

for (const text of ["New\nYork", "New\u2028York", "New\u0085York", "New\x0bYork", "New\x1cYork", "a\n\nb"]) {
  test(`a computed answer is one answer, whatever parts its lines: ${JSON.stringify(text)}`, async () => {
    const page = await changesCity(text);
    assert.deepEqual(page.find("askew-annotate").response.data.answers, [text]);
    await keys(page, "Control+Enter");
    await saves(page);
    const [{ answers: stored, difference }] = await ask("value_change/responses");
    assert.deepEqual([stored, difference], [[text], ""]);
  });
}

test("an answer with a line break stays one beside answers that a person adds, and after a reload", async () => {
  const page = await changesCity("New\nYork");
  page.fill("[data-field=answers]", "New York\nLima");
  await saves(page);
  assert.deepEqual(page.find("askew-annotate").response.data.answers, ["New\nYork", "Lima"]);
  const again = await reload(page);
  await again.passes(REST);
  assert.deepEqual(again.find("askew-annotate").response.data.answers, ["New\nYork", "Lima"]);
  assert.equal(answers(again), "New York\nLima");
  again.fill("[data-field=answers]", "York\nLima");
  assert.deepEqual(again.find("askew-annotate").response.data.answers, ["York", "Lima"]);
});
