/* The page of annotating: its keys, guidelines, checklist and messages, and when it sends what to the server. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { data, openPage } from "./page.js";

const SAVED = { revision: 1, violations: [] };
const QUIET = { "POST /next/": { status: 204 }, "PUT /draft/": SAVED, "GET /suggestions/": { suggestions: null, reason: "" } };
const BEGINS = {
  question_type: ".question", question_screening: ".question", cell_relevance: ".question", answer_rating: ".question",
  metric_failure: ".question", perturbation_rating: ".question", relevant_cells: "askew-grid td",
  short_table: "askew-grid td, askew-grid th, [role=radiogroup]", value_change: "askew-grid td, [role=radiogroup]",
  answer_check: "textarea[name=answers]", question_paraphrase: "textarea[name=question]", header_synonym: ".lines *",
  header_abbreviation: ".lines *", column_adding: ".lines *", column_extension: ".lines *", column_masking: ".lines *",
};

/* An item that follows the one on a page. */
const following = (page, number = 2) => {
  const item = JSON.parse(page.find("#assignment").textContent);
  return { ...item, id: `item-${number}`, draft: null, shows: { ...item.shows, question: `question ${number}?` }, progress: { submitted: number - 1, total: 6 } };
};

/* Submissions are accepted, and each is followed by another item. */
function submits(page, replies = page.server.replies) {
  let number = 1;
  replies["POST /submit/"] = () => {
    number += 1;
    return { annotation: { id: `annotation-${number}` }, next: following(page, number) };
  };
}

/* Wait for a module that is fetched when it is first wanted. */
async function until(page, holds, what) {
  const end = performance.now() + 20_000;
  while (!holds() && performance.now() < end) await page.settled();
  assert.ok(holds(), what);
}

async function opens(page, key, selector) {
  page.press(key);
  await until(page, () => page.all(selector).length > 0, `${key} opens ${selector}`);
}

const KEYS = "dialog[open] table.keys";
const question = (page) => page.find(".question").textContent;
const isOpen = (page) => page.find("[data-guidelines]").open;
const listed = (page) => page.all(".contract li").filter((line) => !line.hidden);
const steps = (page) => page.all("[data-step]").filter((step) => !step.closest("[hidden]"))
  .map((step) => (step.hasAttribute("aria-current") ? "current" : step.hasAttribute("data-done") ? "done" : "open"));

/* Change a cell as a person does who types into it. */
function write(page, row, text, column = "c2") {
  const cell = page.find(`[data-row=${row}] [data-column=${column}]`);
  page.click(cell);
  page.press("F2");
  const editor = page.focused;
  editor.textContent = text;
  if ("value" in editor) editor.value = text;
  editor.dispatchEvent(new page.window.InputEvent("input", { bubbles: true, data: text }));
  page.press("Enter");
}

afterEach(() => mock.timers.reset());

const withTimers = () => mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });

// --- keys -----------------------------------------------------------------------------------------------------------

test("the focus of every task type begins where keys act, and the keys of its actions and choices do something", async () => {
  const state = (page) => JSON.stringify([
    page.all("*").indexOf(page.focused),
    page.all("input, textarea, select").map(({ checked, value }) => [checked, value]),
    page.all("dialog[open], details[open], [aria-busy], [aria-pressed=true]").length,
    page.find("[data-notices]").textContent,
    page.server.requests.length,
  ]);
  const replies = { ...QUIET, "POST /submit/": { status: 503, body: {} } }; // the item stays
  const pages = data("page_at_work/every_task_type");
  assert.ok(Object.keys(pages).length >= 18);
  for (const [name, html] of Object.entries(pages)) {
    let page = await openPage(html, { replies });
    assert.ok(page.focused.matches(BEGINS[name.split(" ")[0]]), `${name}: ${page.focused.outerHTML.slice(0, 80)}`);
    const table = page.find("askew-annotate").keys.table();
    const choices = table.filter(({ run }) => !run).map(({ key }) => key);
    const actions = table.filter(({ run }) => run).map(({ key }) => key);
    assert.ok(["Enter", "u", "?"].every((key) => actions.includes(key)), name);
    const elsewhere = ["p", "e", "f", "h", "n", "v"]; // actions of modules that are fetched, marked cells and comparisons
    for (const key of new Set([...actions.filter((each) => !elsewhere.includes(each) && each !== "Enter"), ...choices, "Enter"])) {
      page.focused.blur();
      const before = state(page);
      page.press(key);
      await page.settled();
      assert.ok(state(page) !== before, `${key} of ${name}`);
      page.all("dialog[open]").forEach((dialog) => dialog.close());
      page.all("details.pop[open]").forEach((panel) => { panel.open = false; });
      const isComplete = page.server.sent("POST", "/submit/").length || choices.indexOf(key) % 2 === 1; // of two scales
      if (isComplete) page = await openPage(html, { replies });
    }
  }
});

