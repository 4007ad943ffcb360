/* The personal settings: a choice holds at once on this page and is stored on the server. */

for (const form of document.querySelectorAll("form[data-display]")) {
  form.querySelector("[data-save]").hidden = true; // each choice is stored when it is made
  form.addEventListener("change", ({ target }) => {
    const { name, value } = target;
    const key = name.replace(/_(\w)/gu, (_, letter) => letter.toUpperCase());
    if (target === form.querySelector(`[name="${name}"]`)) delete document.documentElement.dataset[key]; // the default
    else document.documentElement.dataset[key] = value;
    for (const twin of document.querySelectorAll(`form[data-display] [name="${name}"][value="${value}"]`)) twin.checked = true;
    dispatchEvent(new Event("resize")); // tables measure their columns again
    fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual", keepalive: true });
  });
}
