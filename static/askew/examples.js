/* The dialog with examples of earlier work for this task type: accepted, from the practice set, and sent back with the reason.
   It is asked for when it is opened. Everything in it is text. */

import { t } from "./language.js";
import { Problem, send } from "./api.js";

/** @type {Record<string, string>} */
const TITLES = { accepted: t("Accepted"), practice: t("From the practice set"), sent_back: t("Sent back") };

/* Show the examples that `url` lists; resolves once they are there, or it is said why not. */
/** @param {string} url */
export async function showExamples(url) {
  const dialog = make("dialog", { className: "worked-examples" });
  dialog.setAttribute("aria-labelledby", "examples-title");
  const head = make("header");
  const close = make("button", { type: "button", className: "quiet", textContent: t("Close") });
  close.append(make("kbd", { ariaHidden: "true", textContent: t("Esc") }));
  close.addEventListener("click", () => dialog.close());
  head.append(make("h2", { id: "examples-title", textContent: t("Examples of earlier work") }), close);
  const body = make("div");
  body.append(make("p", { className: "soft", textContent: t("Loading…") }));
  dialog.append(head, body);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const { examples } = await send("GET", url);
    body.replaceChildren(...(examples.length ? examples.map(drawn) : [make("p", { textContent: t("There is no example for this task type yet.") })]));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    body.replaceChildren(make("p", { className: "notice problem", textContent: problem.message }));
  }
}

/** @param {WorkedExample} example */
function drawn({ kind, question, words, reason, is_own: own }) {
  const section = make("section", { className: "feedback" });
  section.dataset.state = kind === "sent_back" ? "no" : "yes";
  const title = make("h3", { textContent: TITLES[kind] });
  if (own) title.append(" ", make("span", { className: "soft small", textContent: t("by you") }));
  const list = make("ul");
  list.append(...words.map((text) => make("li", { textContent: text, dir: "auto" })));
  section.append(title, make("p", { className: "question", textContent: question, dir: "auto" }), list);
  if (reason) {
    const why = make("p", { dir: "auto" });
    why.append(make("strong", { textContent: t("Why:") }), ` ${reason}`);
    section.append(why);
  }
  return section;
}

/** @type {Make} */
const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);
