"""Evaluations of several models as tables, laid out as in the papers.

    sheets({"TAPEX": evaluation, "OmniTab": other}, differences={("TAPEX", "OmniTab"): compare(...)})

Zhou et al. (2024), FREB-TQA: a row for each model, two columns (Emd, VP) for each perturbation; Table 6.
Zhao et al. (2023), RobuT: a row for each perturbation within its level; for each model accuracy before and after, R-ACC.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tableqa.core.translation import gettext, gettext_noop
from tableqa.scoring.evaluation import (
    FIGURES,
    MACRO,
    MICRO,
    Difference,
    Evaluation,
    Gap,
    Row,
    UnsupportedAnswers,
)
from tableqa.scoring.matching import ORIGINAL
from tableqa.statistics.robustness import Estimate
from tableqa.writers.report_tables import NOTHING, Cell, Column, Sheet, count, share, text

STRUCTURE = (
    *("row_shuffle", "target_row_random", "target_row_front", "target_row_middle", "target_row_bottom"),
    *("col_shuffle", "target_col_random", "target_col_front", "target_col_back", "transpose"),
)
"""FREB-TQA's first part, in the order of its tables."""
EVIDENCE = ("mask_cell", "escape_table", "relevant_row_shuffle")
"""FREB-TQA's second part: relevant cells removed (RRel), table removed (RT), relevant rows moved."""
VALUES = ("short_table", "answer_changes", "answer_stays")
"""FREB-TQA's third part: the short table (ST), and its values changed with (AC) and without the answer (NC)."""
LEVELS: Mapping[str, tuple[str, ...]] = {
    gettext_noop("table header"): ("header_synonym", "header_abbreviation"),
    gettext_noop("table content"): ("row", "column", "column_extension", "column_masking", "column_adding"),
    gettext_noop("question"): ("word", "sentence"),
    gettext_noop("mix"): ("mix",),
}
"""RobuT's levels with their perturbations (section 3), under the names that examples of them have here."""
_OF_PAPERS = (*STRUCTURE, *EVIDENCE, *VALUES, *(kind for kinds in LEVELS.values() for kind in kinds))
POSITIONS: Mapping[str, Mapping[str, str]] = {
    "rows": {
        gettext_noop("front"): "target_row_front",
        gettext_noop("middle"): "target_row_middle",
        gettext_noop("bottom"): "target_row_bottom",
    },
    "columns": {
        gettext_noop("front"): "target_col_front",
        gettext_noop("back"): "target_col_back",
    },
}
"""Where FREB-TQA moves the rows and columns of the answer, in the order of the table."""

_PARTS = (
    ("structure", gettext_noop("Structure (FREB-TQA, part 1)"), STRUCTURE),
    ("evidence", gettext_noop("Attention to evidence (FREB-TQA, part 2)"), EVIDENCE),
    ("values", gettext_noop("Values (FREB-TQA, part 3)"), VALUES),
)
_NOTE = gettext_noop(
    "Percentages with 95 % CI. Em: correct answers. Emd: Em after minus Em before, on the original "
    "table. VP: answers that became correct or wrong. ±: standard deviation over seeds. Zhou et al. "
    "(2024), section 5."
)
_NOTE_OF_VALUES = gettext_noop(
    "Percentages with 95 % CI. Em: correct answers. Emd: Em after minus Em before. Short tables are "
    "compared with the original table. Changed values are compared with the table they were changed "
    "in, each by its own gold answer. VP: answers that became correct or wrong. ±: standard deviation "
    "over seeds. Zhou et al. (2024), section 5."
)
RULES: Mapping[str, str] = {
    "askew": gettext_noop("Correct: equivalent to the gold answer (rule askew)."),
    "wtq": gettext_noop("Correct: accepted by the WikiTableQuestions evaluator (rule wtq)."),
    "tapex": gettext_noop("Correct: accepted by the evaluation of TAPEX and RobuT (rule tapex)."),
    "tat": gettext_noop("Correct: accepted by the TAT-QA evaluator, including the scale (rule tat)."),
}
"""A sentence for each rule of `tableqa.scoring.evaluation.MATCHES`."""
_NOTE_OF_BEST = gettext_noop(
    "n: questions. Bold: the highest Em. Emd and VP are not marked, because a model that is "
    "rarely correct changes least."
)
_IN_WORDS = {MACRO: gettext_noop("all sources"), MICRO: gettext_noop("all questions")}
N_OF_R_ACC = "n (R-ACC)"
"""The title of the column with the questions that R-ACC is a share of."""
LONGEST = 50
"""Characters of an answer in a table of answers."""


