/* <askew-prediction>: what a model answers to the item on screen, in one line whose height never changes.

   It follows the keys: 300 ms after the last change the draft is saved and a preview is asked for; Check (and Enter, where
   a kind sends it here) is a try, which is kept and counted. With data-when="on_request" nothing is asked until the button
   is pressed. Whatever the model does, nothing waits for it: fields, Submit and the table know nothing of this element.

   States (data-state): idle, waiting, busy, answered, stale, changed, unavailable, slow, none. While it waits, the line of
   the last answer stays, dimmed; answers, the expected answer and the state in full are behind Details, the model's name,
   its licence and the time behind "i". A model that was busy or away is asked again by itself: a try as a try, so that it
   is kept and counted once there is an answer. A check that fools the model is a moment: the line flashes once, and the
   count of the day appears. Previews and checks go to the gateway (`loop.gateway`) with a ticket of the item, and to the web
   process where there is no gateway or it is away. Models of the panel are asked beside, once about each text, and each is
   shown in the details as it answers; one that is busy or away is asked again by itself, too. data-tried-on names the fields
   that a model is asked about; without it, all of them count. Details lie over the page and are scrolled into sight when
   they open.
   For other elements: `wants` (there is something that was not tried yet), `away` and `check()`. */

import { element, write } from "./elements.js";
import { counted, t } from "./language.js";
import { Problem, send } from "./api.js";
import { answerFacts, brief, showAnswer, showList, showParts, withAnswer } from "./model-answer.js";

const PAUSE = 300; // ms after the last change
const SLOWLY = 250; // ms after which it is said that the model is being asked
const AGAIN = [2, 4, 8, 15, 15, 30]; // seconds until a model that was busy or away is asked again
const POLL = 1_500; // ms between two looks at a try that is answered in the background
const AWAY = [0, 404, 502, 503, 504]; // statuses with which a gateway is away
const DIRECT = 30_000; // ms for which a gateway that was away is left alone
const MOST_CELLS = 4; // that the model looked at, named in words
const ASKING = t("Asking the model…");
const EARLIER = t("This model answer is for an earlier version.");
const BEFORE = t("The answers above are for an earlier version.");
const PASSING = ["waiting", "stale"]; // states in which the line of the last answer stays
const FAILED = ["busy", "unavailable"]; // states in which a model is asked again
/** @type {Record<string, string>} */
const LABELS = {
  idle: t("The model has not been asked yet"),
  waiting: ASKING,
  stale: t("Answer for an earlier version"),
  slow: t("The model has not been asked yet"),
  changed: t("The model has changed: no verdict"),
  unavailable: t("No answer from the model"),
  busy: t("The model is busy"),
  nothing: t("Nothing to check yet"),
};

export class AskewPrediction extends HTMLElement {
  /** @type {HTMLButtonElement} */
  button = /** @type {never} */ (undefined);
  /** @type {Record<string, PagePart>} */
  parts = /** @type {never} */ (undefined);
  /** @type {AnnotatePage} */
  page = /** @type {never} */ (undefined);
  /** @type {LoopAssignment} */
  #assignment = /** @type {never} */ (undefined);
  #seq = 0;
  /** @type {number | null} */
  #timer = null;
  /** @type {number | null} */
  #later = null;
  #again = 0;
  #late = false; // whether the answer that is awaited comes from the background, or after an outage
  /** @type {AbortController | null} */
  #flight = null;
  /** @type {string | null} */
  #asking = null; // what the request that is under way is about
  /** @type {SeenCheck | null} */
  #seen = null; // {of, said, took}: the last answer and what it was about
  /** @type {Set<string>} */
  #tried = new Set();
  /** @type {{ of: string, pending: Promise<string> } | null} */
  #ticket = null; // {of, pending}: for the gateway, shared by all requests about the item
  #direct = 0; // until when the web process is asked although there is a gateway
  /** @type {{ of: string, flight: AbortController } | null} */
  #panel = null; // {of, flight}: the requests to the models of the panel
  #state = "idle";

