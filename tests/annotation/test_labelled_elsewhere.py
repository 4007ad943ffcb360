"""Labels made elsewhere: looked at line by line, written whole or not at all, counted and marked like what they are."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.background import jobs, staged_pages
from annotation.imports import label_import
from annotation.imports.label_import import checks, staging
from annotation.imports.label_import.checks import CheckResult
from annotation.management import simulation
from annotation.management.doctor import SelfHealing, findings
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Exclusion,
    Item,
    Job,
    LabelImport,
    Membership,
    Person,
    StagedLabel,
    Upload,
)
from annotation.platform.refusals import ActionRefused
from annotation.queue import availability
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches
from tests.annotation import labels
from tests.annotation.cast import NOON, World

LABELS = """example,annotator,label
nu-0,Xenia,extraction
nu-0,Yuri,extraction
nu-1,Xenia,reasoning
nu-1,Yuri,extraction
"""


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def write(batch: Batch, lines: str, by: Person | None = None) -> CheckResult:
    return labels.write(batch=batch, text=lines, by=by, now=NOON)


def counted(batch: Batch) -> dict[str, int]:
    return {
        "assignments": Assignment.objects.filter(batch=batch).count(),
        "annotations": Annotation.objects.filter(assignment__batch=batch).count(),
        "people": Person.objects.count(),
        "events": Event.objects.count(),
    }


class TestWriting:
    def test_every_line_is_a_submitted_response_on_a_planned_place(self, world: World) -> None:
        batch = world.batch(overlap=2)

        done = write(batch, LABELS, world.mara)

        assert (done.new, done.items, done.annotators) == (4, 2, {"Xenia": 2, "Yuri": 2})
        rows = Assignment.objects.filter(batch=batch).select_related("annotation", "slot", "person")
        assert {(row.state, row.slot.added, row.slot.is_taken) for row in rows} == {
            ("submitted", False, True)
        }
        assert {(row.annotation.response or {})["data"]["label"] for row in rows if row.annotation} == {
            "extraction",
            "reasoning",
        }
        assert all(row.person.is_external and not row.person.is_active for row in rows)
        assert Membership.objects.filter(person__is_external=True).count() == 2
        assert list(findings()) == []

    def test_the_same_file_again_adds_nothing(self, world: World) -> None:
        batch = world.batch(overlap=2)
        write(batch, LABELS)
        before = counted(batch)

        again = write(batch, LABELS)

        assert (again.new, again.known) == (0, 4)
        assert counted(batch) == before

    def test_a_person_is_the_same_one_in_every_file_of_a_project(self, world: World) -> None:
        first, second = world.batch(overlap=2), world.batch(overlap=2)
        write(first, LABELS)
        write(second, LABELS)

        assert Person.objects.filter(is_external=True).count() == 2

    def test_agreement_counts_them_and_complete_items_are_decided(self, world: World) -> None:
        batch = world.batch(overlap=2, size=2)
        ids = [item.example.external_id for item in batch.items.select_related("example")]
        write(
            batch,
            "example,annotator,label\n"
            + "".join(f"{id},{who},extraction\n" for id in ids for who in ("Xenia", "Yuri")),
        )

        batches.close_batch(batch=batch, by=world.mara, now=NOON)
        assert automatic_decisions.resolve_batch(batch=batch, now=NOON) == 2

        assert {decision.kind for decision in Decision.objects.all()} == {"accepted"}
        release = creation.make_release(
            project=world.project, name="v1", format="askew", by=world.rea, now=NOON
        )
        folder = creation.folder(release)
        call_command("verify_release", str(folder))
        rows = [json.loads(line) for line in (folder / "annotations.jsonl").read_text().splitlines()]
        assert [row["external"] for row in rows] == [True] * 4
        for path in folder.rglob("*"):
            if path.is_file():
                assert b"Xenia" not in path.read_bytes()
        measured = [row for row in release.manifest["agreement"] if row["batch"] == batch.public_id]
        assert measured

    def test_colleagues_go_on_with_the_places_that_are_left(self, world: World) -> None:
        batch = world.batch(overlap=3, size=1)
        example = batch.items.get().example.external_id
        write(batch, f"example,annotator,label\n{example},Xenia,extraction\n{example},Yuri,reasoning\n")

        world.label(batch, "ada", "extraction")

        assert world.take(batch, "bo") is None
        item = batch.items.get()
        assert (item.submitted_count, item.due_at is not None) == (3, True)
        assert list(findings()) == []

    def test_nobody_signs_in_as_one_of_them_and_the_queue_gives_them_nothing(self, world: World) -> None:
        batch = world.batch(overlap=3)
        write(batch, LABELS)
        person = Person.objects.filter(is_external=True).first()
        assert person is not None

        assert not person.has_usable_password()
        client = Client()
        client.force_login(person)
        assert client.get("/account/").status_code == 302
        assert availability.left_for(world.ada, [batch.pk])[batch.pk] == 4

    def test_a_column_says_who_is_simulated(self, world: World) -> None:
        batch = world.batch(overlap=2)
        lines = "example,annotator,simulated,label\nnu-0,Xenia,FALSE,extraction\nnu-0,Yuri,true,extraction\n"

        write(batch, lines)

        people = Person.objects.filter(is_external=True)
        assert dict(people.values_list("name", "is_simulated")) == {"Xenia": False, "Yuri": True}
        assert simulation.people_of(world.project, 1, NOON)[0].name == "Simulated 1"

    def test_lists_and_whole_responses_may_be_json(self, world: World) -> None:
        batch = world.batch(overlap=2)
        whole = 'example,annotator,response\nnu-0,Xenia,"{""label"": ""extraction""}"\n'

        write(batch, whole)

        assert (Annotation.objects.get().response or {})["data"]["label"] == "extraction"


class TestWhoseItIsNot:
    def test_nobody_checks_what_they_made_elsewhere(self, world: World) -> None:
        edits = world.batch("value_change", variant="answer_changes", overlap=1)
        example = next(
            item.example
            for item in edits.items.select_related("example")
            if item.example.external_id == "nu-0"
        )
        row = next(number for number, row in enumerate(example.table().rows) if row[0] in example.question)
        old = example.table().rows[row][1]
        change = {"op": "set_cell", "row": f"r{row}", "column": "c1", "old": old, "new": "1901"}
        out = io.StringIO()
        csv.writer(out).writerows(
            [
                ("example", "annotator", "response"),
                ("nu-0", "Pia", json.dumps({"operations": [change], "answers": ["1901"]})),
            ]
        )
        write(edits, out.getvalue(), world.mara)
        automatic_decisions.resolve_due(now=NOON + timedelta(days=1))
        checks = world.batch("answer_check", feeds_from=edits, overlap=2, sources=[])
        made = checks.items.select_related("example").get().example.external_id

        found = labels.look(
            batch=checks,
            text=f'example,annotator,answers\n{made},Pia,"[""1901""]"\n{made},Quinn,"[""1901""]"\n',
        )

        assert [(one.line, one.what) for one in found.problems] == [
            (2, "Pia created this item and cannot review their own work.")
        ]
        assert found.annotators == {"Quinn": 1}

    def test_nor_says_anything_blindly_who_has_read_what_others_said(self, world: World) -> None:
        batch = world.batch(overlap=3)
        write(batch, LABELS)
        item = batch.items.get(example__external_id="nu-0")
        Exclusion.objects.create(item=item, person=world.ivo, read_at=NOON)

        found = labels.look(batch=batch, text=f"example,annotator,label\nnu-0,{world.ivo.name},extraction\n")

        assert ["has read other responses" in one.what for one in found.problems] == [True]

    def test_a_name_is_the_same_in_either_form_of_its_letters(self, world: World) -> None:
        batch, head = world.batch(overlap=3), "example,annotator,label\n"
        one, other = "Jos\u00e9", "Jose\u0301"

        found = labels.look(batch=batch, text=f"{head}nu-0,{one},extraction\nnu-0,{other},extraction\n")
        assert "in line 2." in found.problems[0].what

        Membership.objects.create(
            project=world.project,
            person=Person.objects.create_person(other, is_external=True, is_active=False),
        )
        write(batch, f"{head}nu-0,{one},extraction\n")
        again = write(batch, f"{head}nu-0,{other},extraction\n")
        assert (again.new, again.known) == (0, 1)
        assert Person.objects.filter(is_external=True).count() == 1

    def test_names_that_differ_in_capital_letters_only_are_told(self, world: World) -> None:
        batch = world.batch(overlap=3)
        text = "example,annotator,label\nnu-0,Xenia,extraction\nnu-0,XENIA,extraction\n"

        found = labels.look(batch=batch, text=text)
        assert [
            (one.line, "'XENIA' and 'Xenia' differ only in capital" in one.what) for one in found.problems
        ] == [(3, True)]

        write(batch, LABELS)
        later = labels.look(batch=batch, text=text.replace("nu-0,Xenia,extraction\n", ""))
        assert [one.line for one in later.problems] == [2]


WRONG = [
    ("example,annotator,label\nnu-9,Xenia,extraction\n", 2, "no item for example 'nu-9'"),
    ("example,annotator,label\n,Xenia,extraction\n", 2, "example is empty"),
    ("example,annotator,label\nnu-0,,extraction\n", 2, "annotator is empty"),
    ("example,annotator,label\nnu-0,Xenia,\n", 2, "the response is missing"),
    ("example,annotator,label\nnu-0,Xenia,perhaps\n", 2, "label"),
    (
        "example,annotator,label\nnu-0,Xenia,extraction\nnu-0,Xenia,extraction\n",
        3,
        "already has a response to this example in line 2",
    ),
    (LABELS.replace("nu-1,Yuri", "nu-0,Zed"), 5, "no free slot"),
    ("example,annotator,response\nnu-0,Xenia,{\n", 2, "this is not JSON"),
    ("example,annotator,response\nnu-0,Xenia,[1]\n", 2, "there is a list, not an object"),
    *(
        (f"example,annotator,{column}\nnu-0,Xenia,{'[' * deep}{']' * deep}\n", 2, said)
        for deep in (150, 900, 50_000)
        for column, said in (("response", "JSON"), ("label", "label"))
    ),
    ("example,annotator,source,label\nnu-0,Xenia,elsewhere,extraction\n", 2, "source 'elsewhere'"),
    (f"example,annotator,label\nnu-0,{'x' * 121},extraction\n", 2, "120 characters"),
    ("example,annotator,simulated,label\nnu-0,Xenia,1,extraction\n", 2, "must be true or false, not '1'"),
    (
        "example,annotator,simulated,label\nnu-0,Xenia,true,extraction\nnu-1,Xenia,,extraction\n",
        3,
        "'Xenia' is a person in this line, and simulated in other lines",
    ),
]


class TestWhatIsWrong:
    @pytest.mark.parametrize(("csv", "line", "said"), WRONG)
    def test_is_told_by_line_and_nothing_is_written(
        self, world: World, csv: str, line: int, said: str
    ) -> None:
        batch = world.batch(overlap=2)
        before = counted(batch)

        found = labels.look(batch=batch, text=csv)
        (trouble,) = found.problems
        assert trouble.line == line
        assert said in trouble.what
        with pytest.raises(ActionRefused, match=f"line {line}: .*No labels were imported"):
            write(batch, csv)
        assert counted(batch) == before

    @pytest.mark.parametrize(
        ("csv", "said"),
        [
            ("", "empty"),
            ("id,who,label\n", "the first line lacks example"),
            ("example,annotator\nnu-0,Xenia\n", "no response column"),
            ("example,annotator,label,label\n", "two columns have the name 'label'"),
            ('example,annotator,label\nnu-0,"Xenia\n', "line 2: the file ends within a quoted field"),
        ],
    )
    def test_with_the_file_as_a_whole_is_said_too(self, world: World, csv: str, said: str) -> None:
        with pytest.raises(ActionRefused, match=re.escape(said)):
            labels.look(batch=world.batch(), text=csv)

    def test_another_label_of_the_same_person_is_refused(self, world: World) -> None:
        batch = world.batch(overlap=3)
        write(batch, LABELS)

        (trouble,) = labels.look(batch=batch, text="example,annotator,label\nnu-0,Xenia,neither\n").problems

        assert "another response" in trouble.what

    def test_what_is_decided_gold_or_not_open_takes_none(self, world: World) -> None:
        batch = world.batch(overlap=3)
        Item.objects.filter(batch=batch, example__external_id="nu-0").update(is_gold=True)
        assert "gold" in labels.look(batch=batch, text=LABELS).problems[0].what
        planned = world.batch(open=False)
        with pytest.raises(ActionRefused, match="open or paused"):
            labels.look(batch=planned, text=LABELS)
        Batch.objects.filter(pk=batch.pk).update(purpose="qualification")
        batch.refresh_from_db()
        with pytest.raises(ActionRefused, match="qualification"):
            labels.look(batch=batch, text=LABELS)

    def test_a_place_that_is_taken_between_looking_and_writing_stops_everything(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        batch, stage = world.batch(overlap=2), staging._stage_page
        before: list[dict[str, int]] = []

        def meanwhile(*params: Any) -> None:
            for who in ("ada", "bo"):
                while world.take(batch, who, holding=held(batch, who)):
                    pass
            before.append(counted(batch))
            stage(*params)

        monkeypatch.setattr(staging, "_stage_page", meanwhile)
        with pytest.raises(ActionRefused, match="took a slot meanwhile"):
            write(batch, LABELS)

        assert [counted(batch)] == before
        assert not LabelImport.objects.exists()
        assert list(findings()) == []


class ProcessKilled(BaseException):
    """What a process meets that is killed: nothing of it runs any more."""


class TestPages:
    """Pages are committed one by one, become visible together, and an import that was killed goes on."""

    @pytest.fixture
    def killed(self, world: World, monkeypatch: pytest.MonkeyPatch) -> Batch:
        """A batch into which an import was killed after the first of its four pages."""
        batch = world.batch(overlap=2)
        monkeypatch.setattr(staged_pages, "ROWS", 1)
        with monkeypatch.context() as patched:
            stage = staging._stage_page

            def one_page(staged: LabelImport, start: int, *more: Any) -> None:
                if start == 1:
                    raise ProcessKilled
                stage(staged, start, *more)

            patched.setattr(staging, "_stage_page", one_page)
            with pytest.raises(ProcessKilled):
                write(batch, LABELS)
        return batch

    def test_nothing_is_visible_before_the_last_page(self, killed: Batch) -> None:
        assert counted(killed)["assignments"] == counted(killed)["annotations"] == 0
        assert not Person.objects.filter(is_external=True).exists()
        assert not Event.objects.filter(after="labels imported").exists()
        assert not killed.slots.filter(is_taken=True).exists()
        assert not killed.items.filter(submitted_count__gt=0).exists()
        (finding,) = findings()
        assert isinstance(finding, SelfHealing)
        assert "did not finish" in finding
        assert (LabelImport.objects.get().staged, StagedLabel.objects.count()) == (1, 1)

    def test_the_same_file_goes_on_and_nothing_is_there_twice(
        self, killed: Batch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (first,) = StagedLabel.objects.values_list("pk", "assignment_public_id")
        staged: list[list[tuple[int, str]]] = []
        publish = staging.publish

        def publish_and_note(*given: Any) -> None:
            staged.append(
                list(StagedLabel.objects.order_by("number").values_list("pk", "assignment_public_id"))
            )
            publish(*given)

        monkeypatch.setattr(staging, "publish", publish_and_note)
        done = write(killed, LABELS)

        assert done.new == 4
        assert (len(staged[0]), staged[0][0]) == (4, first)
        assert counted(killed)["assignments"] == counted(killed)["annotations"] == 4
        assert not LabelImport.objects.exists()
        assert not StagedLabel.objects.exists()
        assert list(findings()) == []
        assert write(killed, LABELS).known == 4

    def test_killed_while_they_become_visible_nothing_is_and_the_same_file_goes_on(
        self, killed: Batch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = counted(killed)
        with monkeypatch.context() as patched:

            def count(*given: Any) -> None:
                assert Annotation.objects.count() == 4
                raise ProcessKilled

            patched.setattr(staging, "_count", count)
            with pytest.raises(ProcessKilled):
                write(killed, LABELS)
        assert counted(killed) == before
        write(killed, LABELS)
        assert counted(killed)["annotations"] == 4
        assert list(findings()) == []

    def test_pages_of_another_size_go_on_within_a_page(
        self, killed: Batch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(staged_pages, "ROWS", 3)
        write(killed, LABELS)
        assert counted(killed)["annotations"] == 4
        assert list(findings()) == []

    def test_progress_grows_from_checking_to_the_last_page(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(staged_pages, "ROWS", 1)
        monkeypatch.setattr(checks, "ROWS", 1)
        told: list[tuple[int, int]] = []

        batch = world.batch(overlap=2)
        labels.write(batch, LABELS, by=None, now=NOON, progress=lambda *numbers: told.append(numbers))

        assert told == [(0, 0), *((done, 4) for done in (0, 1, 1, 2, 2, 2, 3, 3, 4))]

    def test_a_cancelled_import_leaves_no_page(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        batch = world.batch(overlap=2)
        monkeypatch.setattr(staged_pages, "ROWS", 1)
        staged: list[int] = []

        def cancel(done: int, total: int) -> None:
            staged.append(StagedLabel.objects.count())
            if staged[-1] == 2:
                raise jobs.JobCancelled

        with pytest.raises(jobs.JobCancelled):
            labels.write(batch, LABELS, by=None, now=NOON, progress=cancel)

        assert staged[-2:] == [1, 2]
        assert not LabelImport.objects.exists()
        assert counted(batch)["annotations"] == 0
        assert list(findings()) == []

    def test_a_release_in_between_holds_none_and_one_afterwards_all(
        self, world: World, killed: Batch
    ) -> None:
        world.label(killed, "ada", "extraction")
        assert self.external(world, "between") == 0
        write(killed, LABELS.replace("nu-0,Yuri,extraction\n", ""))
        assert self.external(world, "afterwards") == 3

    def test_the_last_transaction_has_as_many_statements_for_any_number_of_labels(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        numbers: list[int] = []
        publish = staging.publish

        def publish_and_count(*given: Any) -> None:
            with CaptureQueriesContext(connection) as statements:
                publish(*given)
            numbers.append(len(statements))

        monkeypatch.setattr(staging, "publish", publish_and_count)
        write(world.batch(overlap=2), LABELS)  # the people are in the project afterwards
        write(
            world.batch(overlap=2), "example,annotator,label\nnu-0,Xenia,extraction\nnu-0,Yuri,extraction\n"
        )
        write(world.batch(overlap=2), LABELS + "nu-2,Yuri,extraction\nnu-3,Xenia,extraction\n")
        assert numbers[1] == numbers[2]
        assert list(findings()) == []

    def test_another_file_takes_the_place_of_one_that_was_killed(self, killed: Batch) -> None:
        write(killed, "example,annotator,label\nnu-3,Xenia,extraction\n")
        assert counted(killed)["annotations"] == 1
        assert not LabelImport.objects.exists()
        assert Person.objects.filter(is_external=True).count() == 1

    def test_of_two_imports_of_one_batch_at_the_same_time_one_is_told(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        batch, stage = world.batch(overlap=2), staging.stage

        def meanwhile(*params: Any) -> None:
            monkeypatch.setattr(staging, "stage", stage)
            write(batch, "example,annotator,label\nnu-3,Xenia,extraction\n")
            stage(*params)

        monkeypatch.setattr(staging, "stage", meanwhile)
        with pytest.raises(ActionRefused, match="Import the file again"):
            write(batch, LABELS)
        assert counted(batch)["annotations"] == 1
        assert write(batch, LABELS).new == 4

    def external(self, world: World, name: str) -> int:
        release = creation.make_release(
            project=world.project, name=name, format="askew", by=world.rea, now=NOON
        )
        path = creation.folder(release) / "annotations.jsonl"
        return sum(bool(json.loads(line).get("external")) for line in path.read_text().splitlines())


def held(batch: Batch, who: str) -> list[str]:
    return list(
        Assignment.objects.filter(batch=batch, person__email=f"{who}@example.org").values_list(
            "public_id", flat=True
        )
    )


EXCEL = b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml" + bytes([0xEE, 0x8B])
"""As a workbook begins."""


class TestThePage:
    def post(self, world: World, batch: Batch, **sent: Any) -> Any:
        """Send a file, and see the preview once a worker has made it."""
        client = Client()
        client.force_login(world.mara)
        answer = client.post(reverse("labels_elsewhere", args=[batch.public_id]), sent)
        if answer.status_code != 302:
            return answer
        waiting = client.get(answer["Location"])
        assert "Reading the file" in waiting.content.decode()
        for job in Job.objects.filter(state=Job.State.QUEUED):
            jobs.run(job.pk)
        return client.get(answer["Location"])

    def file(self, csv: str) -> SimpleUploadedFile:
        return SimpleUploadedFile("labels.csv", csv.encode())

    def test_looking_writes_nothing_and_the_button_imports_what_was_seen(self, world: World) -> None:
        batch = world.batch(overlap=2)

        seen = self.post(world, batch, file=self.file(LABELS))
        assert not Annotation.objects.exists()
        for words in ("Xenia 2", "Yuri 2", "Start import"):
            assert words in text(seen)
        answer = seen.client.post(seen.request["PATH_INFO"] + "?" + seen.request["QUERY_STRING"])
        job = Job.objects.get(kind="import_labels")
        assert not Annotation.objects.exists()
        jobs.run(job.pk)

        assert "4 responses were imported. Annotators: 2. Items: 2." in text(
            seen.client.get(answer["Location"])
        )
        assert Annotation.objects.count() == 4
        upload = Upload.objects.get(pk=job.ids["upload"])
        assert not upload.file.storage.exists(str(upload.file.name))

    def test_wrong_lines_are_listed(self, world: World) -> None:
        page = text(self.post(world, world.batch(overlap=2), file=self.file(LABELS + "nu-9,Xenia,neither\n")))

        assert "no item for example" in page
        assert "labels.csv 6" in page
        assert "Start import" not in page

    def test_a_file_that_is_no_text_is_said_so(self, world: World) -> None:
        sent = SimpleUploadedFile("labels.csv", b"\x89PNG\r\n\x1a\n\x00\xff")

        assert "labels.csv, line 1: this is not a text file" in text(
            self.post(world, world.batch(), file=sent)
        )
        assert "This field is required" in text(self.post(world, world.batch()))

    def test_an_excel_file_is_named(self, world: World) -> None:
        sent = SimpleUploadedFile("labels.xlsx", EXCEL)

        assert "labels.xlsx: this is an Excel file. Save it as CSV" in text(
            self.post(world, world.batch(), file=sent)
        )

    def test_a_file_that_takes_too_long_is_refused(self, world: World, settings: Any) -> None:
        settings.PREVIEW_SECONDS = 0

        page = text(self.post(world, world.batch(), file=self.file(LABELS)))

        assert "Reading labels.csv takes more than 0 seconds. Split the file" in page

    def test_a_preview_checks_the_first_labels_of_many(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(label_import, "MOST_IN_PREVIEW", 3)

        page = text(self.post(world, world.batch(overlap=2), file=self.file(LABELS)))

        assert "The preview checks the first lines of this large file." in page
        assert "Xenia 2" in page
        assert "Yuri 1" in page
        assert "Start import" in page

    def test_a_batch_that_takes_no_labels_is_said_before_anything_is_read(self, world: World) -> None:
        page = self.post(world, world.batch(open=False), file=self.file(LABELS))

        assert "open or paused" in text(page)
        assert not Job.objects.exists()


class TestTheCommand:
    def test_names_an_excel_file(self, world: World, tmp_path: Any) -> None:
        path = tmp_path / "labels.csv"
        path.write_bytes(EXCEL)

        with pytest.raises(CommandError, match=r"labels\.csv: this is an Excel file\. Save it as CSV"):
            call_command("import_labels", str(path), project="films", batch=world.batch().name)

    def test_looks_and_writes(self, world: World, tmp_path: Any) -> None:
        batch = world.batch(overlap=2)
        path = tmp_path / "labels.csv"
        path.write_text(LABELS.replace("label\n", "Etikett\n").replace("example,", "id,"), encoding="utf-8")
        given = {"project": "films", "batch": batch.name, "example": "id", "field": ["Etikett=label"]}
        out = io.StringIO()

        call_command("import_labels", str(path), look=True, stdout=out, **given)
        assert not Annotation.objects.exists()
        call_command("import_labels", str(path), stdout=out, **given)

        assert "Responses: 4. Annotators: 2. Items: 2. Already imported: 0. Dry run" in out.getvalue()
        assert "Items: 2. Already imported: 0. The labels were imported." in out.getvalue()

    def test_says_every_line_that_is_wrong(self, world: World, tmp_path: Any) -> None:
        path = tmp_path / "labels.csv"
        path.write_text("example,annotator,label\nnu-0,Xenia,x\nnu-9,Xenia,neither\n", encoding="utf-8")
        out = io.StringIO()

        with pytest.raises(CommandError, match="Lines with errors: 2"):
            call_command(
                "import_labels",
                str(path),
                project="films",
                batch=world.batch().name,
                look=True,
                stdout=out,
            )

        assert "line 2:" in out.getvalue()
        assert "line 3:" in out.getvalue()


class TestFilesThatAreNotQuiteRight:
    def test_a_cell_too_many_is_told_and_nothing_of_the_line_is_written(self, world: World) -> None:
        batch = world.batch(overlap=2)

        found = labels.look(batch=batch, text=LABELS + "nu-2,Xenia,reasoning,extraction\n")

        (trouble,) = found.problems
        assert trouble.line == 6
        assert trouble.what.startswith("the row has 4 fields, the first line names 3")
        assert found.new == 4

    def test_a_line_that_is_short_has_empty_cells(self, world: World) -> None:
        found = labels.look(batch=world.batch(overlap=2), text=LABELS + "nu-2,Xenia\n")

        assert [one.what for one in found.problems] == ["the response is missing"]

    @pytest.mark.parametrize("more", ["", "\n", ",,\n\n"])
    def test_a_first_line_alone_is_no_label(self, world: World, more: str) -> None:
        with pytest.raises(ActionRefused, match="a header line but no labels"):
            labels.look(batch=world.batch(), text="example,annotator,label\n" + more)

    @pytest.mark.parametrize(("sign", "name"), [(";", "semicolon"), ("\t", "tab"), ("|", "pipe")])
    def test_another_sign_between_the_cells_is_read_and_named(
        self, world: World, sign: str, name: str
    ) -> None:
        found = labels.look(batch=world.batch(overlap=2), text=LABELS.replace(",", sign))

        assert (found.new, found.problems) == (4, [])
        assert f"was read as {name}-separated" in found.read_as

    @pytest.mark.parametrize("name", [" Example", "exmaple", "EXAMPLE"])
    def test_a_column_of_nearly_the_right_name_is_named(self, world: World, name: str) -> None:
        with pytest.raises(ActionRefused) as raised:
            labels.look(batch=world.batch(), text=LABELS.replace("example", name, 1))

        assert f"Rename the column {name.strip()!r} to 'example'." in raised.value.detail


class TestFilesThatAreReadAPageAtATime:
    @pytest.fixture(autouse=True)
    def _small_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(checks, "ROWS", 1)
        monkeypatch.setattr(staged_pages, "ROWS", 1)

    def test_room_that_an_earlier_page_takes_is_gone(self, world: World) -> None:
        found = labels.look(batch=world.batch(overlap=1), text=LABELS)

        assert [one.line for one in found.problems] == [3, 5]
        assert all("no free slot" in one.what for one in found.problems)
        assert (found.new, found.items) == (2, 2)

    def test_the_same_person_twice_is_told_with_the_earlier_line(self, world: World) -> None:
        found = labels.look(batch=world.batch(overlap=3), text=LABELS + "nu-0,Xenia,reasoning\n")

        (trouble,) = found.problems
        assert "in line 2. To import one of them, choose the first or the latest" in trouble.what

    def test_all_of_it_is_written_and_due_where_it_is_complete(self, world: World) -> None:
        batch = world.batch(overlap=2)
        write(batch, LABELS + "nu-2,Yuri,neither\n")

        items = Item.objects.filter(batch=batch, submitted_count__gt=0).order_by("example__external_id")
        assert [(item.submitted_count, item.due_at is not None) for item in items] == [
            (2, True),
            (2, True),
            (1, False),
        ]
        assert write(batch, LABELS).known == 4
