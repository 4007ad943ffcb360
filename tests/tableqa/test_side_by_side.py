"""Several models in the tables of the papers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tableqa.perturbations import instances
from tableqa.readers import READERS
from tableqa.scoring.evaluation import Judgement, compare, evaluate, figures, judge
from tableqa.scoring.matching import ORIGINAL, Instance
from tableqa.scoring.model_comparisons import in_order, sheets
from tableqa.writers.report_tables import Sheet, as_html, as_latex, as_markdown

KINDS = ("row_shuffle", "transpose", "target_row_front", "target_row_middle", "target_row_bottom", "row")


@pytest.fixture(scope="module")
def asked(test_data: Path) -> list[Instance]:
    """Questions of FREB-TQA's first part with their perturbations: two sources, two seeds."""
    found = []
    for source in ("wtq", "sqa"):
        file = test_data / "freb_tqa" / "01_str" / f"{source}_factoid_dev.json"
        for example in READERS["freb_tqa"](file, limit=12):
            found.append(Instance(source, example.id, example.id, ORIGINAL, 0, example.id, example.answers))
            found += [
                Instance(
                    source,
                    made.id_of(example.id),
                    example.id,
                    made.kind,
                    made.seed,
                    example.id,
                    example.answers,
                )
                for made in instances(example, KINDS, [33, 16])
                if made.is_made
            ]
    return found


def answering(asked: list[Instance], draw: int, fails: str) -> Judgement:
    """A model that knows most answers, and loses many where one kind of perturbation was made."""
    drawn = random.Random(draw)
    knows = {(one.source, one.question): drawn.random() < 0.8 for one in asked}
    said = {
        (one.source, one.id): list(one.answers)
        if knows[one.source, one.question] and not (one.kind == fails and drawn.random() < 0.9)
        else ["no idea"]
        for one in asked
    }
    return judge(asked, said)


SOURCES = ("all sources", "all questions", "sqa", "wtq")


def test_nothing_is_marked_that_a_useless_model_wins(asked: list[Instance]) -> None:
    """A model that always says the same is nearly never right: nothing changes for it, and VP is the lowest."""
    useless = judge(
        asked,
        {(one.source, one.id): ["the same"] for one in asked[:-1]}
        | {(asked[-1].source, asked[-1].id): list(asked[-1].answers)},
    )
    models = {
        "good": figures(answering(asked, 1, "transpose"), replicates=20),
        "useless": figures(useless, replicates=20),
    }
    marked = {
        (row[0].text, column.title)
        for sheet in sheets(models)
        for row in sheet.rows
        for cell, column in zip(row, sheet.columns, strict=True)
        if cell.best
    }
    assert marked == {("good", "Em")}


def named(found: list[Sheet], name: str) -> Sheet:
    return next(sheet for sheet in found if sheet.name == name)


def test_a_perturbation_of_one_source_has_both_averages(asked: list[Instance]) -> None:
    of_one = [one for one in asked if one.kind != "transpose" or one.source == "wtq"]
    (structure,) = [
        sheet
        for sheet in sheets({"A": figures(answering(of_one, 1, "transpose"), replicates=20)})
        if sheet.name == "structure"
    ]
    macro, micro = (
        [
            cell.text
            for cell, column in zip(row, structure.columns, strict=True)
            if column.group == "transpose"
        ]
        for row in structure.rows[:2]
    )

    assert macro == micro
    assert macro[0] == "12"