  connectedCallback() {
    if (this.page) return;
    this.page = this.closest("askew-annotate");
    this.parts = Object.fromEntries([...this.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.button = this.querySelector("button[name=check]");
    this.button.addEventListener("click", () => this.check());
    this.addEventListener("item-shown", ({ detail }) => this.#begin(detail.assignment));
    this.addEventListener("response-entered", () => this.#entered());
    const more = this.querySelector("details.more");
    this.addEventListener("toggle", () => more.open && more.querySelector(".popped").scrollIntoView({ block: "nearest" }), true);
  }

  disconnectedCallback() {
    this.#stop();
    this.#leavePanel();
  }

  /* Whether pressing Enter should try first: there is a model, and what stands there was not tried yet. */
  get wants() {
    return this.#has && this.#assignment.loop.when === "live" && !["changed", "unavailable", "busy"].includes(this.#state)
      && !this.#tried.has(this.#now());
  }

  /* Whether it would want to, and the model is busy or away: a try is asked for until it is back, and no key waits for it. */
  get away() {
    return this.#has && this.#assignment.loop.when === "live" && ["unavailable", "busy"].includes(this.#state)
      && !this.#tried.has(this.#now());
  }

  /* A try of what stands there now. Never throws, and nobody has to wait for it. */
  async check() {
    if (!this.#has) return;
    const of = this.#now();
    this.#tried.add(of);
    this.#again = 0;
    this.#late = false;
    await this.#ask("try", of);
  }

  get #has() {
    return Boolean(this.#assignment?.loop?.model);
  }

  /** @param {Assignment} assignment */
  #begin(assignment) {
    this.#stop();
    this.#leavePanel();
    this.#assignment = /** @type {LoopAssignment} */ (assignment);
    this.#seen = null;
    this.#again = 0;
    this.#late = false;
    this.#tried = new Set();
    this.hidden = !this.#has; // where no model looks along there is nothing to say
    this.page.toggleAttribute("data-loop", this.#has);
    this.page.grid?.lookedAt?.([]);
    this.button.hidden = !this.#has;
    this.parts.name.textContent = [assignment.loop?.model, assignment.loop?.licence].filter(Boolean).join(" · ");
    for (const details of this.querySelectorAll("details")) details.open = false;
    this.#forget();
    this.#tries(null);
    if (!this.#has) return;
    if (assignment.loop?.when === "live") this.#soon(0);
    else this.#show("idle", t("The model answers when you ask it."));
  }

  /* What was said about another item goes; the line keeps its height. */
  #forget() {
    this.#set("idle");
    this.dataset.verdict = "";
    this.removeAttribute("data-moment");
    this.#line([]);
    this.parts.looks.hidden = true;
    for (const name of ["today", "words", "facts", "time"]) write(this.parts[name], "");
  }

  #entered() {
    if (!this.#has || this.#assignment.loop.when !== "live") return;
    const now = this.#now();
    if (this.#flight && this.#asking === now) return;
    if (this.#seen?.of === now && !this.#flight) {
      if (this.#state !== "answered") this.#draw(); // it says again what it said when it was looked at
      this.#stop();
      this.#askPanel(now);
      return;
    }
    this.#flight?.abort();
    if (this.#seen) this.#stale();
    this.#again = 0;
    this.#late = false;
    this.#soon(PAUSE);
  }

  /** @param {number} pause */
  #soon(pause) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask("preview", this.#now()), pause);
  }

  #stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#later);
    this.#flight?.abort();
    this.#flight = null;
  }

  #leavePanel() {
    this.#panel?.flight.abort();
    this.#panel = null;
  }

  /* What a model would be asked about, as a text to compare. */
  #now() {
    const { data } = this.page.response;
    const names = (this.dataset.triedOn ?? "").split(" ").filter(Boolean);
    return JSON.stringify(names.length ? names.map((name) => data[name]) : data);
  }

  /** @param {CheckKind} kind @param {string} of */
  async #ask(kind, of) {
    this.#stop();
    const flight = new AbortController();
    this.#flight = flight;
    this.#asking = of;
    const { id } = this.#assignment;
    const mine = () => this.#flight === flight && !flight.signal.aborted && this.#assignment.id === id;
    // Asked again by itself, it goes on saying what it said.
    const slowly = this.#late ? null : setTimeout(() => mine() && this.#show("waiting", ASKING), kind === "try" ? 0 : SLOWLY);
    const began = performance.now();
    let said = null;
    try {
      await this.page.item.flush(); // whatever the model does, what was typed is safe first
      if (!mine()) return;
      this.#askPanel(of);
      said = await this.#send({ ...this.#body(), kind, seq: this.#next() }, flight.signal);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (mine()) this.#failed(kind, of, t`${problem.message} Retrying soon.`);
      return;
    } finally {
      clearTimeout(slowly);
      if (this.#flight === flight) this.#flight = null;
    }
    if (this.#assignment.id !== id || flight.signal.aborted) return;
    this.#take(kind, of, said, performance.now() - began);
  }

  /** @param {CheckKind} kind @param {string} of @param {ModelCheck} said @param {number} took */
  #take(kind, of, said, took) {
    if (said.tries !== null) this.#tries(said.tries); // the gateway counts checks only
    if (said.state === "answered") {
      this.#again = 0;
      if (kind === "try") this.#tried.add(of);
      this.#seen = { of, said, took: this.#late ? null : took };
      if (of === this.#now()) this.#draw();
      else this.#stale();
    } else if (said.state === "waiting") {
      this.#late = true;
      this.#show("waiting", said.words);
      this.#later = setTimeout(() => of === this.#now() && this.#ask(kind, of), POLL);
    } else if (FAILED.includes(said.state)) {
      this.#failed(kind, of, said.words, said.state);
    } else if (said.state === "stale") {
      this.#stale();
    } else if (said.state === "nothing" && this.#seen?.of === of) {
      this.#draw(); // a check of the unchanged item: what was said of it stays
    } else {
      this.#show(said.state === "nothing" ? "idle" : said.state, said.words);
    }
  }

  /* Busy or away: said, and asked again after a while, as long as nothing else was entered. */
  /** @param {CheckKind} kind @param {string} of @param {string} words @param {string} state */
  #failed(kind, of, words, state = "unavailable") {
    this.#tried.delete(of);
    this.#late = true;
    this.#show(state, words);
    const pause = pauseBefore(this.#again);
    this.#again += 1;
    if (this.#assignment.loop.when === "live" || kind === "try") {
      this.#later = setTimeout(() => of === this.#now() && this.#ask(kind, of), pause);
    }
  }

  #body() {
    const { response } = this.page;
    if (!this.page.practice) return { response };
    return { response, variant: this.#assignment.variant, number: this.page.number ?? Number(this.page.dataset.number) };
  }

  #url() {
    return this.page.practice ? `${this.page.practice}predictions/` : `${this.page.dataset.api}assignments/${this.#assignment.id}/predictions/`;
  }

  /** @param {object} body @param {AbortSignal} signal @returns {Promise<ModelCheck>} */
  async #send(body, signal) {
    const gateway = this.page.practice ? "" : this.#assignment.loop.gateway;
    if (gateway && Date.now() >= this.#direct) {
      try {
        return await this.#throughGateway(gateway, body, signal);
      } catch (problem) {
        if (!(problem instanceof Problem) || signal.aborted || !AWAY.includes(problem.status)) throw problem;
        this.#direct = Date.now() + DIRECT;
      }
    }
    return send("POST", this.#url(), body, { signal });
  }

  /* With the ticket of this item, and with a new one where that has expired. */
  /** @param {string} gateway @param {object} body @param {AbortSignal} signal */
  async #throughGateway(gateway, body, signal) {
    const { id } = this.#assignment;
    for (const isLast of [false, true]) {
      if (this.#ticket?.of !== id) this.#ticket = { of: id, pending: this.#fetchTicket(id) };
      const ticket = this.#ticket;
      try {
        const headers = { Authorization: `Ticket ${await ticket.pending}` };
        return await send("POST", gateway, body, { signal, headers });
      } catch (problem) {
        const isExpired = problem instanceof Problem && problem.status === 401;
        if (this.#ticket === ticket && (isExpired || await hasFailed(ticket.pending))) this.#ticket = null;
        if (!isExpired || isLast) throw problem;
      }
    }
    return null;
  }

  /* Without a signal: the other requests about the item wait for it, too. */
  /** @param {string} id @returns {Promise<string>} */
  async #fetchTicket(id) {
    const { ticket, tries } = await send("POST", `${this.page.dataset.api}assignments/${id}/ticket/`);
    if (this.#assignment.id === id) this.#tries(tries);
    return ticket;
  }

  /* A number above those of earlier requests, also above what another window of the same item has sent. */
  #next() {
    this.#seq = Math.max(this.#seq + 1, Date.now());
    return this.#seq;
  }

  /* Previews by the models of the panel, each shown as it comes. None is waited for. */
  /** @param {string} of */
  #askPanel(of) {
    const names = this.#assignment.loop.panel ?? [];
    this.parts.panel.hidden = !names.length;
    if (!names.length || this.#panel?.of === of) return;
    this.#leavePanel();
    this.#panel = { of, flight: new AbortController() };
    const { signal } = this.#panel.flight;
    this.parts.panel.querySelector("ul").replaceChildren(...names.map((name) => {
      const line = element("li", { textContent: `${name}: …`, dir: "auto" });
      this.#askOfPanel(name, of, line, signal);
      return line;
    }));
  }

  /* One model of the panel, again and again while it is busy or away and nothing else was entered. */
  /** @param {string} name @param {string} of @param {HTMLElement} line @param {AbortSignal} signal */
  async #askOfPanel(name, of, line, signal) {
    for (let again = 0; of === this.#now(); again += 1) {
      let words;
      try {
        const said = await this.#send({ ...this.#body(), kind: "preview", seq: this.#next(), model: name }, signal);
        if (!FAILED.includes(said.state)) {
          words = said.state === "answered" && said.line.length ? brief(withAnswer(said)) : said.words;
          if (!signal.aborted) write(line, `${name}: ${words}`);
          return;
        }
        words = said.words;
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        words = problem.message;
      }
      if (signal.aborted) return;
      const retrying = t`${words} Retrying soon.`;
      write(line, `${name}: ${retrying}`);
      await after(pauseBefore(again), signal);
      if (signal.aborted) return;
    }
    if (this.#panel?.flight.signal === signal) this.#leavePanel(); // asked anew if that text comes back
  }

  // --- showing it --------------------------------------------------------------------------------------------------

  #stale() {
    this.#show("stale", EARLIER);
  }

  /* A state without a new answer: the last one stays, and it is said that it is from before. */
  /** @param {string} state @param {string} words */
  #show(state, words) {
    this.#set(state);
    const passing = PASSING.includes(state) && this.#seen;
    if (!passing) {
      this.dataset.verdict = "";
      this.#line([["verdict", LABELS[state] ?? words]]);
      write(this.parts.today, "");
    }
    this.removeAttribute("data-moment");
    const before = this.#seen && !this.parts.looks.hidden && !PASSING.includes(state);
    write(this.parts.words, before ? `${words} ${BEFORE}` : words);
    if (!this.#seen) {
      this.parts.looks.hidden = true;
      this.parts.facts.textContent = "";
      this.parts.time.textContent = "";
    }
    if (state !== "waiting") this.page.grid?.lookedAt?.([]);
  }

  /** @param {string} state */
  #set(state) {
    this.#state = state;
    this.dataset.state = state;
    this.setAttribute("aria-busy", String(state === "waiting"));
  }

  #draw() {
    const { said, took } = /** @type {SeenCheck} */ (this.#seen);
    const { original, perturbed, verdict, words, forms, line, meaning } = said;
    const last = perturbed ?? original;
    this.#set("answered");
    this.dataset.verdict = verdict ?? (original?.right === false ? "wrong_on_original" : "");
    /** @type {Record<string, string>} */
    const short = { expected: `≠ ${last?.expected.join(" | ")}`, confidence: last?.score == null ? "" : `${Math.round(last.score * 100)} %` };
    this.#line(line.length ? line.map(([kind, text]) => /** @type {VerdictPart} */ ([kind, text, short[kind] ?? ""])) : [["verdict", words]]);
    write(this.parts.today, said.fooled_today ? t`${said.fooled_today} today` : "");
    this.toggleAttribute("data-moment", said.fooled_today > 0);
    this.parts.looks.hidden = !last;
    showAnswer(this.parts.original, original);
    const isVerified = line.some(([kind]) => kind === "verified");
    this.toggleAttribute("data-verified", isVerified);
    showAnswer(this.parts.perturbed, perturbed, isVerified);
    showList(this.parts.expected, last?.expected ?? []);
    const compared = forms ? t` Compared: ${forms[0]} and ${forms[1]}.` : "";
    write(this.parts.words, this.dataset[`sentence${verdict}`] ?? `${words}${compared}`);
    this.parts.facts.textContent = [meaning, ...(last ? answerFacts(last) : []), this.#where(last)].filter(Boolean).join(" · ");
    this.parts.time.textContent = took === null ? "" : `${Math.round(took)} ms`;
    this.page.grid?.lookedAt?.(last?.cells ?? []);
  }

  /* The line, from parts [kind, words, words where there is little room]; written only where it says something else, for it
     is read out. */
  /** @param {readonly VerdictPart[]} parts */
  #line(parts) {
    const text = JSON.stringify(parts);
    if (this.dataset.line === text) return;
    this.dataset.line = text;
    showParts(this.parts.line, parts);
  }

  /** @param {ModelAnswer | null} last */
  #where(last) {
    const cells = last?.cells ?? [];
    if (!cells.length) return "";
    const { grid } = this.page;
    if (cells.length > MOST_CELLS || !grid?.edits) return counted(cells.length, "used {0} cell", "used {0} cells");
    return t`used ${cells.map(([row, column]) => grid.placeInWords(row, column)).join("; ")}`;
  }

  /** @param {number | null} number */
  #tries(number) {
    this.parts.tries.textContent = this.page.practice && this.#has ? t("Practice: nothing is saved")
      : !number ? "" : counted(number, "{0} check", "{0} checks");
  }
}

/* Milliseconds until a model is asked again that was busy or away for the first, second, ... time. */
/** @param {number} again */
function pauseBefore(again) {
  return AGAIN[Math.min(again, AGAIN.length - 1)] * 1000;
}

/* Resolved after a pause, or once `signal` says that nobody waits any more. */
/** @param {number} pause @param {AbortSignal} signal @returns {Promise<void>} */
function after(pause, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, pause);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/* Whether a promise was rejected. */
/** @param {Promise<unknown>} promise */
async function hasFailed(promise) {
  return promise.then(() => false, () => true);
}

customElements.define("askew-prediction", AskewPrediction);
