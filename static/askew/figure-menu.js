/* The menu beside a figure: before each link to a text a button that copies the text. Without this the links download it. */

import { t } from "./language.js";

for (const menu of document.querySelectorAll("details.figure-menu")) {
  const status = menu.querySelector("[role=status]");
  for (const file of menu.querySelectorAll("[data-copy]")) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: file.dataset.copy });
    button.addEventListener("click", () => copy(() => fetched(/** @type {FigureFile} */ (/** @type {unknown} */ (file))), status));
    file.before(button);
  }
  menu.addEventListener("toggle", () => {
    status.textContent = "";
    if (menu.open) place(menu.querySelector(".popped"));
  });
}

/* Above its button where there is no room below; where there is none above either, the page moves. */
/** @param {HTMLElement} popped */
function place(popped) {
  popped.classList.remove("above");
  const { bottom } = popped.getBoundingClientRect();
  if (bottom <= innerHeight) return;
  popped.classList.add("above");
  if (popped.getBoundingClientRect().top >= 0) return;
  popped.classList.remove("above");
  popped.scrollIntoView({ block: "nearest" });
}

/* A file is a link, or a button of the form that the page is the reply to. */
/** @param {FigureFile} file */
function fetched(file) {
  return file.form ? fetch(location.href, { method: "POST", body: new FormData(file.form, file) }) : fetch(file.href);
}

/* The browser has to be asked for its clipboard at once, so it gets the promise of a text. */
/** @param {() => Promise<Response>} fetched @param {HTMLElement} status */
async function copy(fetched, status) {
  status.textContent = t("Copying …");
  const text = fetched().then((reply) => (reply.ok && !reply.redirected ? reply.text() : Promise.reject(new Error(String(reply.status)))));
  try {
    const content = text.then((words) => new Blob([words], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": content })]);
    status.textContent = t("Copied.");
  } catch {
    status.textContent = t("Copying failed. Download the file instead.");
  }
}
