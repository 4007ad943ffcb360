/* Lays a page of annotating out as its modules will, from its first paint on: nothing moves when they are there. No module: it
   runs in the head, before there is a page, and takes what comes as it comes. If the modules do not, the page is the form for
   browsers without scripts again. The guidelines open by the rule of guidelines.js. */

(() => {
  const LATE = 4000; // ms, as in askew.css
  const { taskType, submitted } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;

  /** @param {string} key */
  function recall(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  const choice = recall(`askew:guidelines:${taskType}`);
  const items = Math.max(Number(submitted), Number(recall(`askew:guidelines-items:${taskType}`)) || 0);
  const beside = matchMedia("(min-width: 75rem) and (min-height: 32rem)").matches;
  const opens = beside && (choice === null ? items < 3 : choice !== "closed");

  /** @param {boolean} on */
  function lay(on) {
    document.body.classList.toggle("guided", on && opens);
    document.querySelector("askew-annotate")?.toggleAttribute("data-laid", on);
    const part = /** @type {HTMLDetailsElement | null} */ (document.querySelector("[data-guidelines]"));
    if (part) part.open = on && opens;
    return Boolean(part);
  }

  const parsing = new MutationObserver(() => document.body && lay(true) && parsing.disconnect());
  parsing.observe(document, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => parsing.disconnect());
  setTimeout(() => document.querySelector("askew-annotate[data-ready]") || lay(false), LATE);
})();
