/* Nothing of an item outlives it: after item A, an item B is on the page as on a page that is opened with it. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { data, openPage } from "./page.js";

const PAGES = data("page_at_work/every_task_type");
const WORD = "zebra";
const STATUS = ["[data-saved]", "[data-announce]"]; // what is said of A is said beside B, once
const QUIET = {
  "POST /next/": { status: 204 }, "GET /suggestions/": { suggestions: null, reason: "None." }, "GET /session/": { status: 404 }, "POST /ping/": null,
  "POST /predictions/": new TypeError("no model"), "POST /proposals/": { help: "offered", proposals: [] },
};

afterEach(() => mock.timers.reset());

/* The item of a page, and another one with other texts in its table. */
function itemsOf(html) {
  const text = html.match(/<script id="assignment"[^>]*>([\s\S]*?)<\/script>/u)[1];
  const item = JSON.parse(text);
  const next = JSON.parse(text);
  next.id = "item-b";
  next.progress = { ...item.progress, submitted: item.progress.submitted };
  next.shows.question = "Which of them is it?";
  for (const row of next.shows.table?.rows ?? []) row[0] = `other ${row[0]}`;
  const fresh = html.replace(text, () => JSON.stringify(next).replace(/</gu, "\\u003C"));
  return { next, fresh };
}

async function opens(html, replies = {}) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.parse("2026-03-02T12:00:00Z") });
  let revision = 0;
  return openPage(html, { replies: {
    ...QUIET, "PUT /draft/": () => ({ revision: (revision += 1), saved_at: "2026-03-02T12:00:00Z", violations: [{ code: "x", message: "A verdict.", level: "warning", path: "" }] }), ...replies,
  } });
}

const isOfScripts = (field) => !field.closest(".without-scripts");

/* Leave traces of every kind on an item: a search, texts, choices, a mark, a note to managers, an open list. */
async function works(page) {
  const grid = page.all("askew-annotate askew-grid").find(({ edits }) => edits);
  if (grid) {
    grid.openFind();
    page.fill(grid.querySelector(".find-bar input"), "o");
    grid.lookedAt([[grid.base.row_ids[0], grid.base.column_ids[0]]]);
    grid.readBy([[grid.base.row_ids[0], grid.base.column_ids[0]]]);
    grid.say("Said of the first item.", { shown: true });
  }
  for (const field of page.all("askew-annotate form textarea").filter(isOfScripts)) page.fill(field, WORD);
  const names = new Set();
  for (const input of page.all("askew-annotate form :is(input[type=radio], input[type=checkbox])")) {
    if (names.has(input.name) || input.closest("[hidden]") || !isOfScripts(input)) continue;
    names.add(input.name);
    input.checked = true;
    input.dispatchEvent(new page.window.Event("change", { bubbles: true }));
  }
  page.all("[data-unsure]").forEach((button) => button.click());
  await page.passes(2000);
}

/* What is on the page, without what differs from visit to visit. */
function seen(page) {
  const root = page.find("askew-annotate");
  const values = [...root.querySelectorAll("input, textarea, select")].filter(({ type }) => type !== "hidden")
    .filter(isOfScripts).map(({ name, value, checked, type }) => [name, ["radio", "checkbox"].includes(type) ? checked : value]);
  const copy = root.cloneNode(true);
  for (const part of copy.querySelectorAll([...STATUS, "[data-progress]", "[data-progress-text]", "input[type=hidden]", "details.more, .guidelines"].join())) part.remove();
  for (const part of [copy, ...copy.querySelectorAll("*")]) {
    const attributes = [...part.attributes].map(({ name, value }) => [name, value]).sort();
    for (const [name] of attributes) part.removeAttribute(name);
    for (const [name, value] of attributes) part.setAttribute(name, value);
  }
  const texts = copy.outerHTML.replace(/askew-(\w+)-\d+/gu, "askew-$1").replace(/ (tabindex|id|for|aria-describedby|data-title|style)="[^"]*"/gu, "").replace(/ class=""/gu, "");
  return { values, texts: texts.split(/(?=<)/u) };
}

for (const [name, html] of Object.entries(PAGES)) {
  test(`nothing of an item of ${name} is on the page with the next one`, async () => {
    const { next, fresh } = itemsOf(html);
    const page = await opens(html, { "POST /skip/": { next } });
    await works(page);
    page.find("form[data-action=skip]").dispatchEvent(new page.window.Event("submit", { bubbles: true, cancelable: true }));
    await page.settled();
    if (page.find(".question").textContent !== next.shows.question) {
      page.all("input[name=skip_reason]")[0].checked = true;
      await page.find("askew-annotate").panels.skip();
    }
    await page.passes(2000);
    assert.equal(page.find(".question").textContent, next.shows.question);
    const after = seen(page);
    const own = await opens(fresh);
    await own.passes(2000);
    const expected = seen(own);
    assert.deepEqual(after.values, expected.values);
    assert.deepEqual(after.texts, expected.texts);
  });
}