test("a button whose key is not drawn tells it", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  for (const [selector, key] of [["button[value=undo]", "U"], ["[data-guidelines-button]", "I"]]) {
    assert.equal(page.find(selector).title, `Key: ${key}`);
    assert.equal(page.find(selector).getAttribute("aria-keyshortcuts"), key);
  }
});

test("a key that is drawn on a control is told as its shortcut, and is no part of its name", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  const drawn = page.all(":is(label, button, a, summary) kbd");
  assert.ok(drawn.length > 4);
  for (const kbd of drawn) {
    assert.equal(kbd.ariaHidden ?? kbd.getAttribute("aria-hidden"), "true");
    const control = kbd.closest("label")?.control ?? kbd.closest("button, a, summary");
    assert.equal(control.getAttribute("aria-keyshortcuts"), kbd.textContent);
  }
  assert.equal(page.find("[value=extraction]").getAttribute("aria-keyshortcuts"), "1");
});

test("keys can be moved and switched off, and stay so", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  submits(page);
  await opens(page, "?", KEYS);
  page.click("[aria-label='Change the shortcut for Extraction']");
  page.press("k");
  page.find("dialog[open]").close();
  const storage = { "askew:keys": page.window.localStorage.getItem("askew:keys") };

  const again = await openPage("page_at_work/question_type", { replies: QUIET, storage });
  submits(again);
  assert.equal(again.find("kbd[data-shortcut='label:extraction']").textContent, "K");
  const first = question(again);
  again.press("1");
  await again.settled();
  assert.equal(question(again), first);
  again.press("k");
  await again.settled();
  assert.equal(question(again), "question 2?");
  await opens(again, "?", KEYS);
  again.click("dialog[open] [role=switch]");
  again.find("dialog[open]").close();

  const off = await openPage("page_at_work/question_type", { replies: QUIET, storage: { "askew:keys": again.window.localStorage.getItem("askew:keys") } });
  for (const key of ["k", "2", "s", "i", "?"]) off.press(key);
  await off.settled();
  assert.equal(question(off), first);
  assert.equal(off.all("dialog[open], details.pop[open]").length, 0);
  assert.ok(off.document.documentElement.hasAttribute("data-keys-off"), "the style sheet hides the keys");
});

test("a choice cannot be moved onto the key of an action, nor an action onto that of a choice", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  submits(page);
  await opens(page, "?", KEYS);
  const move = (action, key) => {
    page.click(`[aria-label='Change the shortcut for ${action}']`);
    page.press(key);
  };
  for (const [action, key, reason] of [
    ["Extraction", "s", "S is the shortcut for “Skip this item”."],
    ["Skip this item", "2", "2 is the shortcut for “Reasoning”."],
    ["Skip this item", "7", "Digits choose options."],
  ]) {
    move(action, key);
    assert.ok(page.find("dialog [role=alert]").textContent.includes(reason));
    assert.equal(page.focused.getAttribute("aria-label"), `Change the shortcut for ${action}`);
  }
  for (const [action, other, key] of [["Extraction", "Reasoning", "2"], ["Skip this item", "Flag this item", "g"]]) {
    move(action, key); // two of one sort change places
    assert.equal(page.all("dialog [role=alert]").length, 0);
    const row = page.all("dialog tr").find(({ cells }) => cells[1].textContent === other);
    assert.ok(!row.cells[0].textContent.includes(key.toUpperCase()), other);
  }
  page.find("dialog[open]").close();
  page.press("g");
  assert.ok(page.find("details[data-panel=skip]").open);
  page.press("Escape");
  page.press("2");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.label, "extraction");
});

