/* <askew-proposals>: what machines propose goes into the form, is edited or rejected, and nothing waits for it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { options, passes } from "./model.js";
import { data, load, openPage } from "./page.js";

const PROPOSALS = data("proposals/proposals");
const NEXT = data("proposals/submitted");
const [FIRST] = PROPOSALS.offered.proposals;
const SECOND = { ...FIRST, id: "second", data: { question: "what nation is above Mexico?", category: "general" }, words: ["what nation is above Mexico?"] };
const TWO = { ...PROPOSALS.offered, proposals: [FIRST, SECOND] };

/* Replies to a page that is proposed this. */
const replies = (proposals, more = {}) => options(new TypeError("no model"), {
  "POST /proposals/": proposals,
  "POST /handle/": { status: 204 },
  "POST /submit/": { status: 200, body: NEXT.submitted },
  ...more,
});

const list = (page) => page.all("[data-part=list] li").map(({ dataset }) => dataset.state);
const proposal = (page, number = 0) => page.all(".proposal")[number];
const textarea = (page) => page.find("textarea[name=question]");
const told = (page) => page.server.sent("POST", "/handle/").map(({ body }) => body);
const submissions = (page) => page.server.sent("POST", "/submit/").map(({ body }) => body.response.data);
const say = (page) => page.find("askew-proposals [data-part=say]").textContent;

test("the list has the focus, and each proposal its words, its reason and its keys", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  assert.equal(page.focused, proposal(page));
  assert.deepEqual(page.texts(".proposal .text"), [FIRST.words[0], SECOND.words[0]]);
  assert.deepEqual([...proposal(page).querySelectorAll("small")].map(({ textContent }) => textContent), [...FIRST.words.slice(1), FIRST.why, ""]);
  const [acts] = page.all(".acts");
  assert.deepEqual([...acts.querySelectorAll("button")].map(({ textContent }) => textContent),
    ["Use itEnter", "EditE", "meaning changed1", "not asked for2", "incomplete3", "invented4"]);
});

test("a proposal is submitted with two keys as it is", async () => {
  const page = await openPage("proposals/offered", replies(TWO, { "POST /proposals/": (request) => (request.path.includes(NEXT.submitted.next.id) ? NEXT.proposals : TWO) }));
  page.press("Enter");
  await page.settled();
  assert.deepEqual(list(page), ["took", ""]);
  assert.equal(textarea(page).value, FIRST.data.question);
  assert.equal(proposal(page).querySelector(".now").textContent, "In the form.");
  assert.equal(page.all(".acts")[0].querySelector("button").textContent, "Submit itEnter");
  assert.equal(page.focused, proposal(page));
  page.press("Enter");
  await page.settled();
  assert.deepEqual(submissions(page), [FIRST.data]);
  assert.deepEqual(told(page), [{ proposal: FIRST.id, act: "took" }]);
  assert.equal(page.find(".question").textContent, NEXT.submitted.next.shows.question);
  assert.deepEqual(page.texts(".proposal .text"), NEXT.proposals.proposals.map(({ words }) => words[0]));
  assert.equal(page.focused, proposal(page));
});

test("E puts a proposal into the form to be edited, and an edited one is in the form no more", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  page.press("e");
  assert.equal(page.focused, textarea(page));
  assert.equal(textarea(page).value, FIRST.data.question);
  assert.deepEqual(list(page), ["took", ""]);
  page.fill(textarea(page), `${FIRST.data.question} please.`);
  await passes(page, 100);
  assert.deepEqual(list(page), ["", ""]);
  page.press("Enter");
  await page.settled();
  assert.deepEqual(submissions(page), [{ ...FIRST.data, question: `${FIRST.data.question} please.` }]);
});

