/* <askew-prediction>: the gateway and its tickets, and the models of the panel beside the model in the loop. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { answers, box, line, options, part, passes, state, textOf, typed } from "./model.js";
import { data, openPage } from "./page.js";

const REPLIES = data("prediction/paraphrase_replies");
const PANEL = data("prediction/panel_replies");
const TICKET = data("prediction/ticket");
const RIGHT = "which year saw it in cinemas?";
const FOOLING = "in which year was it released?";
const WRONG = "Wrong on the original · 42 · fairly sure";
const EXPIRED = { status: 401, body: { code: "not_signed_in", detail: "This ticket has expired." } };

/* The replies of the model in the loop, and of every model of the panel. */
function reply({ body: { kind, model, response } }) {
  const { question } = response.data;
  if (model) return question === RIGHT || question === FOOLING ? PANEL.reworded : PANEL.original;
  return kind === "try" ? REPLIES.checked : question === RIGHT ? REPLIES.right : REPLIES.original;
}

const sent = (page, part) => page.server.sent("POST", part);
const panel = (page) => page.texts("[data-part=panel] li");
const questions = (page, model) => sent(page, "/predictions/").filter(({ body }) => body.model === model).map(({ body }) => body.response.data.question);

test("previews and checks go through the gateway with one ticket of the item", async () => {
  const page = await openPage("prediction/paraphrase_with_gateway", options(new TypeError("not asked"), { "POST /ticket/": TICKET, "POST /gateway/": reply }));
  await passes(page, 100);
  assert.equal(state(page), "answered");
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.deepEqual(answers(page), ["1995", "1995"]);
  page.press("Enter");
  await page.settled();
  assert.equal(textOf(page, "tries"), "1 check");
  assert.deepEqual(sent(page, "/gateway/").map(({ body }) => body.kind), ["preview", "preview", "try"]);
  assert.ok(sent(page, "/gateway/").every(({ headers }) => headers.Authorization === `Ticket ${TICKET.ticket}`));
  assert.equal(sent(page, "/ticket/").length, 1);
  assert.equal(sent(page, "/predictions/").length, 0);
});

test("the checks that came before are shown with the ticket, for the gateway counts none in a preview", async () => {
  const preview = { ...REPLIES.original, tries: null };
  const page = await openPage("prediction/paraphrase_with_gateway", options(new TypeError("not asked"), { "POST /ticket/": { ...TICKET, tries: 2 }, "POST /gateway/": preview }));
  await passes(page, 100);
  assert.equal(textOf(page, "tries"), "2 checks");
});

for (const status of [404, 502, 503, 504]) {
  test(`a gateway that is away (${status}) is left alone for 30 seconds, in which the web process is asked`, async () => {
    let gateway = reply;
    const page = await openPage("prediction/paraphrase_with_gateway", options(reply, { "POST /ticket/": TICKET, "POST /gateway/": (request) => (typeof gateway === "function" ? gateway(request) : gateway) }));
    await passes(page, 100);
    gateway = { status, body: null };
    await typed(page, RIGHT);
    await passes(page, 400);
    assert.equal(state(page), "answered");
    assert.equal(sent(page, "/predictions/").length, 1);
    const before = sent(page, "/gateway/").length;
    page.press("Enter");
    await page.settled();
    assert.equal(textOf(page, "tries"), "1 check");
    assert.equal(sent(page, "/gateway/").length, before);
    gateway = reply;
    await passes(page, 30_000);
    await typed(page, FOOLING);
    await passes(page, 400);
    assert.equal(sent(page, "/gateway/").length, before + 1);
    assert.equal(sent(page, "/predictions/").length, 2);
  });
}

test("what a gateway refuses is not asked of the web process", async () => {
  const refusal = { status: 429, body: { code: "throttled", detail: "You asked too often." } };
  const page = await openPage("prediction/paraphrase_with_gateway", options(reply, { "POST /ticket/": TICKET, "POST /gateway/": refusal }));
  await passes(page, 100);
  assert.equal(state(page), "unavailable");
  assert.equal(textOf(page, "words"), "You asked too often. Retrying soon.");
  assert.equal(sent(page, "/predictions/").length, 0);
});

test("a ticket that has expired is exchanged for a new one", async () => {
  let valid = "first";
  const tickets = ["first", "second"];
  const gateway = (request) => (request.headers.Authorization === `Ticket ${valid}` ? reply(request) : EXPIRED);
  const page = await openPage("prediction/paraphrase_with_gateway", options(new TypeError("not asked"), { "POST /ticket/": () => ({ ...TICKET, ticket: tickets.shift() }), "POST /gateway/": gateway }));
  await passes(page, 100);
  valid = "second";
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(state(page), "answered");
  assert.deepEqual(answers(page), ["1995", "1995"]);
  assert.deepEqual(sent(page, "/gateway/").map(({ headers }) => headers.Authorization), ["Ticket first", "Ticket first", "Ticket second"]);
});

