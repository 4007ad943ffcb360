/* Forms of one page that are saved one by one: to leave the page while another one has changes, a person confirms it. */

const forms = [...document.querySelectorAll("main form:has(input[name=section])")].map((form) => /** @type {HTMLFormElement} */ (form));
const contents = (/** @type {HTMLFormElement} */ form) => JSON.stringify([...new FormData(form)].filter(([, value]) => typeof value === "string"));
const saved = new Map(forms.map((form) => [form, contents(form)]));
/** @type {HTMLFormElement | null} */
let sent = null;

for (const form of forms) form.addEventListener("submit", () => { sent = form; });
addEventListener("beforeunload", (event) => {
  if (forms.some((form) => form !== sent && contents(form) !== saved.get(form))) event.preventDefault();
  sent = null;
});
