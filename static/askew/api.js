/* Requests to the programming interface, as the signed-in person. Every failure is a Problem with words to show. */

const PATIENCE = 15_000; // ms; a request that takes longer counts as a failed connection

export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || WORDS[status] || `The server answered ${status}.`);
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

const WORDS = {
  0: "The server cannot be reached.",
  401: "You are signed out.",
  403: "You are signed out, or this page is too old.",
  404: "This is not there any more.",
  413: "This is too large to be saved.",
  429: "Too many requests at once.",
  500: "The server failed.",
  502: "The server is not running at the moment.",
  503: "The server is not available at the moment.",
};

/* Send JSON, get JSON; null for an answer without a body. Throws Problem; an aborted `signal` is a Problem, too. */
export async function send(method, url, body, { keepalive = false, signal = null } = {}) {
  let response;
  try {
    response = await fetch(url, {
      method,
      keepalive,
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrfToken() },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])]),
    });
  } catch {
    throw new Problem(0);
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new Problem(response.status, answer ?? {});
  return answer;
}

/* The token that Django wants back: from the cookie, which outlives the page, else from a form. */
function csrfToken() {
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  return cookie?.slice("csrftoken=".length)
    ?? document.querySelector("input[name=csrfmiddlewaretoken]")?.value
    ?? "";
}