test("a digit rejects with a reason, and after the last one the item begins as always", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  page.press("4");
  assert.deepEqual(list(page), ["rejected", ""]);
  assert.equal(page.focused, proposal(page, 1));
  assert.equal(proposal(page).querySelector(".now").textContent, "Rejected.");
  assert.equal(page.all(".acts")[0].querySelector(".wrong"), null, "a rejected one is not rejected again");
  page.press("1");
  assert.deepEqual(list(page), ["rejected", "rejected"]);
  assert.equal(page.focused, textarea(page));
  assert.deepEqual(told(page), [
    { proposal: FIRST.id, act: "rejected", errors: ["invented"] }, { proposal: "second", act: "rejected", errors: ["meaning_changed"] },
  ]);
});

test("a proposal that was in the form and is rejected leaves it", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  const before = textarea(page).value;
  page.press("Enter", "2");
  assert.deepEqual(list(page), ["rejected", ""]);
  assert.equal(textarea(page).value, before);
  assert.equal(page.focused, proposal(page, 1));
});

test("arrows go through the list, Escape leaves it, and O comes back", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  page.press("ArrowDown");
  assert.equal(page.focused, proposal(page, 1));
  page.press("ArrowDown");
  assert.equal(page.focused, proposal(page, 1));
  page.press("ArrowUp");
  assert.equal(page.focused, proposal(page));
  page.press("Escape");
  assert.equal(page.focused, page.find(".actions button[value=submit]"));
  page.press("o");
  assert.equal(page.focused, proposal(page));
});

test("beside proposals, the keys of earlier items go on to mean what they do", async () => {
  const page = await openPage("proposals/offered", replies(TWO, {
    "POST /proposals/": (request) => (request.path.includes(NEXT.submitted.next.id) ? NEXT.proposals : TWO), "GET /history/": NEXT.history,
    "GET /response/": NEXT.response,
  }));
  page.press("Enter", "Enter");
  await page.settled();
  page.press("Escape", "p");
  await load("askew/past.js"); // as the page does when it is first wanted
  await page.settled();
  assert.match(page.find("[data-past-words]").textContent, /1 of your last 1\./);
  page.press("f");
  await page.settled();
  assert.equal(page.find("[data-past]").hidden, true);
});

test("a click does what the key does", async () => {
  const page = await openPage("proposals/offered", replies(TWO));
  page.click(page.all(".acts")[1].querySelector("[data-error=missing]"));
  assert.deepEqual(list(page), ["", "rejected"]);
  page.click(page.all(".acts")[0].querySelector("button"));
  assert.equal(textarea(page).value, FIRST.data.question);
  page.click(page.all(".acts")[0].querySelector("[data-edit]"));
  assert.equal(page.focused, textarea(page));
  assert.deepEqual(told(page).map(({ act }) => act), ["rejected", "took"]);
});

test("changed headers are proposed and taken like a question", async () => {
  const page = await openPage("proposals/header_synonym", replies(PROPOSALS.header_synonym));
  assert.equal(page.focused, proposal(page));
  page.press("Enter");
  await page.settled();
  assert.deepEqual(list(page), ["took", "", "", ""]);
  assert.ok(page.all("ins, .line[data-state=changed]").length);
  page.press("ArrowDown", "Enter");
  assert.deepEqual(list(page), ["", "took", "", ""], "the form holds one at a time");
  page.press("Enter");
  await page.settled();
  assert.deepEqual(submissions(page)[0].operations, PROPOSALS.header_synonym.proposals[1].data.operations);
});

test("where proposals are filled in, one key accepts", async () => {
  const page = await openPage("proposals/filled", replies({ ...TWO, help: "filled" }));
  assert.equal(page.focused, proposal(page));
  assert.equal(textarea(page).value, FIRST.data.question);
  assert.deepEqual(list(page), ["took", ""]);
  page.press("Enter");
  await page.settled();
  assert.deepEqual(submissions(page), [FIRST.data]);
  assert.deepEqual(told(page), [{ proposal: FIRST.id, act: "took" }]);
});

