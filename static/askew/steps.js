/* The steps of a form with several (`[data-step]`, the name of a field): the first one that is not done is the current one.

   Their numbers are the style sheet's; a step that is hidden has none. */

export class Steps {
  #steps;

  constructor(steps, fields) {
    this.#steps = steps.map((part) => ({ part, field: fields.find(({ dataset }) => dataset.field === part.dataset.step) ?? null }));
  }

  /* done(field): whether something is entered in a field. */
  update(done) {
    let current = null;
    for (const { part, field } of this.#steps) {
      const finished = field === null || done(field);
      if (!finished && current === null && !part.closest("[hidden]")) current = part;
      part.toggleAttribute("data-done", finished);
    }
    for (const { part } of this.#steps) {
      if (part === current) part.setAttribute("aria-current", "step");
      else part.removeAttribute("aria-current");
    }
  }
}
