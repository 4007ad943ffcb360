/* The dialog with examples of earlier work for this task type: accepted, from the practice set, and sent back with the reason.
   It is asked for when it is opened. Everything in it is text. */

import { Problem, send } from "./api.js";
import { element, openDialog } from "./elements.js";
import { t } from "./language.js";

/** @type {Record<string, string>} */
const TITLES = { accepted: t("Accepted"), practice: t("From the practice set"), sent_back: t("Sent back") };

/* Show the examples that `url` lists; resolves once they are there, or it is said why not. */
/** @param {string} url */
export async function showExamples(url) {
  const body = element("div", {}, element("p", { className: "soft", textContent: t("Loading…") }));
  openDialog("worked-examples", t("Examples of earlier work"), body);
  try {
    const { examples } = await send("GET", url);
    body.replaceChildren(...(examples.length ? examples.map(drawn) : [element("p", { textContent: t("There is no example for this task type yet.") })]));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    body.replaceChildren(element("p", { className: "notice problem", textContent: problem.message }));
  }
}

/** @param {WorkedExample} example */
function drawn({ kind, question, words, reason, is_own: own }) {
  const title = element("h3", { textContent: TITLES[kind] });
  if (own) title.append(" ", element("span", { className: "soft small", textContent: t("by you") }));
  return element(
    "section", { className: "feedback", dataset: { state: kind === "sent_back" ? "no" : "yes" } },
    title,
    element("p", { className: "question", textContent: question, dir: "auto" }),
    element("ul", {}, ...words.map((text) => element("li", { textContent: text, dir: "auto" }))),
    ...(reason ? [element("p", { dir: "auto" }, element("strong", { textContent: t("Why:") }), ` ${reason}`)] : []),
  );
}
