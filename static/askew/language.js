/* Sentences in the language of the page. The catalogue (/words/<language>.js) is a script before the modules; without
   one everything is said in English.

     t("No changes.")
     t`Change ${at} of ${number}`                    looked up as "Change {0} of {1}"
     counted(number, "{0} change", "{0} changes")

   ./run messages finds these calls. */

const known = globalThis.django;
const CAPITALS = ["de"]; // languages that write a noun with a capital wherever it stands

/** @param {string | TemplateStringsArray} message @param {...(string | number | null | undefined)} values */
export function t(message, ...values) {
  const id = typeof message === "string" ? message : message.reduce((all, part, at) => `${all}{${at - 1}}${part}`);
  return filled(known?.gettext ? known.gettext(id) : id, values);
}

/** @param {number} number @param {string} one @param {string} many */
export function counted(number, one, many) {
  const words = known?.ngettext ? known.ngettext(one, many, number) : number === 1 ? one : many;
  return filled(words, [number]);
}

/* What begins a sentence, said within one. */
/** @param {string} text */
export const within = (text) => (CAPITALS.includes((document.documentElement.lang || "en").slice(0, 2)) ? text : text.toLowerCase());

/** @param {string} words @param {(string | number | null | undefined)[]} values */
const filled = (words, values) => (values.length ? words.replace(/\{(\d+)\}/g, (place, at) => (at < values.length ? String(values[at]) : place)) : words);