test("digits are ignored for a moment after another set of choices has come", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  submits(page);
  let now = performance.now() + 10_000;
  mock.method(performance, "now", () => now);
  page.find("[name=label]").dataset.key = "7";
  page.find("askew-annotate").commits.arranged();
  page.press("2");
  assert.equal(page.all("[name=label]:checked").length, 0);
  now += 251;
  page.press("2");
  await page.settled();
  mock.restoreAll();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

test("Enter in the panel of skip skips and never submits", async () => {
  for (const key of ["Enter", "Control+Enter"]) {
    const page = await openPage("page_at_work/value_change", { replies: { ...QUIET } });
    page.server.replies["POST /skip/"] = { next: following(page) };
    write(page, "r1", "118");
    page.press("Escape", "s");
    const radio = page.find("details[data-panel=skip] [name=skip_reason]");
    radio.focus();
    radio.click();
    page.press(key);
    await page.settled();
    assert.equal(page.find("[data-saved]").textContent, "Previous item skipped.");
    assert.deepEqual(page.server.sent("POST", "/skip/").map(({ body }) => body.reason), [radio.value]);
    assert.equal(page.server.sent("POST", "/submit/").length, 0);
  }
});

test("Ctrl Enter on a choice says what is missing", async () => {
  const page = await openPage("page_at_work/paraphrase", { replies: QUIET });
  page.find("[data-kind=choice] input").focus();
  page.press("Control+Enter");
  await page.settled();
  assert.ok(page.find("[data-notices]").textContent.includes("Not submitted yet"));
  assert.equal(page.server.sent("POST", "/submit/").length, 0);
});

// --- guidelines -----------------------------------------------------------------------------------------------------

test("the drawer is open for the first three items of a task type, also of another batch, and then as a person left it", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  submits(page);
  for (let submitted = 0; submitted < 3; submitted += 1) {
    assert.ok(isOpen(page), `after ${submitted}`);
    page.press("1");
    await page.settled();
  }
  assert.ok(!isOpen(page));
  const storage = { ...page.window.localStorage };
  for (const key of Object.keys(storage)) if (key.startsWith("askew:total")) delete storage[key];
  const other = await openPage("page_at_work/question_type", { replies: QUIET, storage });
  submits(other);
  assert.ok(!isOpen(other), "this browser knows how many were submitted");
  other.press("i");
  assert.equal(other.focused, other.find(".guidelines .prose"));
  other.press("2");
  await other.settled();
  assert.equal(question(other), "question 2?", "a key inside the guidelines answers the item");
  assert.ok(isOpen(other), "guidelines that were opened stay open");
});

test("a search in the guidelines takes every sign as it is written", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  const texts = ["sub-total", "2010-11", "[a-c]", "5/6", "(x|y)", "{z}^", "$1.50?", "\\ *"];
  page.find(".guidelines .prose").append(texts.join("; "));
  for (const text of texts) {
    page.fill(".guidelines input[type=search]", text);
    await page.settled();
    assert.equal(page.texts(".guidelines mark").at(-1), text);
    assert.match(page.find(".guidelines [data-count]").textContent, /^1 of [1-9]$/);
  }
});

test("guidelines stay closed for the task type for which they were closed", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  page.press("i");
  assert.ok(!isOpen(page));
  const storage = { ...page.window.localStorage };
  assert.ok(!isOpen(await openPage("page_at_work/question_type", { replies: QUIET, storage })));
  assert.ok(isOpen(await openPage("page_at_work/value_change", { replies: QUIET, storage })));
});

