/* Fields of a form that are asked only under a condition on another field ([data-when], data-operator, data-value).

   A field that is not asked is hidden, with its keys; what was entered in it stays until the item is submitted, and the
   server leaves it out (`tasks.common.fields.When`). */

const OPERATORS = {
  "==": (value, wanted) => value === wanted,
  "!=": (value, wanted) => value !== wanted,
  "<": (value, wanted) => Number(value) < Number(wanted),
  "<=": (value, wanted) => Number(value) <= Number(wanted),
  ">": (value, wanted) => Number(value) > Number(wanted),
  ">=": (value, wanted) => Number(value) >= Number(wanted),
  contains: (value, wanted) => value.includes(wanted),
};

/* Show the parts whose condition holds, in the order of the form: a hidden field counts as empty for those behind it. */
export function applyConditions(parts, fields, valueOf) {
  for (const part of parts) {
    const { when, operator, value: wanted } = part.dataset;
    const field = fields.find((one) => one.dataset.field === when);
    const value = !field || field.closest("[hidden]") ? "" : valueOf(field);
    part.hidden = value.length === 0 ? operator !== "!=" || Boolean(field?.closest("[hidden]")) : !OPERATORS[operator](value, wanted);
  }
}

/* Offer the answers of an item in a field that ranks them. */
export function offerRanks(field, answers) {
  const options = [...new Set(answers ?? [])];
  const choose = field.dataset.choose ??= field.querySelector("option")?.textContent ?? "";
  for (const label of field.querySelectorAll("label")) label.remove();
  options.forEach((_, place) => {
    const select = Object.assign(document.createElement("select"), { name: field.dataset.field });
    select.append(new Option(choose, ""), ...options.map((answer) => new Option(answer, answer)));
    const label = document.createElement("label");
    label.append(Object.assign(document.createElement("span"), { textContent: `${place + 1}.` }), select);
    field.append(label);
  });
}

/* A rank that was given an option of another rank: both change places. */
export function swapRanks(select, before) {
  const others = [...select.closest("fieldset").querySelectorAll("select")].filter((one) => one !== select);
  const same = others.find((one) => select.value && one.value === select.value);
  if (same) same.value = before;
}
