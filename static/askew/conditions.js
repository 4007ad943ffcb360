/* Fields of a form that are asked only under a condition on another field ([data-condition]).

   A field that is not asked is hidden, with its keys; what was entered in it stays until the item is submitted, and the
   server leaves it out (`tasks.shared.conditions`). */

import { element } from "./elements.js";
import { t } from "./language.js";

/** @type {Record<string, (order: number) => boolean>} */
const OPERATORS = {
  "==": (order) => order === 0,
  "!=": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

/* Whether a comparison holds for the value of the other field; undefined where that one is not asked. The same rule as
   `tasks.shared.conditions.Condition`, on the same cases (tests/vectors/conditions.json). */
/** @param {string} operator @param {string} wanted @param {FieldValue} value @param {boolean} [isNumber] @returns {boolean} */
export function holds(operator, wanted, value, isNumber = false) {
  if (value === undefined) return false;
  if (!value.length) return operator === "!=" || operator === "lacks";
  if (operator === "contains" || operator === "lacks") return value.includes(wanted) === (operator === "contains");
  const text = String(value);
  return OPERATORS[operator](isNumber ? Number(text) - Number(wanted) : Number(text > wanted) - Number(text < wanted));
}

/* Show the parts whose condition holds, in the order of the form. */
/** @param {Iterable<HTMLElement>} parts @param {Field[]} fields @param {(field: Field) => FieldValue} valueOf */
export function applyConditions(parts, fields, valueOf) {
  /** @param {ConditionTree} tree @returns {boolean} */
  const test = (tree) => {
    if ("and" in tree) return tree.and.every(test);
    if ("or" in tree) return tree.or.some(test);
    const [name, operator, wanted] = tree;
    const field = fields.find((each) => each.dataset.field === name);
    const value = !field || field.closest("[hidden]") ? undefined : valueOf(field);
    return holds(operator, wanted, value, field?.matches(".scale, [inputmode=decimal]"));
  };
  for (const part of parts) part.hidden = !test(JSON.parse(String(part.dataset.condition)));
}

const BLANK = /^[\s\u001c-\u001f\u0085]*$/u; // what the server strips from a text
/** @param {FieldValue | null} value */
export const empty = (value) => value === undefined || value === null || (typeof value === "string" ? BLANK.test(value) : Array.isArray(value) && !value.length);

/* What a field still needs, as a sentence; "" for a field that is complete or not asked.

   A required field has a value, a ranking has none or all of its ranks, and a field with [data-differs] has another value
   than the field of that name. The server checks the same (`tasks.shared.defined_types`). */
/** @param {Field} field @param {Field[]} fields @param {(field: Field) => FieldValue} valueOf */
export function lackOf(field, fields, valueOf) {
  if (field.closest("[hidden]")) return "";
  const value = valueOf(field);
  const { label, required, differs } = field.dataset;
  if (empty(value)) return required ?? "";
  const { numberRule, total } = field.dataset;
  if (numberRule && (total ? sum(value) !== Number(total) : !isBetween([value].flat().length, field.dataset))) return numberRule;
  if (field.matches(".ranks") && [...field.querySelectorAll("select")].some((rank) => !rank.value)) return t`Give every option in “${label}” a rank.`;
  const other = differs && fields.find((each) => each.dataset.field === differs);
  if (!other || other.closest("[hidden]") || JSON.stringify(valueOf(other)) !== JSON.stringify(value)) return "";
  return t`“${label}” must differ from “${other.dataset.label}”. Choose another value.`;
}

/* The sum of what was entered; NaN where a part is no number. */
/** @param {FieldValue} parts */
const sum = (parts) => [parts ?? []].flat().reduce((all, part) => all + Number(part), 0);

/** @param {number} number @param {DOMStringMap} limits */
const isBetween = (number, { fewest, most }) => number >= Number(fewest) && (!Number(most) || number <= Number(most));

/* Offer the answers of an item in a field that chooses among them, before its own options. Their keys are their numbers. */
/** @param {HTMLElement} field @param {readonly string[] | null} [answers] */
export function offerAnswers(field, answers) {
  for (const label of field.querySelectorAll("label[data-answer]")) label.remove();
  const own = field.querySelector("label");
  const { field: name, kind, required } = field.dataset;
  [...new Set(answers ?? [])].forEach((answer, place) => {
    const number = String(place + 1);
    const type = kind === "choice" ? "radio" : "checkbox";
    const isRequired = kind === "choice" && Boolean(required) && !field.dataset.condition;
    const input = element("input", { type, name, value: number, required: isRequired, ariaKeyShortcuts: number, dataset: { key: number } });
    field.insertBefore(element(
      "label", { dataset: { answer: "" } },
      input,
      element("span", { textContent: t`Answer ${number}`, dataset: { name: "" } }),
      element("kbd", { ariaHidden: "true", className: "with-scripts", textContent: number, dataset: { shortcut: `${name}:${number}` } }),
      element("small", { dir: "auto", textContent: answer }),
    ), own);
  });
}
