/* <askew-ranks>: where the metric and people rank the answer among the others, as two bars from worst to best. Each of its
   rows has data-rank ("metric", "people"); an item without ranks shows the sentences only. */

class AskewRanks extends HTMLElement {
  /** @param {unknown} _ @param {{ shows: Record<string, Ranked> }} item */
  shown(_, { shows }) {
    this.hidden = !shows.metric?.rank;
    if (this.hidden) return;
    this.querySelector("[data-claim]").textContent = shows.metric.claim ?? "";
    for (const row of this.querySelectorAll("[data-rank]")) {
      const { rank } = /** @type {Required<Ranked>} */ (shows[row.dataset.rank]);
      row.querySelector("dt").textContent = rank.name;
      const bar = row.querySelector("meter");
      bar.value = rank.share;
      bar.textContent = rank.place;
      bar.setAttribute("aria-label", rank.name);
      row.querySelector("span").textContent = rank.place;
    }
  }
}

customElements.define("askew-ranks", AskewRanks);
