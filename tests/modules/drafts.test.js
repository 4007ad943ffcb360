/* What a person has entered and the server has not: nothing of it is called saved, and no copy of it is deleted. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, openLive, platform, stopClock, until } from "./live.js";

const [MEDALS, JUMPS, OFFICES] = ["nt-3630", "nt-15", "nt-92"];

/* The second item of answer checks, with a first draft that is saved, while no later one can be. */
async function enters(first, later, { storage = true, replies = {} } = {}) {
  stopClock();
  let fails = false;
  const page = await openLive("columns/batch", { kind: "answer_check", ids: [MEDALS, JUMPS, OFFICES] }, {
    replies: { "PUT /draft/": (request) => (fails ? { status: 503, body: {} } : platform(request)), ...replies },
  });
  if (!storage) page.window.Storage.prototype.setItem = () => { throw new Error("full"); };
  page.fill(field(page), "the earlier answer");
  page.press("Control+Enter");
  await passes(page, 1000);
  assert.equal(question(page).startsWith("Previous"), false);
  page.fill(field(page), first);
  await passes(page, 1000);
  fails = true;
  page.fill(field(page), later);
  await passes(page, 1000);
  assert.match(saved(page), /Not saved/);
  page.find("button[value=submit]").focus();
  return { page, restore: () => { fails = false; } };
}

async function passes(page, milliseconds) {
  for (let left = milliseconds; left > 0; left -= 100) await page.passes(100);
}

const field = (page) => page.find("textarea[name=answers]");
const question = (page) => page.find(".question").textContent;
const saved = (page) => page.find("[data-saved]").textContent;
const copies = (page) => Object.entries({ ...page.window.localStorage }).filter(([key]) => key.startsWith("askew:draft:")).map(([, text]) => JSON.parse(text));
const unsaved = (page) => copies(page).filter((copy) => !copy.saved).map(({ response }) => response.data.answers);
const drafts = async () => (await ask("value_change/drafts")).map(({ answers }) => answers);

const LOOKS = {
  /* P, and Esc to come back. */
  async back(page) {
    page.press("p");
    await until(page, () => page.find("[data-past]").hasAttribute("data-looking"));
    page.press("Escape");
    await passes(page, 100);
  },
  /* U, and submit what was undone once more. */
  async undo(page) {
    page.press("u");
    await passes(page, 100);
    assert.equal(field(page).value.trim(), "the earlier answer");
    page.find("button[value=submit]").focus();
    page.press("Control+Enter");
    await passes(page, 1000);
  },
};

for (const [name, look] of Object.entries(LOOKS)) {
  for (const storage of [true, false]) {
    test(`what could not be saved is there after ${name}${storage ? "" : ", also where the browser stores nothing"}`, async () => {
      const { page, restore } = await enters("first", "first and much more", { storage });
      const before = question(page);
      await look(page);
      assert.equal(question(page), before);
      assert.equal(field(page).value.trim(), "first and much more");
      assert.doesNotMatch(saved(page), /^Saved|\. Saved/, "the server has not acknowledged it");
      if (storage) assert.deepEqual(unsaved(page), [["first and much more"]]);
      assert.ok((await drafts()).some((answers) => answers.includes("first")));
      restore();
      await passes(page, 40_000);
      assert.match(saved(page), /Saved/);
      assert.ok((await drafts()).some((answers) => answers.includes("first and much more")));
    });
  }
}

test("nothing more is sent of an item once an undo leads to a page with other guidelines, and its copy stays", async () => {
  const other = async (request) => ({ ...await (await platform(request)).json(), guidelines: "of another version" });
  const { page, restore } = await enters("first", "first and much more", { replies: { "POST /undo/": other } });
  page.press("u");
  await until(page, () => hasLeft(page));
  restore();
  await passes(page, 40_000);
  assert.equal((await drafts()).some((answers) => answers.includes("first and much more")), false);
  assert.deepEqual(unsaved(page), [["first and much more"]]);
});

test("an item that was looked away from is said to be saved at the time of the server", async () => {
  stopClock();
  const page = await openLive("columns/batch", { kind: "answer_check", ids: [MEDALS, JUMPS] });
  page.fill(field(page), "the earlier answer");
  page.press("Control+Enter");
  await passes(page, 1000);
  page.fill(field(page), "mine");
  await passes(page, 1000);
  const said = saved(page);
  await passes(page, 90_000);
  page.find("button[value=submit]").focus();
  await LOOKS.back(page);
  assert.equal(saved(page), said);
});

const BREAKS_OFF = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"revision": 2, ')), pull: (controller) => controller.error(new Error("gone")) });
for (const [name, content] of Object.entries({ "breaks off": BREAKS_OFF, "comes from something in between": "<p>Sign in to use this network.</p>", "is of something in between": "{}" })) {
  test(`a reply that ${name} is no answer of the server`, async () => {
    stopClock();
    let replies = 0;
    const page = await openLive("columns/batch", { kind: "answer_check", ids: [MEDALS, JUMPS] }, {
      replies: { "PUT /draft/": (request) => ((replies += 1) === 1 ? new Response(content) : platform(request)) },
    });
    page.fill(field(page), "mine");
    await passes(page, 500);
    assert.match(saved(page), /Not saved/);
    assert.deepEqual(unsaved(page), [["mine"]]);
    await passes(page, 2000);
    assert.match(saved(page), /^Saved/);
    assert.deepEqual(await drafts(), [["mine"]]);
  });
}

test("a submission whose answer is not of the server is not called submitted, and its copy stays", async () => {
  stopClock();
  const page = await openLive("columns/batch", { kind: "answer_check", ids: [MEDALS, JUMPS] }, {
    replies: { "POST /submit/": () => new Response("{}") },
  });
  const before = question(page);
  page.fill(field(page), "mine");
  page.find("button[value=submit]").focus();
  page.press("Control+Enter");
  await passes(page, 1000);
  assert.equal(question(page), before);
  assert.deepEqual(copies(page).map(({ response }) => response.data.answers), [["mine"]]);
});