test("in a small window the key leads into the guidelines, and Escape and their head back to where the focus was", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET, viewport: { width: 390, height: 844 } });
  const [button, choice] = [page.find("[data-guidelines-button]"), page.find("[name=label]")];
  assert.ok(!isOpen(page), "they would lie over the item");
  choice.focus();
  page.press("i");
  assert.equal(page.focused, page.find(".guidelines .prose"));
  assert.equal(button.getAttribute("aria-expanded"), "true");
  page.press("Escape");
  assert.ok(!isOpen(page));
  assert.equal(page.focused, choice);
  page.click(button);
  assert.ok(isOpen(page));
  page.click(".guidelines summary");
  assert.ok(!isOpen(page));
  assert.equal(page.focused, choice, "where keys act");
});

test("closing the drawer gives the focus back to where keys act", async () => {
  const page = await openPage("page_at_work/header_synonym", { replies: QUIET });
  const [button, begin] = [page.find("[data-guidelines-button]"), page.focused];
  assert.ok(begin.closest("askew-renames"));
  page.click(button);
  assert.ok(!isOpen(page));
  assert.ok(page.focused.closest("askew-renames"));
  page.click(button);
  assert.equal(page.focused, page.find(".guidelines .prose"));
  page.press("i");
  assert.ok(!isOpen(page));
  assert.ok(page.focused.closest("askew-renames"));
});

// --- messages and the checklist -------------------------------------------------------------------------------------

test("a message about the previous item stays until something is entered", async () => {
  withTimers();
  const page = await openPage("page_at_work/value_change", { replies: QUIET });
  submits(page);
  const [announced, saved] = [page.find("[data-announce]"), page.find("[data-saved]")];
  assert.ok(announced.textContent.startsWith("Change one or two values so that the answer stays the same. Question: "));
  write(page, "r1", "118");
  await page.passes(1000);
  assert.ok(announced.textContent.includes("The table is changed: OK"), announced.textContent);
  page.press("Control+Enter");
  await page.passes(1);
  assert.equal(question(page), "question 2?");
  assert.equal(announced.textContent, "Previous item submitted. Question: question 2?");
  assert.equal(saved.textContent, "Previous item submitted.");
  await page.passes(800);
  assert.equal(announced.textContent, "Previous item submitted. Question: question 2?");
  page.click("button[value=submit]");
  await page.settled();
  assert.ok(page.find("[data-notices]").textContent.includes("Not submitted yet"));
  assert.equal(saved.textContent, "Previous item submitted.");
  write(page, "r1", "118");
  await page.passes(1000);
  assert.ok(!saved.textContent.includes("submitted"));
});

test("what holds is read out once, and again only when it is otherwise", async () => {
  withTimers();
  const page = await openPage("page_at_work/value_change", { replies: QUIET });
  const announced = page.find("[data-announce]");
  const texts = [];
  new page.window.MutationObserver(() => announced.textContent && texts.push(announced.textContent))
    .observe(announced, { childList: true, characterData: true, subtree: true });
  for (const [row, text] of [["r1", "118"], ["r2", "163"]]) {
    write(page, row, text);
    await page.passes(1500);
  }
  assert.equal(texts.filter((text) => text.includes("The table is changed: OK")).length, 1);
  write(page, "r0", "171");
  await page.passes(1500);
  assert.ok(announced.textContent.includes("At most 2 changes, or a reason: not yet"), announced.textContent);
});

test("a hint about changes says when they are used up, and a condition is listed while it is broken", async () => {
  const page = await openPage("page_at_work/value_change", { replies: QUIET });
  const [hint, limit] = [page.find("[data-changes-hint]"), page.find("li[data-holds~=too_many_operations]")];
  assert.equal(hint.textContent, "Type into a cell to change it.");
  assert.ok(limit.hidden);
  write(page, "r1", "7");
  await page.settled();
  assert.equal(hint.textContent, "Type into a cell to change it.");
  write(page, "r2", "7");
  await page.settled();
  assert.equal(hint.textContent, "All used. Revert one, or change more and give the reason.");
  write(page, "r0", "7");
  await page.settled();
  assert.equal(hint.textContent, "Revert a change, or give the reason below.");
  assert.ok(!page.find("textarea[name=reason]").closest("[hidden]"));
  assert.ok(!limit.hidden);
  assert.ok(page.find("[data-ready-to-submit]").hidden);
  page.click("[data-take-back]");
  await page.settled();
  assert.ok(hint.textContent.includes("All used."));
  assert.ok(limit.hidden);
});

