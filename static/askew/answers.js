/* Answers in a field with one line for each. A line break within an answer is a blank there: the answer stays one, and stays
   as it is while its line does. */

/** @type {WeakMap<HTMLTextAreaElement, readonly string[]>} */
const written = new WeakMap(); // field -> the answers that were put into it

/** @param {string} answer */
const lineOf = (answer) => answer.replace(/\r\n?|\n/gu, " ").trim();

/** @param {readonly string[]} answers */
export const linesOf = (answers) => answers.map(lineOf).join("\n");

/** @param {HTMLTextAreaElement} field @param {readonly string[]} answers */
export function writeAnswers(field, answers) {
  written.set(field, answers);
  field.value = linesOf(answers);
}

/** @param {HTMLTextAreaElement} field */
export function readAnswers(field) {
  const known = [...written.get(field) ?? []];
  return field.value.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = known.findIndex((answer) => lineOf(answer) === line);
    return at < 0 ? line : known.splice(at, 1)[0].trim();
  });
}
