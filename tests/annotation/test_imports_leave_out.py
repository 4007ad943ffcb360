"""Imports of labels and responses: repeated and wrong records have a way out, and problems name them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.background import uploads
from annotation.imports import label_import, mapping_file
from annotation.models import Annotation, Assignment, Batch, Job
from annotation.platform.refusals import ActionRefused
from tests.annotation import labels
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_transfer import (
    annotation,
    choice,
    label_studio,
    look,
    mapped,
    prodigy,
    task,
    write,
)
from tests.annotation.test_transfer_pages import _address as address
from tests.annotation.test_transfer_pages import imported, run_jobs, upload

HEADER = "example,annotator,label\n"
TWICE = HEADER + "nu-0,Xenia,extraction\nnu-0,Xenia,reasoning\nnu-1,Xenia,neither\n"
ONE_WRONG = HEADER + "nu-0,Xenia,extraction\nnu-1,Xenia,sometimes\nnowhere,Xenia,neither\n,Yuri,neither\n"


def stored() -> list[str]:
    return [
        row.response["data"]["label"]
        for row in Annotation.objects.order_by("assignment__item__pk", "pk")
        if row.response
    ]


def repeated(folder: Path, *times: str) -> Path:
    values = ("extraction", "reasoning")
    given = [
        annotation(1, choice("label", value), id=number, created_at=at)
        for number, (value, at) in enumerate(zip(values, times, strict=True), 21)
    ]
    return label_studio(folder, task(5, *given))


class TestResponsesOfAPersonToOneExample:
    @pytest.mark.parametrize(("duplicates", "value"), [("first", "extraction"), ("latest", "reasoning")])
    def test_one_label_is_imported_and_the_others_are_counted(
        self, world: World, duplicates: str, value: str
    ) -> None:
        batch = world.batch(overlap=1)

        done = labels.write(
            batch, TWICE, by=world.mara, now=NOON, choices=label_import.Choices(duplicates=duplicates)
        )

        assert (done.new, done.repeated, done.rejected) == (2, 1, 0)
        assert stored() == [value, "neither"]

    def test_the_first_stays_where_it_was_imported_before(self, world: World) -> None:
        batch = world.batch(overlap=2)
        labels.write(batch, HEADER + "nu-0,Xenia,neither\n", by=None, now=NOON)

        with pytest.raises(ActionRefused, match=r"already has another response .* choose the first"):
            labels.write(batch, HEADER + "nu-0,Xenia,reasoning\n", by=None, now=NOON)
        choices = label_import.Choices(duplicates="first")
        done = labels.write(batch, HEADER + "nu-0,Xenia,reasoning\n", by=None, now=NOON, choices=choices)

        assert (done.new, done.known, stored()) == (0, 1, ["neither"])

    @pytest.mark.parametrize(
        ("duplicates", "times", "value"),
        [
            ("first", ("2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"), "extraction"),
            ("latest", ("2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"), "reasoning"),
            ("first", ("2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z"), "reasoning"),
            ("latest", ("2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z"), "extraction"),
            ("first", ("0000-00-00 00:00:00", "2025-01-01T00:00:00Z"), "extraction"),
            ("latest", ("2025-01-01T00:00:00Z", "2025-13-45T00:00:00Z"), "reasoning"),
        ],
    )
    def test_one_response_of_another_tool_is_imported_by_time_else_by_order(
        self, world: World, tmp_path: Path, duplicates: str, times: tuple[str, str], value: str
    ) -> None:
        preview = write(world, repeated(tmp_path, *times), duplicates=duplicates, task_type="question_type")

        assert (preview.imported, stored()) == (1, [value])
        assert (1, "responses of people who have another one to the same example") in preview.losses
        assert Batch.objects.get(name=preview.mapping.batch).overlap == 1

    def test_without_a_choice_the_refusal_names_both_and_the_switch(
        self, world: World, tmp_path: Path
    ) -> None:
        path = repeated(tmp_path, "2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z")

        with pytest.raises(ActionRefused) as refused:
            write(world, path, task_type="question_type")

        assert "task 5, response 22: 1 already has a response to this example (task 5, response 21)" in (
            refused.value.detail
        )
        assert "choose the first or the latest (duplicates)." in refused.value.detail
        assert not Assignment.objects.exists()

    def test_two_names_of_one_person_are_one_person(self, world: World, tmp_path: Path) -> None:
        path = label_studio(
            tmp_path,
            task(1, annotation("a", choice("label", "neither")), annotation("b", choice("label", "neither"))),
        )

        preview = write(world, path, people={"a": "Ann", "b": "Ann"}, duplicates="first")

        assert preview.imported == 1

    def test_the_page_has_the_switch(self, world: World) -> None:
        given = [annotation(1, choice("label", value), id=7) for value in ("extraction", "reasoning")]
        mara = importer(world.mara)
        page = mara.get(upload(mara, task(5, *given)))
        assert "choose the first or the latest" in page.content.decode()

        imported(page, duplicates="latest")

        assert stored() == ["reasoning"]

    @pytest.mark.parametrize("mapping", [{"duplicates": "second"}, {"good_only": "yes"}])
    def test_a_mapping_names_what_the_switches_can_be(self, mapping: dict[str, Any]) -> None:
        with pytest.raises(ActionRefused, match="duplicates must be one of refuse, first, latest"):
            mapping_file.parse(mapping)


class TestUnknown:
    def test_no_choice_is_no_answer_and_counted(self, world: World, tmp_path: Path) -> None:
        options = {"options": [{"id": "a", "text": "a"}, {"id": "b", "text": "b"}]}
        data = {"text": "when?", "table": [["Film", "Year"], ["Heat", "1995"]], **options}
        lines = [
            {"id": number, **data, "accept": accept, "answer": "accept", "_annotator_id": "ann"}
            for number, accept in enumerate((["a"], ["b"], []))
        ]

        preview = write(world, prodigy(tmp_path, *lines), "prodigy", parts={"question": "text"})

        assert preview.imported == 2
        counted = [what for number, what in preview.losses if number == 1]
        assert any("without a choice" in what or "without an option" in what for what in counted)
        assert {row.response["data"]["accept"] for row in Annotation.objects.all() if row.response} == {
            "a",
            "b",
        }

    @pytest.mark.parametrize(
        "at", ["0000-01-01T00:00:00Z", "0000-00-00 00:00:00", "2025-02-30", "10000-01-01T00:00:00Z", -5e12]
    )
    def test_an_impossible_time_is_unknown_and_counted(self, world: World, tmp_path: Path, at: Any) -> None:
        given = annotation(1, choice("label", "neither"), created_at=at, lead_time=-3)

        preview = write(world, label_studio(tmp_path, task(1, given)))

        assert (preview.imported, preview.summary.without_time) == (1, 1)
        assert (1, "durations that are negative or longer than a week") in preview.losses

    def test_the_page_counts_unknown_times_beside_others(self, world: World) -> None:
        given = [
            annotation(person, choice("label", "neither"), created_at=at)
            for person, at in ((1, "0000-00-00"), (2, "2025-01-01T00:00:00Z"))
        ]
        mara = importer(world.mara)

        page = mara.get(upload(mara, task(5, *given)))

        assert "1 response gets the time of the import" in page.content.decode()


class TestLabelsWithAProblem:
    def test_are_left_out_and_written_to_a_file_that_can_be_imported_again(
        self, world: World, tmp_path: Path
    ) -> None:
        batch, rest = world.batch(overlap=1), tmp_path / "rest.csv"

        with pytest.raises(ActionRefused) as refused:
            labels.write(batch, ONE_WRONG, by=None, now=NOON, rest=rest)
        assert (refused.value.more["good"], refused.value.more["rejected"]) == (1, 3)
        choices = label_import.Choices(good_only=True)
        done = labels.write(batch, ONE_WRONG, by=None, now=NOON, choices=choices, rest=rest)

        assert (done.new, done.rejected, stored()) == (1, 3, ["extraction"])
        with rest.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        assert sorted((row["example"], row["annotator"], row["label"], row["line"]) for row in rows) == [
            ("", "Yuri", "neither", "5"),
            ("nowhere", "Xenia", "neither", "4"),
            ("nu-1", "Xenia", "sometimes", "3"),
        ]
        assert all(row["problem"] for row in rows)
        corrected = rest.read_text("utf-8-sig").replace("sometimes", "reasoning")
        again = labels.write(batch, corrected, by=None, now=NOON, choices=choices)
        assert (again.new, again.rejected, stored()) == (1, 2, ["extraction", "reasoning"])

    def test_of_which_none_is_good_stop_the_import(self, world: World) -> None:
        choices = label_import.Choices(good_only=True)

        with pytest.raises(ActionRefused, match="No labels were imported"):
            labels.write(
                world.batch(), HEADER + "nowhere,Xenia,neither\n", by=None, now=NOON, choices=choices
            )

    def test_the_page_imports_the_others_and_offers_the_file(self, world: World) -> None:
        batch, mara = world.batch(overlap=1), importer(world.mara)
        file = SimpleUploadedFile("labels.csv", ONE_WRONG.encode())
        preview = mara.post(reverse("labels_elsewhere", args=[batch.public_id]), {"file": file})
        assert "Import the 1 good record" in preview.content.decode()

        started = mara.post(address(preview), {"good_only": "yes"})
        run_jobs()
        done = mara.get(started["Location"])

        assert stored() == ["extraction"]
        assert "3 records were left out because of problems" in done.content.decode()
        job = Job.objects.get(kind="import_labels")
        lines = b"".join(mara.get(reverse("import_rest", args=[job.public_id])).streaming_content)  # type: ignore[attr-defined]
        assert b"sometimes" in lines

    def test_a_program_previews_and_imports_with_the_same_choices(self, world: World) -> None:
        batch, mara = world.batch(overlap=1), importer(world.mara)
        file = SimpleUploadedFile("labels.csv", (ONE_WRONG + "nu-0,Xenia,reasoning\n").encode())
        kept = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
        url, body = reverse("api_import_labels", args=[batch.public_id]), {"upload": kept.public_id}

        for more in ({"look": True}, {}, {"good_only": True, "duplicates": "latest"}):
            assert mara.post(url, {**body, **more}, content_type="application/json").status_code == 202
            run_jobs()

        looked, refused, done = Job.objects.order_by("pk")
        assert looked.result["preview"]["rejected"] == 4
        assert refused.state == Job.State.FAILED
        assert (done.result["responses"], done.result["rejected"], stored()) == (1, 3, ["reasoning"])
        assert (done.result["repeated"], done.result["known"]) == (1, 0)
        answer = mara.post(url, {**body, "duplicates": "second"}, content_type="application/json")
        assert (answer.status_code, Job.objects.count()) == (422, 3)

    def test_the_page_of_a_refused_import_offers_the_good_ones(self, world: World) -> None:
        batch, mara = world.batch(overlap=1), importer(world.mara)
        file = SimpleUploadedFile("labels.csv", ONE_WRONG.encode())
        preview = mara.post(reverse("labels_elsewhere", args=[batch.public_id]), {"file": file})
        started = mara.post(address(preview), {})
        run_jobs()
        refused = mara.get(started["Location"]).content.decode()
        assert "Import the 1 good record" in refused
        job = Job.objects.get(kind="import_labels")

        mara.post(reverse("import_good_only", args=[job.public_id]))
        run_jobs()

        assert stored() == ["extraction"]

    def test_the_command_has_the_switches(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        batch, path, rest = world.batch(overlap=1), tmp_path / "labels.csv", tmp_path / "rest.csv"
        path.write_text(ONE_WRONG + "nu-0,Xenia,neither\n", "utf-8")
        arguments = ["import_labels", str(path), "--project", "films", "--batch", batch.name]
        with pytest.raises(CommandError):
            call_command(*arguments)
        assert "--good-only imports the 1 records without a problem" in capsys.readouterr().err

        call_command(*arguments, "--duplicates", "latest", "--good-only", "--rest", str(rest))

        printed = capsys.readouterr().out
        assert "Left out because their person has another one: 1." in printed
        assert f"Left out because of problems: 3. They are in {rest}." in printed
        assert stored() == ["neither"]


def some_wrong(folder: Path) -> Path:
    """Four tasks on one line: one response has no duration, one no option of ours, two are right, one task has no table."""
    broken = annotation(1, choice("label", "neither"), id=31, lead_time="long")
    tasks = [
        task(1, broken, annotation(2, choice("label", "extraction"), id=32)),
        task(2, annotation(1, choice("label", "sometimes"), id=33)),
        task(3, annotation(1, choice("label", "reasoning"), id=34)),
        task(4, annotation(1, choice("label", "reasoning"), id=35), table=[["a"], ["b", "c"]]),
    ]
    return label_studio(folder, *tasks)


class TestResponsesWithAProblem:
    MAPPING = {"task_type": "question_type", "source": "films", "batch": "elsewhere"}

    def test_each_names_task_and_response(self, world: World, tmp_path: Path) -> None:
        problems = [one.what for one in look(world, some_wrong(tmp_path), **self.MAPPING).problems]

        assert len(problems) == 3
        assert any("task 1, response 31" in what and "lead_time" in what for what in problems)
        assert any("task 2, response 33" in what and "Choose one of" in what for what in problems)

    def test_are_left_out_counted_and_written_to_a_file(self, world: World, tmp_path: Path) -> None:
        rest = tmp_path / "rest.jsonl"

        with pytest.raises(ActionRefused) as refused:
            mapped(world, some_wrong(tmp_path), "label_studio", self.with_rest(rest), **self.MAPPING)
        done = mapped(
            world, some_wrong(tmp_path), "label_studio", self.with_rest(rest), good_only=True, **self.MAPPING
        )

        assert (refused.value.more["good"], refused.value.more["rejected"]) == (2, 3)
        assert (done.imported, done.items) == (2, 2)
        assert (3, "responses and examples with a problem") in done.losses
        rows = [json.loads(line) for line in rest.read_text("utf-8").splitlines()]
        assert sorted(row["task"] for row in rows) == ["1", "2", "4"]
        assert all(row["problem"] and row["line"] == 1 for row in rows)

    def with_rest(self, rest: Path) -> Any:
        from annotation.imports import response_import

        return lambda **arguments: response_import.write(**arguments, rest=rest)

    def test_of_which_none_is_good_stop_the_import(self, world: World, tmp_path: Path) -> None:
        path = label_studio(tmp_path, task(2, annotation(1, choice("label", "sometimes"), id=33)))

        with pytest.raises(ActionRefused, match="task 2, response 33"):
            write(world, path, good_only=True, **self.MAPPING)

    def test_that_cannot_be_read_at_all_are_listed_where_they_are_all(
        self, world: World, tmp_path: Path
    ) -> None:
        path = label_studio(tmp_path, task(1, annotation(1, choice("label", "neither"), lead_time="long")))

        with pytest.raises(ActionRefused, match="task 1, response 7"):
            write(world, path)

    def test_the_pages_import_the_others_and_offer_the_file(self, world: World) -> None:
        mara = importer(world.mara)
        wrong = annotation(1, choice("label", "neither"), id=31, lead_time="long")
        good = annotation(2, choice("label", "extraction"), id=32)
        page = mara.get(upload(mara, task(1, wrong, good)))
        assert "task 1, response 31" in page.content.decode()
        refused = imported(page).content.decode()
        assert "Import the 1 good record" in refused
        job = Job.objects.get(kind="import_responses")

        mara.post(reverse("import_good_only", args=[job.public_id]))
        run_jobs()

        assert stored() == ["extraction"]
        done = Job.objects.filter(kind="import_responses").latest("pk")
        lines = b"".join(mara.get(reverse("import_rest", args=[done.public_id])).streaming_content)  # type: ignore[attr-defined]
        assert json.loads(lines)["id"] == 31

    def test_the_command_has_the_switches(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path, rest = some_wrong(tmp_path), tmp_path / "rest.jsonl"
        map_file = tmp_path / "map.yaml"
        map_file.write_text("task_type: question_type\n", "utf-8")
        arguments = [
            *("import_responses", str(path), "--project", "films", "--tool", "label_studio"),
            *("--map", str(map_file)),
        ]
        with pytest.raises(CommandError):
            call_command(*arguments)
        assert "--good-only imports the 2 records without a problem" in capsys.readouterr().err

        call_command(*arguments, "--good-only", "--rest", str(rest), "--duplicates", "first")

        printed = capsys.readouterr().out
        assert f"Left out because of problems: 3. They are in {rest}." in printed
        assert sorted(stored()) == ["extraction", "reasoning"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "cp1252"])
def test_labels_in_other_encodings_are_read(world: World, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes((HEADER + "nu-0,Jörg Müller,extraction\nnu-1,Jörg Müller,reasoning\n").encode(encoding))

    checked = label_import.preview_import(batch=world.batch(overlap=1), path=path)

    assert (dict(checked.annotators), checked.problems) == ({"Jörg Müller": 2}, [])


def test_labels_that_are_no_text_are_refused_in_plain_words(world: World, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(bytes(range(256)) * 4)

    with pytest.raises(ActionRefused) as refused:
        label_import.preview_import(batch=world.batch(overlap=1), path=path)

    assert not re.search(r"codec|decode|invalid start byte|0x", str(refused.value.detail))
    assert "labels.csv" in str(refused.value.detail)


def test_a_task_id_twice_makes_two_examples_and_speaks_of_no_slots(world: World, tmp_path: Path) -> None:
    twice = [task(1, annotation("ann", choice("label", value))) for value in ("extraction", "reasoning")]

    preview = write(world, label_studio(tmp_path, *twice), task_type="question_type")

    assert (preview.imported, preview.items, preview.problems) == (2, 2, [])