test("where no reason helps, the hint says what does", async () => {
  const page = await openPage("page_at_work/one_change", { replies: QUIET });
  write(page, "r1", "7");
  await page.settled();
  assert.equal(page.find("[data-changes-hint]").textContent, "All used. Revert one to change another cell.");
});

test("task types with several steps begin with the first", async () => {
  const replies = { ...QUIET, "GET /suggestions/": PROGRAM };
  for (const open of [
    () => openPage("page_at_work/value_change", { replies }),
    () => openPage("page_at_work/short_table", { replies }),
    () => openPage("page_at_work/paraphrase", { replies }),
  ]) {
    const page = await open();
    assert.equal(page.find("[data-step]").getAttribute("aria-current"), "step");
    assert.deepEqual(steps(page), ["current", "open"]);
  }
});

test("where no program gives the answer, the first step is done", async () => {
  const replies = { ...QUIET, "GET /suggestions/": data("page_at_work/no_suggestions") };
  const page = await openPage("page_at_work/no_program", { replies });
  assert.equal(page.find("[data-step=operations]").getAttribute("aria-current"), "step");
  assert.ok(page.find("askew-programs").textContent.includes("No program gives this answer."));
  assert.equal(page.all("askew-programs [type=radio]").length, 0);
});

test("the checklist is in the order of the steps and leads to what is missing", async () => {
  const page = await openPage("page_at_work/short_table", { replies: { ...QUIET, "GET /suggestions/": PROGRAM } });
  const lines = listed(page);
  assert.equal(lines[0].textContent, "Choose how the answer is worked out, or “None of these”.");
  assert.ok(lines.at(-1).textContent.includes("Something is removed, but not everything"));
  page.click(lines[0].querySelector("button"));
  assert.equal(page.focused, page.find("input[name=program]"));
});

const PROGRAM = { suggestions: { programs: [{ program: { op: "count" }, value: '{"op":"count"}', words: "Count the rows", answer: ["3"] }] }, reason: "" };

// --- progress -------------------------------------------------------------------------------------------------------

test("the total of the progress stays while other people add items, and does not shrink with a reload", async () => {
  const page = await openPage("page_at_work/question_type", { replies: QUIET });
  let number = 1;
  page.server.replies["POST /submit/"] = () => {
    number += 1;
    const total = 4 + number * 5; // items are added
    return { annotation: { id: `annotation-${number}` }, next: { ...following(page, number), progress: { submitted: number - 1, total } } };
  };
  const progress = page.find("[data-progress-text]");
  assert.equal(progress.textContent.trim(), "0 of 4");
  for (const text of ["1 of 4", "2 of 4"]) {
    page.press("1");
    await page.settled();
    assert.equal(progress.textContent, text);
  }
  const session = { ...page.window.sessionStorage };
  const key = Object.keys(session).find((name) => name.startsWith("askew:total:"));
  assert.equal(session[key], "[4]");
  const again = await openPage("page_at_work/question_type", { replies: QUIET, session: { [key]: "[6]" } });
  assert.equal(again.find("[data-progress-text]").textContent, "0 of 6");
});

// --- drafts and submissions -----------------------------------------------------------------------------------------

test("no draft is sent while a submission is on its way", async () => {
  withTimers();
  const page = await openPage("page_at_work/answer_check", { replies: { ...QUIET } });
  let [answerDraft, answerSubmit] = [null, null];
  page.server.replies["PUT /draft/"] = () => new Promise((resolve) => { answerDraft = () => resolve(SAVED); });
  page.server.replies["POST /submit/"] = () => new Promise((resolve) => { answerSubmit = () => resolve({ annotation: { id: "a" }, next: following(page) }); });
  page.fill("textarea[name=answers]", "19");
  page.document.dispatchEvent(new page.window.Event("visibilitychange")); // what is typed is looked at, also before a frame
  await page.passes(400);
  assert.equal(page.server.sent("PUT", "/draft/").length, 1);
  page.fill("textarea[name=answers]", "1995"); // to be saved once the first draft is
  page.press("Control+Enter");
  await page.passes(1);
  assert.equal(page.server.sent("POST", "/submit/").length, 0, "it waits for the draft");
  answerDraft();
  await page.passes(1);
  await page.passes(1000); // more than the pause after which a change is saved
  assert.equal(page.server.sent("PUT", "/draft/").length, 1);
  assert.deepEqual(page.server.sent("POST", "/submit/").map(({ body }) => body.response.data.answers), [["1995"]]);
  answerSubmit();
  await page.passes(1);
  assert.equal(question(page), "question 2?");
});