test("a second ticket that is refused, too, is a failure and not asked for without end", async () => {
  const page = await openPage("prediction/paraphrase_with_gateway", options(reply, { "POST /ticket/": TICKET, "POST /gateway/": EXPIRED }));
  await passes(page, 100);
  assert.equal(state(page), "unavailable");
  assert.equal(sent(page, "/ticket/").length, 2);
  assert.equal(sent(page, "/predictions/").length, 0);
});

test("models of the panel are shown as each answers, and one that hangs holds up no other", async () => {
  let hangs = null;
  const predictions = (request) => ((request.body.model ?? "small") === hangs ? new Promise(() => {}) : reply(request));
  const page = await openPage("prediction/paraphrase_with_panel", options(predictions));
  hangs = "third";
  await passes(page, 100);
  assert.equal(part(page, "panel").hidden, false);
  assert.deepEqual(panel(page), [`other: ${WRONG}`, "third: …"]);
  hangs = "small";
  await typed(page, RIGHT);
  await passes(page, 700);
  assert.equal(state(page), "waiting");
  assert.deepEqual(panel(page), [`other: ${WRONG}`, `third: ${WRONG}`]);
  assert.equal(questions(page, "other").at(-1), RIGHT);
});

test("the panel is shown before the model in the loop has answered once", async () => {
  const page = await openPage("prediction/paraphrase_with_panel", options((request) => (request.body.model ? reply(request) : new Promise(() => {}))));
  await passes(page, 100);
  assert.deepEqual(panel(page), [`other: ${WRONG}`, `third: ${WRONG}`]);
  assert.equal(part(page, "panel").hidden, false);
});

test("a page with a panel shares one ticket, and one again when it has expired", async () => {
  let valid = "first";
  const tickets = ["first", "second"];
  const gateway = (request) => (request.headers.Authorization === `Ticket ${valid}` ? reply(request) : EXPIRED);
  const page = await openPage("prediction/paraphrase_with_panel_and_gateway", options(new TypeError("not asked"), { "POST /ticket/": () => ({ ...TICKET, ticket: tickets.shift() }), "POST /gateway/": gateway }));
  await passes(page, 100);
  assert.deepEqual(panel(page), [`other: ${WRONG}`, `third: ${WRONG}`]);
  assert.equal(sent(page, "/ticket/").length, 1);
  valid = "second";
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(state(page), "answered");
  assert.equal(box(page).dataset.verdict, "not_fooled");
  assert.deepEqual(panel(page), [`other: ${WRONG}`, `third: ${WRONG}`]);
  assert.equal(sent(page, "/ticket/").length, 2, "one again, after all three got a 401");
  assert.equal(sent(page, "/predictions/").length, 0);
});

for (const [name, failure, words] of [["busy", PANEL.busy, PANEL.busy.words], ["away", new TypeError("failed"), "The server cannot be reached."]]) {
  test(`a model of the panel that is ${name} is asked again until it answers`, async () => {
    let isFailing = true;
    const page = await openPage("prediction/paraphrase_with_panel", options((request) => (isFailing && request.body.model === "other" ? failure : reply(request))));
    await passes(page, 100);
    assert.equal(state(page), "answered");
    assert.deepEqual(panel(page), [`other: ${words} Retrying soon.`, `third: ${WRONG}`]);
    await passes(page, 2_100);
    assert.equal(questions(page, "other").length, 2);
    isFailing = false;
    await passes(page, 4_100);
    assert.deepEqual(panel(page), [`other: ${WRONG}`, `third: ${WRONG}`]);
    assert.equal(questions(page, "other").length, 3);
    assert.equal(questions(page, "third").length, 1);
    assert.deepEqual(line(page).slice(0, 2), ["Right on the original", "1995"]);
  });
}

test("models of the panel are asked once about one text, also where the model in the loop is asked again", async () => {
  let isBusy = false;
  const page = await openPage("prediction/paraphrase_with_panel", options((request) => (isBusy && !request.body.model ? REPLIES.busy : reply(request))));
  await passes(page, 100);
  isBusy = true;
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(state(page), "busy");
  isBusy = false;
  await passes(page, 2_100);
  assert.equal(state(page), "answered");
  assert.equal(questions(page, undefined).length, 3);
  assert.deepEqual(questions(page, "other").slice(1), [RIGHT]);
});

test("an item without a panel says nothing of other models", async () => {
  const page = await openPage("prediction/paraphrase", options(reply));
  await passes(page, 100);
  assert.equal(part(page, "panel").hidden, true);
});