def in_order(kinds: Iterable[str]) -> list[str]:
    """Kinds of perturbation in the order of the papers' tables, others behind them by name."""
    present_kinds = set(kinds)
    return [kind for kind in _OF_PAPERS if kind in present_kinds] + sorted(present_kinds - set(_OF_PAPERS))


def sheets(
    models: Mapping[str, Evaluation],
    differences: Mapping[tuple[str, str], Sequence[Difference]] | None = None,
    by_rule: Mapping[str, Mapping[str, Evaluation]] | None = None,
) -> list[Sheet]:
    """Every table that there is something for, the papers' first. `by_rule`: the same models by several matching rules."""
    all_sheets = [_part(models, *part) for part in _PARTS]
    all_sheets += [_levels(models), _rows("others", gettext("Other perturbations"), models, _others(models))]
    all_sheets += [_sequences(models), _gaps(models), _unsupported(models)]
    all_sheets.append(_by_rule(by_rule or {}))
    all_sheets += [
        _differences(f"difference-{position}", *pair, pair_differences)
        for position, (pair, pair_differences) in enumerate((differences or {}).items(), start=1)
    ]
    all_sheets.append(_rows("all-figures", gettext("All values"), models, None))
    return [sheet for sheet in all_sheets if sheet is not None]


def _keys(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The kinds and sources of rows, originals first, then in the order of the papers' tables."""
    keys = dict.fromkeys((row.kind, row.source) for row in rows)
    order = [ORIGINAL, *in_order({kind for kind, _ in keys} - {ORIGINAL})]
    return sorted(keys, key=lambda key: order.index(key[0]))


def _labels(*titles: str) -> list[Column]:
    """Columns of texts."""
    return [Column(title, numeric=False) for title in titles]


# -- FREB-TQA ---------------------------------------------------------------------------------------


def _part(models: Mapping[str, Evaluation], name: str, title: str, kinds: Sequence[str]) -> Sheet | None:
    present_kinds = [kind for kind in kinds if any(results.row(kind) for results in models.values())]
    if not present_kinds:
        return None
    columns = [*_labels(gettext("Model"), gettext("Source")), Column("n", ORIGINAL), Column("Em", ORIGINAL)]
    for kind in present_kinds:
        columns += [Column("n", kind)]
        columns += [Column("Em", kind)] if name == "values" else []
        columns += [Column("Emd", kind), Column("VP", kind)]
    lines = []
    for model, evaluation in models.items():
        for source in _sources(evaluation, [*present_kinds, ORIGINAL]):
            line = [
                text(model),
                text(_source_in_words(source)),
                _questions(evaluation.row(ORIGINAL, source)),
                _figure(evaluation.row(ORIGINAL, source), "after"),
            ]
            for kind in present_kinds:
                row = evaluation.row(kind, source)
                if row is None and source == MICRO:
                    row = evaluation.row(kind)  # of one source, which is both averages
                line += [_questions(row)]
                line += [_figure(row, "after")] if name == "values" else []
                line += [_figure(row, "emd"), _figure(row, "vp")]
            lines.append(line)
    best = [index for index, column in enumerate(columns) if column.title == "Em"]
    note = f"{gettext(_NOTE_OF_VALUES if name == 'values' else _NOTE)} {gettext(_NOTE_OF_BEST)}"
    return Sheet(name, gettext(title), tuple(columns), _best(lines, best), note)


def _questions(row: Row | None) -> Cell:
    return text(NOTHING) if row is None else count(row.questions)


def _r_acc(row: Row | None) -> tuple[Cell, Cell]:
    """The number of questions that were correct before, over which R-ACC is a share, and R-ACC."""
    if row is None or row.kind == ORIGINAL:
        return text(NOTHING), text(NOTHING)
    return count(row.r_acc.n), _figure(row, "r_acc")


def _figure(row: Row | None, name: str) -> Cell:
    """A figure of a row with its interval, and with its deviation over seeds as the papers' tables have it."""
    if row is None:
        return text(NOTHING)
    deviation = {"after": row.deviation, "emd": row.emd_deviation, "vp": row.vp_deviation}.get(name)
    return share(getattr(row, name), deviation=deviation)


def _gaps(models: Mapping[str, Evaluation]) -> Sheet | None:
    gaps: list[tuple[str, Gap]] = [(model, gap) for model, of in models.items() for gap in of.gaps]
    if not gaps:
        return None
    columns = (
        *_labels(gettext("Model"), gettext("Source")),
        Column(gettext("comparing"), gettext("questions")),
        Column(gettext("others"), gettext("questions")),
        Column(gettext("comparing"), "VP"),
        Column(gettext("others"), "VP"),
        Column(gettext("gap"), "VP"),
    )
    lines = [
        (
            text(model),
            text(_source_in_words(gap.source)),
            count(gap.comparison.n),
            count(gap.other.n),
            share(gap.comparison),
            share(gap.other),
            share(gap.gap),
        )
        for model, gap in gaps
    ]
    note = gettext(
        "Percentages with 95 % CI. VP of moved relevant rows, for questions that compare and for "
        "others. A model that relies on row order shows a gap. Zhou et al. (2024), Table 6."
    )
    return Sheet(
        "comparing", gettext("Questions that compare (FREB-TQA, Table 6)"), columns, tuple(lines), note
    )


def _unsupported(models: Mapping[str, Evaluation]) -> Sheet | None:
    entries: list[tuple[str, UnsupportedAnswers]] = [
        (model, entry) for model, of in models.items() for entry in of.unsupported
    ]
    if not entries:
        return None
    columns = (
        *_labels(gettext("Model"), gettext("Perturbation"), gettext("Source")),
        Column(gettext("questions")),
        Column(gettext("right per seed")),
        Column(gettext("share")),
        Column(gettext("different answers")),
        *_labels(gettext("the most frequent")),
    )
    lines = []
    for model, entry in entries:
        row = models[model].row(entry.kind, entry.source) or models[model].row(entry.kind)
        often = "; ".join(f"{_short(answer)} ({value:,.2f})" for answer, value in entry.answers[:5])
        lines.append(
            (
                text(model),
                text(entry.kind),
                text(entry.source),
                count(entry.questions),
                Cell(f"{entry.number:,.2f}", entry.number),
                share(row.after) if row else text(NOTHING),
                count(len(entry.answers)),
                text(often or NOTHING),
            )
        )
    note = gettext(
        "Questions answered correctly although the relevant cells or the whole table were removed. "
        "With 95 % CI and the gold answers. Numbers are means over the seeds, so that they fit the share. Where one "
        "answer makes up nearly all of them, the model is guessing. Zhou et al. (2024), section 5."
    )
    return Sheet("without-evidence", gettext("Correct without evidence"), columns, tuple(lines), note)


def _short(answer: str) -> str:
    if not answer:
        return gettext("no answer")
    return answer if len(answer) <= LONGEST else answer[: LONGEST - 1] + "…"


# -- RobuT ------------------------------------------------------------------------------------------


def _levels(models: Mapping[str, Evaluation]) -> Sheet | None:
    present_kinds = [
        (level, kind)
        for level, kinds in LEVELS.items()
        for kind in kinds
        if any(evaluation.row(kind) for evaluation in models.values())
    ]
    if not present_kinds:
        return None
    columns = _labels(gettext("Level"), gettext("Perturbation"), gettext("Source"))
    for model in models:
        columns += [Column(title, model) for title in ("n", "pre", "post", N_OF_R_ACC, "R-ACC")]
    lines = []
    for average in _averages(models, ORIGINAL):
        line = [text("dev"), text(gettext("none (originals)")), text(_source_in_words(average))]
        for evaluation in models.values():
            row = evaluation.row(ORIGINAL, average)
            line += [_questions(row), _figure(row, "after"), text(NOTHING), *_r_acc(row)]
        lines.append(line)
    for level, kind in present_kinds:
        for average in _averages(models, kind):
            line = [text(gettext(level)), text(kind), text(_source_in_words(average))]
            for evaluation in models.values():
                row = evaluation.row(kind, average)
                line += [_questions(row), _figure(row, "before"), _figure(row, "after"), *_r_acc(row)]
            lines.append(line)
    note = gettext(
        "Percentages with 95 % CI. n: questions. pre and post: correct answers before and after the "
        "perturbation. R-ACC: correct after, of those correct before. Zhao et al. (2023), section 4.1."
    )
    return Sheet(
        "levels", gettext("Levels of perturbation (RobuT)"), tuple(columns), tuple(map(tuple, lines)), note
    )


def _averages(models: Mapping[str, Evaluation], kind: str) -> list[str]:
    """The rows over several sources that there are of a kind; of one source, the row over all of them."""
    return [
        name for name in (MACRO, MICRO) if any(evaluation.row(kind, name) for evaluation in models.values())
    ]


def _sequences(models: Mapping[str, Evaluation]) -> Sheet | None:
    if not any(evaluation.sequences for evaluation in models.values()):
        return None
    columns = _labels(gettext("Perturbation"), gettext("Source"))
    for model in models:
        titles = ("n (ALL)", "ALL", "n (SEQ)", "SEQ", "n (SEQ R-ACC)", "SEQ R-ACC")
        columns += [Column(title, model) for title in titles]
    lines = []
    for kind, source in _keys(row for evaluation in models.values() for row in evaluation.sequences):
        line = [text(kind), text(_source_in_words(source))]
        for evaluation in models.values():
            for rows in (evaluation.turns, evaluation.sequences):
                row = _find_row(rows, kind, source)
                line += [_questions(row), _figure(row, "after")]
            line += _r_acc(row)
        lines.append(tuple(line))
    incomplete = ", ".join(
        f"{model}: {evaluation.incomplete}" for model, evaluation in models.items() if evaluation.incomplete
    )
    if incomplete:
        note = gettext(
            "Percentages with 95 % CI. ALL: questions, each asked with its history. SEQ: whole "
            "dialogues, correct if every turn is correct. Incomplete dialogues are excluded ({left}). Zhao et "
            "al. (2023), section 4.1."
        ).format(left=incomplete)
    else:
        note = gettext(
            "Percentages with 95 % CI. ALL: questions, each asked with its history. SEQ: whole "
            "dialogues, correct if every turn is correct. Incomplete dialogues are excluded. Zhao et al. "
            "(2023), section 4.1."
        )
    return Sheet("sequences", gettext("Dialogues (SQA)"), tuple(columns), tuple(lines), note)


def _find_row(rows: Iterable[Row], kind: str, source: str) -> Row | None:
    return next((row for row in rows if (row.kind, row.source) == (kind, source)), None)


# -- matching rules ---------------------------------------------------------------------------------


def _by_rule(by_rule: Mapping[str, Mapping[str, Evaluation]]) -> Sheet | None:
    """Em and R-ACC of the same predictions, by each matching rule beside the others."""
    rules = list(by_rule)
    if len(rules) < 2 or not (first := by_rule[rules[0]]):
        return None
    columns = (
        *_labels(gettext("Model"), gettext("Source"), gettext("Perturbation")),
        Column("n"),
        *(Column(rule, "Em") for rule in rules),
        *(Column(title, "R-ACC") for rule in rules for title in (f"n ({rule})", rule)),
    )
    lines = []
    for kind, source in _keys(row for results in first.values() for row in results.rows):
        for model, evaluation in first.items():
            if (row := evaluation.row(kind, source)) is None:
                continue
            line = [text(model), text(_source_in_words(source)), text(kind), count(row.questions)]
            of_rules = [by_rule[rule][model].row(kind, source) for rule in rules]
            line += [_figure(of_rule, "after") for of_rule in of_rules]
            line += [cell for of_rule in of_rules for cell in _r_acc(of_rule)]
            lines.append(tuple(line))
    note = gettext(
        "Percentages with 95 % CI for the same predictions. askew: equivalent answers. wtq: the "
        "WikiTableQuestions evaluator. tapex: the evaluation of TAPEX and RobuT. Compare published "
        "values only under the same rule."
    )
    return Sheet("matching-rules", gettext("Matching rules"), columns, tuple(lines), note)


# -- everything -------------------------------------------------------------------------------------


def _others(models: Mapping[str, Evaluation]) -> list[str]:
    """Kinds that none of the papers' tables has a place for."""
    kinds = {row.kind for evaluation in models.values() for row in evaluation.rows}
    return sorted(kinds - {ORIGINAL, *_OF_PAPERS})


def _rows(
    name: str, title: str, models: Mapping[str, Evaluation], kinds: Sequence[str] | None
) -> Sheet | None:
    """Every figure with its interval, for some kinds or for all."""
    keys = _keys(row for results in models.values() for row in results.rows)
    selected_keys = [key for key in keys if kinds is None or key[0] in kinds]
    if not selected_keys:
        return None
    scored = any(row.f1 is not None for results in models.values() for row in results.rows)
    columns = (
        *_labels(gettext("Perturbation"), gettext("Source"), gettext("Model")),
        *(Column(title) for title in ("n", gettext("before"), gettext("after"), "sd", "Emd", "VP")),
        *(Column(title) for title in (N_OF_R_ACC, "R-ACC")),
        *((Column("F1"),) if scored else ()),
    )
    lines = []
    for kind, source in selected_keys:
        for model, evaluation in models.items():
            row = evaluation.row(kind, source)
            if row is None:
                continue
            deviation = "" if row.deviation is None else f"{100 * row.deviation:.2f}"
            before, after, emd, vp = map(share, (row.before, row.after, row.emd, row.vp))
            line = (text(kind), text(_source_in_words(source)), text(model), count(row.questions))
            f1 = (share(row.f1) if row.f1 else text(NOTHING),) if scored else ()
            r_acc = (count(row.r_acc.n), share(row.r_acc))
            lines.append((*line, before, after, text(deviation or NOTHING), emd, vp, *r_acc, *f1))
    note = gettext(
        "Percentages with 95 % CI (bootstrap over questions, 1,000 resamples). n: questions. before: "
        "correct on the unperturbed version. sd: standard deviation of after over seeds. all "
        "sources: mean over sources (macro). all questions: mean over questions (micro). R-ACC over "
        "several sources excludes sources where it is undefined."
    )
    missing = [f"{model}: {results.missing}" for model, results in models.items() if results.missing]
    left_out = [f"{model}: {results.left_out}" for model, results in models.items() if results.left_out]
    notes = [note]
    if missing:
        notes.append(gettext("Without a prediction, excluded: {models}.").format(models=", ".join(missing)))
    if left_out:
        notes.append(gettext("Too long, excluded: {models}.").format(models=", ".join(left_out)))
    return Sheet(name, title, columns, tuple(lines), " ".join(notes))


def _differences(
    name: str, first_model: str, second_model: str, differences: Sequence[Difference]
) -> Sheet | None:
    if not differences:
        return None
    columns = (
        *_labels(gettext("Perturbation"), gettext("Source")),
        Column("n"),
        *(
            Column(title)
            for title in (gettext("accuracy"), gettext("p (Holm)"), "Emd", "VP", N_OF_R_ACC, "R-ACC")
        ),
    )
    lines = []
    for line in differences:
        row = (text(line.kind), text(_source_in_words(line.source)), count(line.questions))
        accuracy, emd, vp, r_acc = (_difference(line.figures[name]) for name in FIGURES)
        p_value = text(NOTHING if line.corrected is None else f"{max(line.corrected, 0.001):.3f}")
        lines.append((*row, accuracy, p_value, emd, vp, count(line.figures["r_acc"].n), r_acc))
    note = gettext(
        "Percentage points: {other} minus {one}, on the same questions, with 95 % CI (paired "
        "bootstrap over questions). Bold: the interval excludes 0. p: exact sign test of accuracy over "
        "questions, corrected for all rows of this report (Holm), 0.001 or less as 0.001."
    ).format(other=second_model, one=first_model)
    title = gettext("{other} compared with {one}").format(other=second_model, one=first_model)
    return Sheet(name, title, columns, tuple(lines), note)


def _difference(estimate: Estimate) -> Cell:
    cell = share(estimate)
    told_apart = estimate.low is not None and estimate.high is not None and estimate.low * estimate.high > 0
    return replace(cell, best=told_apart)


def _best(lines: Iterable[Sequence[Cell]], indices: Sequence[int]) -> tuple[tuple[Cell, ...], ...]:
    """The rows with the highest number of these columns marked, among the rows of one source."""
    rows = [list(line) for line in lines]
    for index in indices:
        for source in dict.fromkeys(row[1].text for row in rows):
            of = [row for row in rows if row[1].text == source and row[index].number is not None]
            values = [row[index].number or 0.0 for row in of]
            if len(values) < 2 or len(set(values)) < 2:
                continue
            for row in of:
                cell = row[index]
                if cell.number == max(values):
                    row[index] = replace(cell, best=True)
    return tuple(map(tuple, rows))


def _sources(evaluation: Evaluation, kinds: Iterable[str]) -> list[str]:
    sources = dict.fromkeys(row.source for row in evaluation.rows if row.kind in set(kinds))
    return sorted(sources, key=lambda source: (source not in (MACRO, MICRO), source))


def _source_in_words(source: str) -> str:
    return gettext(_IN_WORDS[source]) if source in _IN_WORDS else source
