/* The personal settings: a choice holds at once on this page and is stored on the server, one request at a time: an earlier
   choice that is slow never replaces a later one. */

let sending = false;
/** @type {HTMLFormElement | null} */
let unsent = null; // the form with choices that are not yet on their way

/** @param {HTMLFormElement} form */
async function store(form) {
  unsent = form;
  if (sending) return;
  sending = true;
  while (unsent) await send().catch(() => {}); // what did not arrive holds on this page only
  sending = false;
}

function send() {
  const form = /** @type {HTMLFormElement} */ (unsent);
  unsent = null;
  return fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual", keepalive: true });
}

addEventListener("pagehide", () => unsent && send());

for (const form of document.querySelectorAll("form[data-display]")) {
  form.querySelector("[data-save]").hidden = true; // each choice is stored when it is made
  form.addEventListener("change", ({ target }) => {
    const { name, value } = /** @type {HTMLInputElement} */ (target);
    const key = name.replace(/_(\w)/gu, (/** @type {string} */ _, /** @type {string} */ letter) => letter.toUpperCase());
    if (target === form.querySelector(`[name="${name}"]`)) delete document.documentElement.dataset[key]; // the default
    else document.documentElement.dataset[key] = value;
    for (const twin of document.querySelectorAll(`form[data-display] input[name="${name}"][value="${value}"]`)) twin.checked = true;
    dispatchEvent(new Event("resize")); // tables measure their columns again
    store(form);
  });
}