test("what an input method composes while a submission is on its way lands in no item", async () => {
  withTimers();
  const page = await openPage("page_at_work/answer_check", { replies: { ...QUIET } });
  let answerSubmit = null;
  page.server.replies["POST /submit/"] = () => new Promise((resolve) => { answerSubmit = resolve; });
  const field = page.find("textarea[name=answers]");
  page.fill(field, "1995");
  page.press("Control+Enter");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
  for (const text of ["k", "か"]) {
    const init = { bubbles: true, cancelable: false, isComposing: true, data: text, inputType: "insertCompositionText" };
    field.dispatchEvent(new page.window.InputEvent("beforeinput", init));
    field.value = `1995${text}`;
    field.dispatchEvent(new page.window.InputEvent("input", init));
    assert.equal(field.value, "1995");
  }
  answerSubmit({ status: 503, body: {} });
  await page.passes(2000);
  assert.equal(field.value, "1995");
  assert.deepEqual(page.server.sent("PUT", "/draft/").map(({ body }) => body.response.data.answers.join()).filter((text) => text !== "1995"), []);
});

test("whatever is entered is in the draft, in this browser, and there after a reload", async () => {
  const styles = [
    [(options) => openPage("page_at_work/relevant_cells", options), (page) => page.click(page.all("askew-grid tbody td")[1])],
    [(options) => openPage("page_at_work/answer_rating", options), (page) => page.click(page.all("input[name=faithfulness]")[2])],
    [(options) => openPage("page_at_work/header_synonym", options), (page) => {
      page.click(page.find(".line .head"));
      page.press("F2");
      page.fill(page.focused, "Name 1");
      page.press("Enter");
    }],
  ];
  for (const [open, enter] of styles) {
    withTimers();
    const page = await open({ replies: QUIET });
    const before = JSON.stringify(page.find("askew-annotate").response.data);
    enter(page);
    await page.passes(1000);
    const { response } = page.find("askew-annotate");
    assert.notEqual(JSON.stringify(response.data), before);
    // The page before this one may still save what it took from storage.
    const { id } = JSON.parse(page.find("#assignment").textContent);
    assert.deepEqual(page.server.sent("PUT", `/${id}/draft/`).at(-1).body.response.data, response.data);
    mock.timers.reset();
    const unsaved = Object.fromEntries(Object.entries({ ...page.window.localStorage }).map(([key, value]) => [key, key.startsWith("askew:draft:") ? JSON.stringify({ ...JSON.parse(value), saved: false, revision: 0 }) : value]));
    const again = await open({ replies: QUIET, storage: unsaved });
    assert.deepEqual(again.find("askew-annotate").response.data, response.data);
  }
});

test("of two quick changes of a setting, the later one is stored", async () => {
  const page = await openPage("page_at_work/question_type", { replies: { ...QUIET } });
  const answers = [];
  page.server.replies["POST /account/display/"] = () => new Promise((resolve) => answers.push(() => resolve({ status: 204 })));
  const choose = (value) => page.click(`#display [name=click_submits][value=${value}]`);
  choose("off");
  await page.settled();
  choose("on");
  await page.settled();
  const sent = () => page.server.sent("POST", "/account/display/");
  assert.equal(sent().length, 1, "it waits for the earlier one");
  answers[0]();
  await page.settled();
  assert.equal(sent().length, 2);
  assert.equal(sent()[1].body.get("click_submits"), "on");
});
