/* The steps of a form with several (`[data-step]`, the name of a field): the first one that is not done is the current one.

   Each heading gets its number among the steps that are not hidden. Without scripts the style sheet counts them: its counters
   are not trusted here, as Chromium does not count anew where the content of a counted box changes. */

const HEADING = ":scope > :is(h2, legend, label:not(.choices > *)), :scope > askew-rewording > label";

export class Steps {
  /** @type {{ part: HTMLElement, field: Field | null }[]} */
  #steps;
  /** @type {HTMLElement | null} */
  #current = null;

  /** @param {HTMLElement[]} steps @param {Field[]} fields */
  constructor(steps, fields) {
    this.#steps = steps.map((part) => ({ part, field: fields.find(({ dataset }) => dataset.field === part.dataset.step) ?? null }));
  }

  /* done(field): whether something is entered in a field. Choices of a new step may lie over the field that is being
     written in: it stays in sight. */
  /** @param {(field: Field) => boolean} done */
  update(done) {
    /** @type {HTMLElement | null} */
    let current = null;
    for (const { part, field } of this.#steps) {
      const finished = field === null || done(field);
      if (!finished && current === null && !part.closest("[hidden]")) current = part;
      part.toggleAttribute("data-done", finished);
    }
    const visible = this.#steps.filter(({ part }) => !part.closest("[hidden]"));
    for (const [index, { part }] of visible.entries()) part.querySelector(HEADING)?.setAttribute("data-number", String(index + 1));
    for (const { part } of this.#steps) part.ariaCurrent = part === current ? "step" : null;
    if (current !== this.#current && document.activeElement?.matches(".panel textarea")) document.activeElement.scrollIntoView({ block: "nearest" });
    this.#current = current;
  }
}
