"""The measures of agreement by name, and what each gives: an `Agreement`, or the reason why there is none."""

from dataclasses import dataclass
from html import escape
from typing import Literal, get_args

from tableqa.core.translation import message

Measure = Literal[
    "percent_agreement",
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "gwet_ac1",
]
SetMeasure = Literal["krippendorff_alpha_jaccard", "krippendorff_alpha_masi"]
MEASURES: tuple[str, ...] = get_args(Measure)
SET_MEASURES: tuple[str, ...] = get_args(SetMeasure)
"""Of ratings that are sets of labels from one stock for all units. Cells of tables are compared by `agreement.cell_sets`."""
WITH_SINGLE = ("fleiss_kappa", "gwet_ac1")
"""Measures that take something from a unit with a single rating: how often each category is chosen."""
WITH_ORDER = ("krippendorff_alpha_ordinal", "gwet_ac1")
"""Measures that have a use for the list of all categories."""

NO_PAIR = message("agreement.no_pair", "No unit has two ratings, so there is nothing to compare.")
ONE_CATEGORY = message(
    "agreement.one_category", "Only one category was used, so agreement cannot be distinguished from chance."
)
TOO_MANY_SETS = message(
    "agreement.too_many_sets", "There are too many different sets to compare each with every other one."
)
ONE_UNIT = message("agreement.one_unit", "There is only one unit, so there is no confidence interval.")
GENERALISED = message(
    "agreement.generalised",
    "Units have unequal numbers of ratings, so this is the generalised Fleiss' kappa (Gwet 2014). Units with a single "
    "rating count in the expected agreement only: values below -1 are possible.",
)
UNEQUAL = message(
    "agreement.unequal",
    "Units have unequal numbers of ratings. Units with a single rating count in the expected agreement only (Gwet 2014).",
)
FEW_RARE = message(
    "agreement.few_rare",
    "Too few of the rarer labels: {rare} of {units} units have one. All raters agree on {agreed} of {units} units "
    "({low} to {high} %, exact interval). The lower end of the figure's interval holds alone, if the next unit could show "
    "full agreement or chance alike.",
)
FEW_RATERS = message(
    "agreement.few_raters",
    "There are too few raters for an interval that holds for other raters, too: three are needed.",
)


@dataclass(frozen=True)
class Agreement:
    """One measure of agreement over a set of ratings, or the reason why it has none.

    value     the coefficient (1 = perfect, 0 = as by chance; percent_agreement: a share from 0 to 1); None when undefined
    low, high ends of the percentile bootstrap interval over units; None when undefined, not asked for, or of one unit
    units     units that entered: those with at least two ratings
    raters    raters with at least one rating
    ratings   ratings in the units that entered
    measure   one of MEASURES or SET_MEASURES (or of another module, which says so)
    reason    why `value` is None, a sentence; else None
    note      what a reader of the figure has to know, a sentence; else None
    confidence, replicates, seed   of the interval, as asked for
    left_out  replicates in which the measure is undefined (one category drawn, no pair drawn): not part of the interval
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    raters: int
    ratings: int
    measure: str
    reason: str | None = None
    note: str | None = None
    confidence: float = 0.95
    replicates: int = 0
    left_out: int = 0
    seed: int = 0

    def _repr_html_(self) -> str:
        """Value, interval and counts as a table, for a notebook."""
        value = "undefined" if self.value is None else f"{self.value:.3f}"
        ends = "" if self.low is None or self.high is None else f" ({self.low:.3f} to {self.high:.3f})"
        fields = {
            self.measure: f"{value}{ends}",
            "units": self.units,
            "raters": self.raters,
            "ratings": self.ratings,
            "note": " ".join(filter(None, (self.reason, self.note))),
        }
        rows = (
            f"<tr><th>{escape(name)}</th><td>{escape(str(text))}</td></tr>"
            for name, text in fields.items()
            if text != ""
        )
        return f"<table>{''.join(rows)}</table>"
