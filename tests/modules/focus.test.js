/* Where the focus goes when what had it is removed or hidden, and what becomes of letters that were meant for it. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { openPage } from "./page.js";

const QUIET = { "POST /next/": { status: 204 }, "PUT /draft/": { revision: 1, violations: [] }, "GET /suggestions/": { suggestions: null, reason: "" } };
const PAUSE = 251; // ms after which letters act again

const open = (name) => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
  return name();
};
const PAGES = {
  paraphrase: () => openPage("page_at_work/paraphrase", { replies: QUIET }),
  question_type: () => openPage("page_at_work/question_type", { replies: QUIET }),
  value_change: () => openPage("page_at_work/value_change", { replies: QUIET }),
  header_synonym: () => openPage("page_at_work/header_synonym", { replies: QUIET }),
};
const sent = (page) => page.server.requests.filter(({ method, path }) => method === "POST" && !path.includes("/next/"));

afterEach(() => mock.timers.reset());

/* Remove or hide the element that has the focus, as the page may by itself. */
const LOSSES = {
  removed: (element) => element.remove(),
  hidden: (element) => { element.hidden = true; },
  "hidden with what it is in": (element) => { element.parentElement.hidden = true; },
  inert: (element) => { element.parentElement.inert = true; element.parentElement.setAttribute("inert", ""); },
};

for (const [how, lose] of Object.entries(LOSSES)) {
  test(`a control that is ${how} leaves the focus to what is nearest`, async () => {
    const page = await open(PAGES.value_change);
    const reason = page.find("textarea[name=reason]");
    reason.closest("[data-over-limit]").hidden = false;
    await page.settled();
    reason.focus();
    lose(reason);
    await page.settled();
    assert.notEqual(page.focused, page.document.body);
    assert.notEqual(page.focused, reason);
    assert.ok(page.focused.closest("askew-annotate"), page.focused.outerHTML);
    page.press("s", "u", "l");
    await page.settled();
    assert.deepEqual(page.all("details.pop[open], [data-unsure][aria-pressed=true]"), [], "letters that were meant for the field run no command");
    assert.deepEqual(sent(page), []);
  });
}

test("after a moment, letters are commands again where the focus is", async () => {
  const page = await open(PAGES.paraphrase);
  page.find("textarea[name=question]").remove();
  await page.settled();
  await page.passes(PAUSE);
  page.press("s");
  assert.ok(page.find("details[data-panel=skip]").open);
});

test("a cell that is being written gives the focus to its cell, a name to its list, whatever takes them away", async () => {
  const cells = await open(PAGES.value_change);
  cells.click("[data-row=r1] [data-column=c2]");
  cells.press("F2");
  assert.ok(cells.focused.matches("textarea.editor"));
  cells.focused.closest(".writing").remove();
  await cells.settled();
  assert.equal(cells.focused, cells.find("[data-row=r1] [data-column=c2]"));

  const names = await PAGES.header_synonym();
  names.click(".line .head");
  names.press("F2");
  names.focused.remove();
  await names.settled();
  assert.ok(names.focused.closest(".lines, askew-renames"), names.focused.outerHTML);
});

test("a window that is left keeps the field of a cell and of a name, with what is written", async () => {
  for (const name of ["value_change", "header_synonym"]) {
    mock.timers.reset();
    const page = await open(PAGES[name]);
    page.click(name === "value_change" ? "[data-row=r1] [data-column=c2]" : ".line .head");
    page.press("F2");
    const field = page.focused;
    field.value = "Gol";
    field.dispatchEvent(new page.window.InputEvent("input", { bubbles: true, data: "l" }));
    field.dispatchEvent(new page.window.FocusEvent("blur"));
    await page.passes(1000);
    assert.equal(page.focused, field);
    assert.equal(field.value, "Gol");
    page.find("[data-panel=skip] summary").focus();
    await page.passes(1000);
    assert.equal(field.isConnected, false, "within the page, it is kept and closed");
    assert.match(JSON.stringify(page.find("askew-annotate").response.data.operations), /"new":"Gol"/);
  }
});

test("a button whose notice goes leaves the focus in the bar", async () => {
  const page = await open(PAGES.question_type);
  const replies = { "POST /submit/": { status: 409, body: { code: "unmet_conditions", detail: "Not met.", unmet: [{ code: "x" }] } } };
  Object.assign(page.server.replies, replies);
  page.press("1");
  await page.settled();
  const button = page.find("[data-notices] button");
  button.focus();
  page.press("2");
  await page.settled();
  assert.notEqual(page.focused, page.document.body);
});
