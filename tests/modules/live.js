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

/* Open another page in the same world, or the same page once more; what the browser stores stays with `storage`. */
export async function visit(path, { replies = {}, ...options } = {}) {
  const { status, text, path: end } = await exchange("GET", path);
  if (status !== 200) throw new Error(`GET ${path} has status ${status}`);
  const live = { "GET /": platform, "POST /": platform, "PUT /": platform, "DELETE /": platform };
  const page = await openPage(text, { replies: { ...live, ...replies }, path: end, ...options });
  page.left = [];
  globalThis.location = noting(page.window.location, page.left);
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
  const storage = { ...page.window.localStorage };
  if (page.errors.length) throw new Error(page.errors.join("\n"));
  page.window.close();
  return visit(path, { storage, ...options });
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

/* Time stands still from here on; `page.passes()` lets it pass. Call it before the page is opened. */
export function stopClock() {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
  mock.method(performance, "now", () => Date.now());
}

/* Whether a script has left the page, by an address, a link or a form: jsdom does not load another one. */
export function hasLeft(page) {
  const at = page.errors.findIndex((error) => error.includes("Not implemented: navigation"));
  if (at >= 0) page.errors.splice(at, 1);
  return at >= 0 || page.left.length > 0;
}

/* The location of a page that notes in a list where a script goes. */
function noting(location, left) {
  const noted = { assign: (url) => left.push(String(url)), reload: () => left.push(location.href) };
  return new Proxy({}, {
    get: (_, key) => noted[key] ?? (typeof location[key] === "function" ? location[key].bind(location) : location[key]),
    set: (_, key, value) => Reflect.set(location, key, value),
  });
}

/* The platform's own reply to a request of a page. */
export async function platform({ method, url, body, headers }) {
  const isForm = body !== null && typeof body === "object" && typeof body.entries === "function";
  const sent = isForm ? String(new URLSearchParams([...body])) : typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const type = isForm ? { "Content-Type": "application/x-www-form-urlencoded" } : {};
  const { pathname, search } = new URL(url, "http://testserver");
  const { status, text, path, contentType } = await exchange(method, pathname + search, sent, { ...headers, ...type });
  const response = new Response(status === 204 ? null : text, { status, headers: { "Content-Type": contentType } });
  if (path && path !== pathname + search) Object.defineProperties(response, { redirected: { value: true }, url: { value: path } });
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
