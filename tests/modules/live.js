/* A page whose requests the platform itself answers, see live.py: what is sent is checked and stored as it is for people.

     const page = await openLive("columns/batch", { kind: "header_synonym", ids: ["nt-3630"] });
     page.press("1", "Enter");
     await page.settled();
     assert.deepEqual(await ask("columns/responses"), [...]);

   Every page has a world of its own. `replies` answer single requests in place of the platform, as in page.js. */

import { request } from "node:http";
import { afterEach, mock } from "node:test";

import { openPage } from "./page.js";

const SERVER = process.env.ASKEW_LIVE_SERVER;

const flights = new Set();

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/* Open the page whose path a function of tests/modules/pages/ returns, as the person it signed in. */
export async function openLive(name, values = {}, options = {}) {
  return visit(await call("open", name, values), options);
}

/* Open another page in the same world, as a visitor of this address; see onward() for where a page leads. */
export async function visit(path, options = {}) {
  return arrive(await exchange("GET", path), options);
}

async function arrive({ status, text, path }, { replies = {}, ...options } = {}) {
  if (![200, 409, 422].includes(status)) throw new Error(`${path} has status ${status}`);
  const live = { "GET /": platform, "POST /": platform, "PUT /": platform, "DELETE /": platform };
  const page = await openPage(text, { replies: { ...live, ...replies }, path, ...options });
  page.status = status;
  noteWhereItLeads(page);
  const { settled } = page;
  page.settled = async () => {
    do {
      await Promise.all([...flights]);
      await settled.call(page);
    } while (flights.size);
  };
  await page.settled();
  return page;
}

/* Load the page anew, at another path if there is one, with what this browser has stored. */
export function reload(page, path = page.window.location.pathname + page.window.location.search, options = {}) {
  return visit(path, { storage: closed(page), ...options });
}

/* The page that a link, a form or an address of a script has led to: jsdom does not load another one. */
export async function onward(page, options = {}) {
  const { href, form, submitter } = page.left.at(-1);
  const storage = closed(page);
  if (href) return visit(pathOf(href), { storage, ...options });
  const data = new page.window.FormData(form, submitter);
  const method = (submitter?.getAttribute("formmethod") ?? form.getAttribute("method") ?? "get").toUpperCase();
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? page.path;
  const entered = String(new URLSearchParams([...data]));
  if (method === "GET") return visit(`${pathOf(action).split("?")[0]}?${entered}`, { storage, ...options });
  return arrive(await exchange("POST", pathOf(action), entered, FORM), { storage, ...options });
}

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

function pathOf(url) {
  const { pathname, search } = new URL(url, "http://testserver");
  return pathname + search;
}

/* Close a page and return what its browser has stored. */
function closed(page) {
  const storage = { ...page.window.localStorage };
  if (page.errors.length) throw new Error(page.errors.join("\n"));
  page.window.dispatchEvent(new page.window.Event("pagehide"));
  page.window.close();
  return storage;
}

/* Whether something has led away from the page. */
export const hasLeft = (page) => page.left.length > 0;

function noteWhereItLeads(page) {
  const { window } = page;
  page.left = []; // [{href} or {form, submitter}]
  page.path = window.location.pathname + window.location.search;
  const assigned = { assign: (url) => page.left.push({ href: new URL(url, window.location).href }), reload: () => page.left.push({ href: window.location.href }) };
  globalThis.location = new Proxy({}, {
    get: (_, key) => assigned[key] ?? (typeof window.location[key] === "function" ? window.location[key].bind(window.location) : window.location[key]),
    set: (_, key, value) => Reflect.set(window.location, key, value),
  });
  window.HTMLFormElement.prototype.submit = function () { page.left.push({ form: this }); };
  window.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    page.left.push({ form: event.target, submitter: event.submitter });
  });
  window.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    page.left.push({ href: link.href });
  });
}

/* What a function of tests/modules/pages/ returns in the world of the page. */
export const ask = (name, values = {}) => call("ask", name, values);

async function call(verb, name, values) {
  const { status, text } = await exchange("POST", `/${verb}/${name}`, JSON.stringify(values), { "Content-Type": "application/json" });
  if (status !== 200) throw new Error(`${name} raised an error`);
  return JSON.parse(text);
}

/* Replies that wait: `replies: { "GET /suggestions/": held.reply }`, then answer() by the platform or fail(). */
export function hold() {
  const waiting = [];
  return {
    waiting,
    reply: (asked) => new Promise((resolve) => waiting.push({ asked, resolve })),
    answer: () => {
      const { asked, resolve } = waiting.shift();
      resolve(platform(asked));
    },
    fail: () => waiting.shift().resolve(new TypeError("the connection fails")),
  };
}

/* Wait until a module that a key fetches has come, and with it what the condition is about. */
export async function until(page, condition) {
  const deadline = process.hrtime.bigint() + 10_000_000_000n; // ns
  while (!condition()) {
    if (process.hrtime.bigint() > deadline) throw new Error(`not within ten seconds: ${condition}`);
    await page.settled();
  }
}

/* Time stands still from here on; `page.passes()` lets it pass. Call it before the page is opened. */
export function stopClock() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
  mock.method(performance, "now", () => Date.now());
}

/* The platform's own reply to a request of a page. */
export async function platform({ method, url, body, headers }) {
  const isForm = body !== null && typeof body === "object" && typeof body.entries === "function";
  const sent = isForm ? String(new URLSearchParams([...body])) : typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const { status, text, path, contentType } = await exchange(method, pathOf(url), sent, { ...headers, ...(isForm ? FORM : {}) });
  const response = new Response(status === 204 ? null : text, { status, headers: { "Content-Type": contentType } });
  if (path && path !== pathOf(url)) Object.defineProperties(response, { redirected: { value: true }, url: { value: path } });
  return response;
}

function exchange(method, path, body, headers = {}) {
  const flight = new Promise((resolve, reject) => {
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const sending = request(SERVER + path, { method, agent: false, headers: { ...headers, "Content-Length": length } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => { text += part; });
      response.on("end", () => resolve({ status: response.statusCode, text, path: response.headers["x-path"], contentType: response.headers["content-type"] }));
    });
    sending.on("error", reject);
    sending.end(body);
  });
  flights.add(flight);
  return flight.finally(() => flights.delete(flight));
}