def test_freb_tqa_has_a_row_for_each_model_and_two_columns_for_each_perturbation(
    asked: list[Instance],
) -> None:
    one, other = answering(asked, 1, "transpose"), answering(asked, 2, "row_shuffle")
    found = sheets({name: figures(of, replicates=20) for name, of in (("A_1", one), ("B & co", other))})
    structure = named(found, "structure")
    assert [name for name, _ in structure.groups] == [
        *("", "original", "row_shuffle", "target_row_front", "target_row_middle", "target_row_bottom"),
        "transpose",
    ]
    assert [(row[0].text, row[1].text) for row in structure.rows] == [
        *((model, source) for model in ("A_1", "B & co") for source in SOURCES)
    ]
    assert [column.title for column in structure.columns[:4]] == ["Model", "Source", "n", "Em"]
    by_title = {(column.group, column.title): place for place, column in enumerate(structure.columns)}
    assert structure.rows[0][by_title["transpose", "n"]].text == "24"
    transposed = by_title["transpose", "Emd"]
    lost, kept = structure.rows[0][transposed].number, structure.rows[4][transposed].number
    assert lost is not None
    assert kept is not None
    assert lost < -40 < kept
    assert "B & co" not in as_html(structure)
    assert "B &amp; co" in as_html(structure)
    assert r"B \& co" in as_latex(structure)
    assert r"A\_1" in as_markdown(structure)


def test_robut_has_dev_then_pre_post_and_r_acc_for_each_level(asked: list[Instance]) -> None:
    evaluation = figures(answering(asked, 1, "row"), replicates=20)
    levels = named(sheets({"TAPEX": evaluation}), "levels")
    assert [column.title for column in levels.columns[2:]] == [
        "Source",
        "n",
        "pre",
        "post",
        "n (R-ACC)",
        "R-ACC",
    ]
    assert [[cell.text for cell in row[:3]] for row in levels.rows] == [
        [*names, average]
        for names in (["dev", "none (originals)"], ["table content", "row"])
        for average in SOURCES[:2]
    ]
    row = evaluation.row("row")
    assert row is not None
    assert row.r_acc.value is not None
    assert levels.rows[2][7].number == pytest.approx(100 * row.r_acc.value, abs=0.005)


def test_every_row_of_every_model_stands_in_the_last_table(asked: list[Instance]) -> None:
    evaluation = figures(answering(asked, 1, "row"), replicates=20)
    last = sheets({"one": evaluation, "two": evaluation})[-1]
    assert len(last.rows) == 2 * len(evaluation.rows)
    assert last.rows[0][0].text == ORIGINAL


def test_a_difference_is_bold_where_its_interval_leaves_out_nothing(asked: list[Instance]) -> None:
    one, other = answering(asked, 1, "transpose"), answering(asked, 1, "none")
    models = {"weak": figures(one, replicates=20), "strong": figures(other, replicates=20)}
    found = sheets(models, {("weak", "strong"): compare(one, other, replicates=200)})
    difference = named(found, "difference-1")
    assert difference.title == "strong compared with weak"
    of = {(row[0].text, row[1].text): row for row in difference.rows}
    after = of["transpose", "all sources"][3]
    assert after.best
    assert after.number is not None
    assert after.number > 30
    assert not of["original", "all sources"][3].best


def test_kinds_come_in_the_order_of_the_papers() -> None:
    assert in_order(["zeal", "row", "transpose", "row_shuffle", "mask_cell", "answer_stays"]) == [
        *("row_shuffle", "transpose", "mask_cell", "answer_stays", "row", "zeal")
    ]


def test_tables_that_there_is_nothing_for_are_left_out() -> None:
    instances = [Instance("wtq", "q", "q", ORIGINAL, 0, "q", ("1",))]
    evaluation = evaluate(instances, {("wtq", "q"): ["1"]}, replicates=20)
    assert [sheet.name for sheet in sheets({"one": evaluation})] == ["all-figures"]


def test_what_is_right_without_evidence_names_the_answers_that_pay() -> None:
    asked = [
        Instance("tat", f"q{i}{tail}", f"q{i}", kind, 0, f"q{i}", ("2019",))
        for i in range(4)
        for tail, kind in (("", ORIGINAL), ("~x", "escape_table"))
    ]
    said = {(one.source, one.id): ["2019" if one.question != "q3" else "2018"] for one in asked}
    sheet = named(sheets({"TAPEX": evaluate(asked, said, replicates=20)}), "without-evidence")
    assert [cell.text for cell in sheet.rows[0][1:6]] == ["escape_table", "tat", "4", "3.00", "75.00"]
    assert sheet.rows[0][7].text == "2019 (3.00)"


