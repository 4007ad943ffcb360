/* Requests to the programming interface, as the signed-in person. Every failure is a Problem with words to show. */

import { t } from "./language.js";

const PATIENCE = 15_000; // ms; a request that takes longer counts as a failed connection

export class Problem extends Error {
  /** @param {number} status @param {ProblemBody} body */
  constructor(status, body = {}) {
    super(body.detail || body.title || WORDS[status] || t`The server responded with status ${status}.`);
    this.name = "Problem";
    this.status = status;
    this.code = body.code ?? "";
    this.body = body;
  }

  /* True where trying the same again later may help. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500 || this.signedOut;
  }

  get signedOut() {
    return this.status === 401 || (this.status === 403 && this.code !== "forbidden");
  }
}

/** @type {Record<number, string>} */
const WORDS = {
  0: t("The server cannot be reached."),
  401: t("You are signed out."),
  403: t("You are signed out, or this page is out of date."),
  404: t("This no longer exists."),
  413: t("This is too large to save."),
  429: t("Too many requests at once."),
  500: t("The server reported an error."),
  502: t("The server is not running."),
  503: t("The server is temporarily unavailable."),
};

/* Send JSON or a Blob, get JSON; null for an answer without a body. `part`: a name that every answer of the server has.
   Throws Problem; an aborted `signal` is a Problem, too. */
/**
 * @typedef {{ keepalive?: boolean, signal?: AbortSignal | null, headers?: Record<string, string>, patience?: number, part?: string | null }} SendOptions
 * @param {string} method @param {string} url @param {object} [body] @param {SendOptions} options
 * @returns {Promise<any>} JSON of the server, as the caller knows it
 */
export async function send(method, url, body, { keepalive = false, signal = null, headers = {}, patience = PATIENCE, part = null } = {}) {
  const raw = body instanceof Blob;
  let response;
  try {
    response = await fetch(url, {
      method,
      keepalive,
      credentials: "same-origin",
      headers: { "Content-Type": raw ? "application/octet-stream" : "application/json", Accept: "application/json", "X-CSRFToken": csrfToken(), ...headers },
      body: method === "GET" ? undefined : raw ? body : JSON.stringify(body ?? {}),
      signal: AbortSignal.any([AbortSignal.timeout(patience), ...(signal ? [signal] : [])]),
    });
  } catch {
    throw new Problem(0);
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => undefined);
  if (!response.ok) throw new Problem(response.status, answer ?? {});
  // It broke off, or is of something between here and the server.
  if (answer === undefined || (part && !Object.hasOwn(answer ?? {}, part))) throw new Problem(0);
  return answer;
}

/* The token that Django wants back: from the cookie, which outlives the page, else from a form. */
function csrfToken() {
  const cookies = document.cookie.split("; ");
  // On a path of a shared host the name is one of our own: the other is that of another application at the root.
  const cookie = ["askew_csrftoken=", "csrftoken="]
    .map((name) => cookies.find((part) => part.startsWith(name)))
    .find(Boolean);
  return cookie?.slice(cookie.indexOf("=") + 1)
    ?? document.querySelector("input[name=csrfmiddlewaretoken]")?.value
    ?? "";
}