test("where proposals are filled in, the next one takes the place of one that is rejected, and none that of the last", async () => {
  const page = await openPage("proposals/filled", replies({ ...TWO, help: "filled" }));
  page.press("2");
  assert.equal(textarea(page).value, SECOND.data.question);
  assert.deepEqual(list(page), ["rejected", "took"]);
  assert.equal(page.focused, proposal(page, 1));
  page.press("2");
  assert.equal(textarea(page).value, page.find(".question").textContent);
  assert.equal(say(page), "All proposals are rejected. Write your own response, or skip the item.");
  assert.equal(page.focused, textarea(page));
  assert.deepEqual(told(page).map(({ act, errors }) => [act, errors]), [["took", undefined], ["rejected", ["not_asked"]], ["took", undefined], ["rejected", ["not_asked"]]]);
});

test("what was done with a proposal arrives before its item is submitted", async () => {
  let arrived = null;
  const page = await openPage("proposals/filled", replies({ ...TWO, help: "filled" }, { "POST /handle/": () => new Promise((resolve) => { arrived = resolve; }) }));
  page.press("Enter");
  await passes(page, 500);
  assert.deepEqual(submissions(page), [], "the server counts what it heard until then");
  arrived({ status: 204 });
  await page.settled();
  assert.deepEqual(submissions(page), [FIRST.data]);
});

test("a submission waits for that a second and no longer", async () => {
  const page = await openPage("proposals/filled", replies({ ...TWO, help: "filled" }, { "POST /handle/": () => new Promise(() => {}) }));
  page.press("Enter");
  await passes(page, 900);
  assert.deepEqual(submissions(page), []);
  await passes(page, 200);
  assert.deepEqual(submissions(page), [FIRST.data]);
});

test("what did not arrive is told again after 2 and 8 seconds, what was refused is not", async () => {
  let reply = new TypeError("failed");
  const page = await openPage("proposals/offered", replies(TWO, { "POST /handle/": () => reply }));
  page.press("4");
  await passes(page, 1_900);
  assert.equal(told(page).length, 1);
  await passes(page, 200);
  assert.equal(told(page).length, 2);
  await passes(page, 8_000);
  assert.equal(told(page).length, 3);
  await passes(page, 20_000);
  assert.equal(told(page).length, 3);
  reply = { status: 422, body: { code: "invalid_request", detail: "no" } };
  page.press("1");
  await passes(page, 20_000);
  assert.equal(told(page).length, 4);
});

test("an item without help shows no proposals and asks for none", async () => {
  const page = await openPage("proposals/without_help", replies(new TypeError("not asked")));
  assert.equal(page.find("askew-proposals").hidden, true);
  assert.equal(page.focused, textarea(page));
  assert.equal(page.server.sent("POST", "/proposals/").length, 0);
});

test("an item for which nothing is proposed begins as always", async () => {
  const page = await openPage("proposals/offered", replies({ help: "offered", proposals: [] }));
  assert.equal(say(page), "No proposals for this item.");
  assert.equal(page.focused, textarea(page));
});

test("proposals that cannot be loaded are said to, and nothing waits for them", async () => {
  const page = await openPage("proposals/filled", replies(new TypeError("failed")));
  assert.equal(say(page), "The proposals could not be loaded. You can continue without them.");
  assert.equal(textarea(page).value, page.find(".question").textContent);
  assert.equal(page.focused, textarea(page));
});

test("proposals that come late take neither the focus nor the form of somebody who has begun", async () => {
  let arrived = null;
  const page = await openPage("proposals/filled", replies(() => new Promise((resolve) => { arrived = resolve; })));
  page.press("w");
  page.fill(textarea(page), "my own words");
  arrived({ ...TWO, help: "filled" });
  await page.settled();
  assert.deepEqual(list(page), ["", ""]);
  assert.equal(textarea(page).value, "my own words");
  assert.equal(page.focused, textarea(page));
});

test("what a model said of a proposal stands beside it", async () => {
  const verdicts = ["fooled", "not_fooled", "wrong_on_original"];
  const proposals = verdicts.map((verdict) => ({ ...FIRST, id: verdict, verdict }));
  const page = await openPage("proposals/offered", replies({ ...TWO, proposals }));
  assert.deepEqual(page.all(".proposal .state").map(({ textContent, dataset }) => [textContent, dataset.kind]), [
    ["fools the model", "good"], ["the model gets it right", "open"], ["the model already gets the original wrong", "open"],
  ]);
});
