"""The library with pandas: tables, ratings and releases as data frames, and how notebooks show them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

from tableqa import Edit, Release, Table, fleiss_kappa
from tableqa.agreement.coefficients import agreement
from tableqa.core.canonical_json import file_digest
from tableqa.data.tables import TableError
from tableqa.operations import Operation, RemoveRow, RenameHeader, SetCell, Transpose
from tableqa.perturbations import instances
from tableqa.readers import READERS
from tests.tableqa.strategies import tables

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "tests/annotation/release_of_november"
TABLE = Table(["Film", "Year"], [["Heat", "1995"], ["<Alien>", "1979"]])
LABELS: list[list[str | None]] = [["a", "a", "b"], ["b", "b", None], ["c", "a", "a"]]
LONG = pd.DataFrame(
    [
        (f"item {item}", f"rater {rater}", label)
        for item, row in enumerate(LABELS)
        for rater, label in enumerate(row)
        if label is not None
    ],
    columns=["item", "rater", "label"],
)


# ---- tables ----------------------------------------------------------------------------------------------------


@given(tables)
def test_a_table_comes_back_from_its_frame(table: Table) -> None:
    frame = table.to_pandas()

    assert list(frame.index) == list(table.row_ids)
    again = Table.from_pandas(frame)
    assert (again.header, again.rows, again.header_rows) == (table.header, table.rows, table.header_rows)
    assert (again.title, again.caption) == (table.title, table.caption)


def test_numbers_are_refused_with_the_way_to_read_texts() -> None:
    with pytest.raises(TableError, match=r"^row 1, column 1: a cell must be a string.*dtype=str"):
        Table.from_pandas(pd.DataFrame({"Year": [1995.0]}))


# ---- ratings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1"])
def test_a_row_for_each_rating_gives_what_units_and_raters_give(measure: str) -> None:
    of_frame = agreement(
        LONG.sample(frac=1, random_state=1), measure, item="item", rater="rater", label="label"
    )

    assert of_frame == agreement(LABELS, measure)


@pytest.mark.parametrize(
    ("frame", "names", "complaint"),
    [
        (LONG, {}, r"needs item=, rater= and label=.*item, rater, label.*frame\.to_numpy\(\)"),
        (LONG, {"item": "item", "rater": "who", "label": "label"}, r"not 'who'"),
        (LONG, {"item": "item"}, r"must be columns of the frame \(item, rater, label\), not None"),
        (
            pd.concat([LONG, LONG[:1]]),
            {"item": "item", "rater": "rater", "label": "label"},
            r"'item 0' has two ratings by rater 'rater 0'.*drop_duplicates",
        ),
    ],
)
def test_a_frame_of_another_shape_is_refused_with_the_remedy(
    frame: pd.DataFrame, names: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        fleiss_kappa(frame, **names)


# ---- releases --------------------------------------------------------------------------------------------------


def test_the_frames_of_a_release_have_all_its_records() -> None:
    release = Release.load(RELEASE)

    examples = release.examples.set_index("id")
    edited = examples.loc["nu-0~answer_changes-1"]
    assert (edited["source"], edited["parent"], edited["answers"]) == ("films-dev", "nu-0", ["1996"])
    assert edited["table"].cell("r0", "c1") == "1996"
    assert examples.loc["nu-0", "source"] == "films-dev"
    assert examples["perturbation"].isna().sum() == 4
    assert len(release.responses) == 18
    assert len(release.decisions) == 9
    assert set(release.agreement["statistic"]) == {"fleiss_kappa", "krippendorff_alpha_nominal"}


def test_agreement_of_the_responses_is_that_of_the_manifest() -> None:
    release = Release.load(RELEASE)
    stored = release.agreement.query("measure == 'label'")
    assert len(stored) == 2

    for record in stored.itertuples():
        computed = agreement(
            release.ratings(record.batch),
            record.statistic,
            item="item",
            rater="annotator",
            label="response.data.label",
        )
        assert computed.value == pytest.approx(record.value)
        assert (computed.units, computed.raters) == (record.units, record.raters)


def rewritten(folder: Path, change: Any) -> Release:
    """The release with other annotations, its manifest in accordance."""
    shutil.copytree(RELEASE, folder, dirs_exist_ok=True)
    path = folder / "annotations.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in change(records)), "utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"][path.name]["sha256"] = file_digest(path)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return Release.load(folder)


def test_which_responses_enter_agreement_follows_from_revisions(tmp_path: Path) -> None:
    def revised(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        first = {**records[0], "newest": False}
        second = {**records[0], "revision": 2, "sent_back": True, "newest": False}
        third = {**records[0], "revision": 3, "way_back": True}
        first["place"] = second["place"] = third["place"] = {"number": 1, "added": False}
        withdrawn = [{**records[1], "newest": False}, {**records[1], "revision": 2, "response": None}]
        added = {**records[2], "place": {"number": 2, "added": True}}
        return [first, second, third, *withdrawn, added]

    responses = rewritten(tmp_path, revised).responses

    assert responses["in_agreement"].tolist() == [False, False, True, False, False, False]


def test_a_release_without_responses_has_none(tmp_path: Path) -> None:
    release = rewritten(tmp_path, lambda records: [])

    assert len(release.responses) == len(release.ratings("mw5kxbmkknu2")) == 0


def test_a_changed_file_and_what_is_no_release_are_refused(tmp_path: Path) -> None:
    shutil.copytree(RELEASE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "annotations.jsonl").write_text("{}\n")
    release = Release.load(tmp_path)

    with pytest.raises(ValueError, match=r"annotations\.jsonl is not the file that the manifest describes"):
        _ = release.responses
    with pytest.raises(KeyError, match="no batch 'x'"):
        release.ratings("x")
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match="not the manifest of a release"):
        Release.load(tmp_path)
    with pytest.raises(ValueError, match="Unpack it"):
        Release.load(tmp_path / "release.zip")


# ---- notebooks -------------------------------------------------------------------------------------------------


def test_a_table_is_shown_with_its_text_escaped() -> None:
    shown = Table(["a<b"], [["<i>"]], title="T & U", header_rows=[["'x'"]])._repr_html_()

    assert shown == (
        "<table><caption>T &amp; U</caption><tr><th>&#x27;x&#x27;</th></tr>"
        "<tr><th>a&lt;b</th></tr><tr><td>&lt;i&gt;</td></tr></table>"
    )


def test_of_a_long_table_the_first_rows_are_shown() -> None:
    shown = Table(["n"], [[str(n)] for n in range(100)])._repr_html_()

    assert shown.count("<td>") == 60
    assert shown.endswith("<p>40 more rows</p>")


def test_an_edit_is_shown_with_each_change_marked() -> None:
    operations: list[Operation] = [
        SetCell(row="r1", column="c0", old="<Alien>", new="<b>"),
        RenameHeader(column="c1", old="Year", new="Released"),
        RemoveRow(row="r0", old=("Heat", "1995")),
    ]

    shown = Edit(TABLE, operations)._repr_html_()

    assert "<td><del>&lt;Alien&gt;</del> <ins>&lt;b&gt;</ins></td><td>1979</td>" in shown
    assert "<th>Film</th><th><del>Year</del> <ins>Released</ins></th>" in shown
    assert shown.count("<li>") == 3
    assert "<b>" not in shown


def test_a_transposed_table_is_shown_without_marks() -> None:
    shown = Edit(TABLE, [Transpose()])._repr_html_()

    assert "<ins>" not in shown
    assert "Rows and columns exchanged" in shown


def test_a_perturbation_is_shown_as_an_edit() -> None:
    example = next(READERS["wtq"](ROOT / "fixtures/wtq_related/excerpt.tsv"))
    (instance, *_) = instances(example, ["mask_cell"])
    if instance.is_made:
        assert "<del>" in instance.perturbed._repr_html_()


def test_agreement_is_shown_with_its_interval_or_the_reason() -> None:
    shown = agreement(LABELS, "fleiss_kappa")._repr_html_()
    undefined = agreement([["a", "a"]], "fleiss_kappa")._repr_html_()

    assert "<th>fleiss_kappa</th><td>" in shown
    assert " to " in shown
    assert "<td>undefined</td>" in undefined
    assert "Only one category was used" in undefined


def test_pandas_is_imported_only_when_it_is_used() -> None:
    code = (
        "import sys, tableqa; from tableqa import Release, fleiss_kappa, Edit, emd; assert emd([1], [0]).value == -1; "
        f"Release.load({str(RELEASE)!r}); tableqa.Table(['a'], [['b']])._repr_html_(); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("False\n", "")