def test_a_count_without_evidence_is_per_seed_as_its_share_is() -> None:
    asked = [Instance("tat", f"q{i}", f"q{i}", ORIGINAL, 0, f"q{i}", ("2019",)) for i in range(10)]
    asked += [
        Instance("tat", f"q{i}~{seed}", f"q{i}", "mask_cell", seed, f"q{i}", ("2019",))
        for i in range(10)
        for seed in range(5)
    ]
    said = {
        (one.source, one.id): ["2019" if one.seed == int(one.question[1:]) % 5 else "no"] for one in asked
    }
    sheet = named(sheets({"TAPEX": evaluate(asked, said, replicates=20)}), "without-evidence")
    assert [column.title for column in sheet.columns][3:6] == ["questions", "right per seed", "share"]
    assert [cell.text for cell in sheet.rows[0][3:6]] == ["10", "2.00", "20.00"]
    assert sheet.rows[0][7].text == "2019 (2.00)"


def test_dialogues_stand_beside_their_questions() -> None:
    asked = [
        Instance(
            "sqa", f"{name}-{turn}{tail}", f"{name}-{turn}", kind, 0, f"{name}-{turn}", ("1",), "", name, turn
        )
        for name in ("a", "b")
        for turn in range(2)
        for tail, kind in (("", ORIGINAL), ("~row-0", "row"))
    ]
    said = {(one.source, one.id): ["2" if one.id == "b-1~row-0" else "1"] for one in asked}
    sheet = named(sheets({"TAPEX": evaluate(asked, said, replicates=20)}), "sequences")
    assert [column.title for column in sheet.columns[2:]] == [
        *("n (ALL)", "ALL", "n (SEQ)", "SEQ", "n (SEQ R-ACC)", "SEQ R-ACC")
    ]
    assert [[cell.text for cell in row] for row in sheet.rows] == [
        ["original", "all sources", "4", "100.00", "2", "100.00", "–", "–"],
        ["row", "all sources", "4", "75.00", "2", "50.00", "2", "50.00"],
    ]


def test_every_share_has_an_interval_and_the_number_of_its_own_questions() -> None:
    """Six questions, two of them correct before: R-ACC is a share of two."""
    asked = [
        Instance("wtq", f"q{i}{tail}", f"q{i}", kind, 0, f"q{i}", ("1",))
        for i in range(6)
        for tail, kind in (("", ORIGINAL), ("~s", "header_synonym"), ("~c", "answer_stays"))
    ]
    answers = {(one.source, one.id): ["1" if one.question in ("q0", "q1") else "2"] for one in asked}
    judged, other = judge(asked, answers), judge(asked, {key: ["1"] for key in answers})
    models = {"A": figures(judged, replicates=20)}
    rules = dict.fromkeys(("askew", "wtq"), models)
    tables = sheets(models, {("A", "B"): compare(judged, other, replicates=20)}, rules)

    assert {sheet.name for sheet in tables} == {
        *("values", "levels", "matching-rules", "difference-1", "all-figures")
    }
    for sheet in tables:
        for row in sheet.rows:
            last_n = None
            for cell, column in zip(row, sheet.columns, strict=True):
                if column.title.startswith("n"):
                    last_n = cell.number
                elif cell.number is not None and column.title != "sd":
                    is_identity = column.title in ("Emd", "VP", "R-ACC") and ORIGINAL in [
                        label.text for label in row
                    ]
                    where = f"{sheet.name}, {row[0].text}, {column.title}"
                    assert bool(cell.detail) != is_identity, (
                        f"{where} has no interval, or an identity has one"
                    )
                    assert last_n == cell.n, f"{sheet.name}, {row[0].text}, {column.title} has another n"
