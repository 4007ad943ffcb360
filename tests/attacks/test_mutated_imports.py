"""Mutated files of every import, through the database: imported with the values of their files, or refused.

Examples of all readers, labels, gold answers, responses of other tools, releases, study files and definitions: no traceback,
and no value that the file does not have. Files of columns are compared with what pyarrow reads, and what PostgreSQL stored
with what SQLite did. `ASKEW_FUZZ_SEED` draws others.
"""

from __future__ import annotations

import functools
import io
import json
import os
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

import tableqa
from annotation.background import uploads
from annotation.imports import example_import, mapping_file, response_import
from annotation.management.commands._escaping import EscapingOutput
from annotation.models import Annotation, Example, Gold, Person, Project
from annotation.platform import public_ids
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold_files
from annotation.releases import creation, restoration
from annotation.study_file import apply, parser
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import projects, task_types
from tableqa.readers import READERS, checked_outcomes
from tableqa.readers.gold_answers import read_gold
from tableqa.releases.verification import describe
from tasks.contract import InvalidResponse
from tests.annotation import labels
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_defining import DEFINITION, FILE
from tests.annotation.test_malformed_files import FORMS, laid_out, reader_of
from tests.annotation.test_transfer import annotation, choice, task
from tests.attacks import stored_values
from tests.attacks.changed import changed, mutated, with_other_values
from tests.attacks.contents import Contents, Row, foreign_values, records_of_columns, texts_in
from tests.attacks.hostile_files import GOOD
from tests.attacks.structured import mutated_file, with_other_cells
from tests.attacks.test_mutated_files import as_dataset, as_parquet
from tests.tableqa.test_responses_by_schema import ENTERED
from tests.undone import undone

pytestmark = pytest.mark.both

SEED = int(os.environ.get("ASKEW_FUZZ_SEED", "20261129"))
EXPORTS = Path(__file__).parent.parent / "exports"
REFUSALS = (ActionRefused, StudyError, InvalidResponse)


# -- imports ----------------------------------------------------------------------------------------


@dataclass
class Imports:
    """A world, and the ways in which a mutated file gets into it."""

    world: World
    folder: Path
    rng: random.Random
    counted: Counter[str] = field(default_factory=Counter)
    stored: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def examples(self, name: str, main: Path) -> None:
        rest = self.folder.parent / f"rest.{self.rng.choice(['csv', 'jsonl'])}"
        done = example_import.import_examples(
            project=self.world.project, reader=name, path=main, name="m", good_only=True, rest=rest, now=NOON
        )
        contents = Contents.of(self.folder)
        columns = [
            Row(record)
            for path in (*self.folder.glob("*.parquet"), *self.folder.glob("*.arrow"))
            for record in records_of_columns(path.read_bytes())
        ]
        read = {
            one.id: one
            for one in checked_outcomes(READERS[name], main, None, None)
            if isinstance(one, tableqa.Example)
        }
        for row in Example.objects.filter(source=done.source).select_related("stored_table"):
            example, number = row.example(), row.position + 1
            json.dumps(example.to_dict(), ensure_ascii=False, allow_nan=False).encode()
            assert as_json(example) == as_json(read[example.id]), "the database gives back another value"
            foreign = foreign_values(contents.has_value, example, number)
            assert not foreign, f"values that the file does not have: {foreign[:3]!r}"
            if columns:
                of_records = [foreign_values(record.has, example, number) for record in columns]
                assert [] in of_records, f"no record has all of these: {min(of_records, key=len)!r}"

    def page(self, main: Path) -> None:
        upload = uploads.keep(
            project=self.world.project,
            file=SimpleUploadedFile(main.name, main.read_bytes()),
            by=self.world.mara,
            now=timezone.now(),
        )
        client = importer(self.world.mara)
        assert client.get(f"/projects/films/sources/import/{upload.public_id}/").status_code == 200

    def labels(self, path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "surrogateescape" if self.rng.random() < 0.1 else "replace")
        batch = self.world.project.batches.get(name="labelled")
        preview = labels.look(batch=batch, text=text)
        for problem in preview.problems:
            problem.what.encode()
        labels.write(batch=batch, text=text, by=None, now=NOON)
        contents = Contents({path.name: path.read_bytes()})
        for row in Annotation.objects.filter(assignment__batch=batch).select_related("assignment__person"):
            assert (row.made_at, row.active_seconds) == (NOON, 0)
            assert contents.has(row.assignment.person.name)
            assert (row.response or {})["data"]["label"] in text

    def gold(self, path: Path) -> None:
        with uploads.local_input(path, read_gold) as file:
            batch = self.world.project.batches.get(name="gold")
            gold_files.write(batch=batch, file=file, by=None, now=NOON)
        contents = Contents({path.name: path.read_bytes()})
        for row in Gold.objects.filter(item__batch=batch):
            foreign = [text for text in (row.expected["data"]["label"], row.why) if not contents.has(text)]
            assert not foreign, f"values that the file does not have: {foreign!r}"

    def responses(self, tool: str, path: Path) -> None:
        given: dict[str, Any] = {"project": self.world.project, "path": path, "tool": tool, "now": NOON}
        # The project of Potato has more fields than a task type.
        left_out = {"fields": dict.fromkeys(OTHER_FIELDS, "")} if tool == "potato" else {}
        mapping = {"source": "films-dev" if tool == "potato" else "m", **left_out}
        given |= {"mapping": mapping_file.parse(mapping), "by": None}
        preview = response_import.look(**given)
        shown = [str(problem) for problem in preview.problems] + [what for _, what in preview.losses]
        shown += [name for column in preview.summary.columns.values() for name in column.values]
        "".join(shown + [name for person in preview.people for name in person[:2]]).encode()
        response_import.write(**given)
        contents = Contents.of(self.folder)
        for row in Annotation.objects.exclude(assignment__batch__name="released"):
            values = [parts_of(value) for value in (row.response or {})["data"].values()]
            parts = [line for text in texts_in(values) for line in text.split("\n")]
            foreign = [text for text in parts if not contents.has(text)]
            assert not foreign, f"values that the file does not have: {foreign[:3]!r}"
            assert row.made_at.year >= 1970
            assert 0 <= row.active_seconds <= 7 * 86_400

    def release(self, folder: Path) -> None:
        manager = Person.objects.create_person("Mia", "mia@example.org")
        project = projects.create_project(slug="again", name="Again", manager=manager, now=NOON)
        restoration.restore(project=project, folder=folder, by=None, now=NOON)

    def study(self, text: str) -> None:
        existing = Project.objects.filter(slug="complexity").first()
        apply.apply(parser.parse(text), project=existing, by=self.world.mara, now=NOON, invite=False)

    def definition(self, data: Any) -> None:
        task_types.define(project=self.world.project, name="t", data=data, by=self.world.mara, now=NOON)

    def attempt(self, name: str, act: Callable[[], None], data: object) -> None:
        """Import a mutated file, or see it refused in a sentence that a terminal can print; then undo it."""
        try:
            with undone():
                act()
                self.stored.append(f"{name}: {stored_values.digest()}")
            self.counted[f"{name}: imported"] += 1
        except REFUSALS as refusal:
            self.counted[f"{name}: refused"] += 1
            self.stored.append(f"{name}: refused")
            out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
            EscapingOutput(out).write(f"{refusal} {getattr(refusal, 'more', '')}")
            if isinstance(refusal, ActionRefused):
                json.dumps([refusal.detail, refusal.more], ensure_ascii=False, default=str).encode()
        except Exception:
            wrong = f"{name} (seed {SEED}): {traceback.format_exc(limit=-6)[-1500:]}\n{data!r:.600}"
            print(wrong, flush=True)  # a run of ten thousand takes long
            self.wrong.append(wrong)


def as_json(example: tableqa.Example) -> str:
    return json.dumps(example.to_dict(), sort_keys=True)


def mutate(path: Path, rng: random.Random) -> bytes:
    """Change a file; returns what it was."""
    good = path.read_bytes()
    path.write_bytes(
        rng.choice((mutated, with_other_values, functools.partial(mutated_file, path.name)))(good, rng)
    )
    return good


def each_form(imports: Imports, folder: Path) -> dict[str, Callable[[], None]]:
    """For each kind of file a function that mutates it once and imports it."""
    forms: dict[str, Callable[[], None]] = {}
    for name, form in FORMS.items():
        if form is not FORMS["askew"]:
            laid_out(folder / name, form)
            forms[f"examples, {name}"] = functools.partial(
                _examples, imports, folder / name, reader_of(name), form.path
            )
    rows: list[dict[str, object]] = [
        {"id": str(n), "question": f"who {n}?", "answers": ["Ann"], "table": FORMS_TABLE, "share": n * 1.5}
        for n in range(5)
    ]
    for reader, write in (("parquet", as_parquet), ("hf", as_dataset)):
        (folder / reader).mkdir()
        main = write(folder / reader, rows)
        forms[f"examples, {reader}"] = functools.partial(
            _examples, imports, folder / reader, reader, main.name
        )
    for name, make in GOOD.items():
        (folder / f"good {name}").mkdir()
        (folder / f"good {name}" / name).write_bytes(make())
        forms[f"examples, {name}"] = functools.partial(
            _examples, imports, folder / f"good {name}", "own", name
        )
    lines = "".join(f"nu-{n},{who},{label}\n" for n, who, label in LABELS)
    (folder / "labels.csv").write_text(f"example,annotator,label\n{lines}")
    forms["labels"] = functools.partial(_labels, imports, folder / "labels.csv")
    answers = [(f"nu-{n}", label, f"because {n}") for n, _, label in LABELS]
    gold = [{"example": id, "response": {"label": label}, "why": why} for id, label, why in answers]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (folder / "gold.csv").write_text("\n".join(map(",".join, [("example", "label", "why"), *answers])) + "\n")
    for name in ("gold.jsonl", "gold.csv"):
        forms[name] = functools.partial(_gold, imports, folder / name)
    for tool, source in (("argilla", "argilla"), ("doccano", "doccano/classes"), ("potato", "potato")):
        shutil.copytree(EXPORTS / source, folder / "exports" / tool)
    (folder / "exports" / "label_studio").mkdir()
    (folder / "exports" / "prodigy").mkdir()
    people = [annotation(who, choice("why", "ok"), lead_time=4.5) for who in ("a@x.org", "b@x.org")]
    tasks = [task(n, *people) for n in (1, 2, 3)]
    (folder / "exports" / "label_studio" / "m.json").write_text(
        "[\n" + ",\n".join(map(json.dumps, tasks)) + "\n]\n"
    )
    taken = {
        "options": [{"id": "A"}, {"id": "B"}],
        "accept": ["A"],
        "answer": "accept",
        "_timestamp": 1_746_327_700,
    }
    asked = {"question": "q?", "table": FORMS_TABLE, "user_input": "why", "_annotator_id": "a"}
    (folder / "exports" / "prodigy" / "m.jsonl").write_text(
        "".join(json.dumps({"id": n, **asked, **taken}) + "\n" for n in (1, 2))
    )
    for tool in ("argilla", "doccano", "label_studio", "potato", "prodigy"):
        forms[f"responses, {tool}"] = functools.partial(_responses, imports, folder / "exports" / tool, tool)
    forms["release"] = functools.partial(_release, imports, folder / "release")
    forms["study"] = functools.partial(_study, imports)
    forms["definition"] = functools.partial(_definition, imports)
    return forms


def parts_of(value: Any) -> Any:
    """A value of a response; of a text of JSON, which marked spans are, its parts."""
    try:
        return json.loads(value) if isinstance(value, str) and value.startswith("[") else value
    except (ValueError, RecursionError):
        return value


FORMS_TABLE = {"header": ["Name", "N"], "rows": [["Ann", "1"], ["Bo", "2"]]}
OTHER_FIELDS = [name for name in ENTERED if name not in ("kind", "domain", "topics", "sure", "why", "order")]
LABELS = [(0, "Xenia", "extraction"), (1, "Yuri", "reasoning"), (2, "Jos\u00e9", "extraction")]


def _examples(imports: Imports, folder: Path, reader: str, main: str) -> None:
    path = imports.rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    good = mutate(path, imports.rng)
    try:
        data = path.read_bytes()
        act = functools.partial(imports.examples, reader, folder / main if main != folder.name else folder)
        imports.folder = folder
        imports.attempt(f"examples, {folder.name}, {path.name}", act, data)
        if imports.rng.random() < 0.02:  # in a process of its own, which takes a second
            imports.attempt(f"page, {folder.name}", functools.partial(imports.page, path), data)
    finally:
        path.write_bytes(good)


def _labels(imports: Imports, path: Path) -> None:
    good = path.read_bytes()
    path.write_bytes((mutated if imports.rng.random() < 0.5 else with_other_cells)(good, imports.rng))
    imports.attempt("labels", functools.partial(imports.labels, path), path.read_bytes())
    path.write_bytes(good)


def _gold(imports: Imports, path: Path) -> None:
    good = mutate(path, imports.rng)
    imports.attempt(path.name, functools.partial(imports.gold, path), path.read_bytes())
    path.write_bytes(good)


def _responses(imports: Imports, folder: Path, tool: str) -> None:
    path = imports.rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    good = mutate(path, imports.rng)
    main = path if tool in ("label_studio", "prodigy") else folder
    imports.folder = folder
    act = functools.partial(imports.responses, tool, main)
    imports.attempt(f"responses, {tool}, {path.name}", act, path.read_bytes())
    path.write_bytes(good)


def _release(imports: Imports, folder: Path) -> None:
    manifest = folder / "manifest.json"
    path = imports.rng.choice([*sorted(folder.glob("*.jsonl")), manifest])
    good = {one: one.read_bytes() for one in (path, manifest)}
    mutate(path, imports.rng)
    if path != manifest:
        resealed(folder, path)
    imports.attempt(f"release, {path.name}", functools.partial(imports.release, folder), path.read_bytes())
    for one, data in good.items():
        one.write_bytes(data)


def resealed(folder: Path, path: Path) -> None:
    """Make the manifest of a release describe a changed file."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] |= {path.name: describe(folder)[path.name]}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _study(imports: Imports) -> None:
    text = mutated(FILE.encode(), imports.rng).decode("utf-8", "surrogateescape")
    imports.attempt("study", functools.partial(imports.study, text), text)


def _definition(imports: Imports) -> None:
    data = changed(DEFINITION, imports.rng)
    imports.attempt("definition", functools.partial(imports.definition, data), data)


def mutated_and_imported(world: World, folder: Path, number: int, seed: str) -> Imports:
    """Mutate and import so many files, of each kind in turn."""
    imports = Imports(world, folder, random.Random(seed))
    batch = world.batch(name="released", overlap=1)
    labels.write(batch=batch, text="example,annotator,label\nnu-2,Xi,extraction\n", by=None, now=NOON)
    creation.make_release(
        project=world.project,
        now=NOON,
        out=folder / "release",
        name="v1",
        format="askew",
        by=None,
        allow_simulated=True,
    )
    world.batch(name="labelled", overlap=3)
    world.batch(name="gold", open=False)
    forms = list(each_form(imports, folder).values())
    for at in range(number):
        forms[at % len(forms)]()
    print(f"\n{dict(imports.counted)} (seed {seed})")
    return imports


@pytest.fixture
def equal_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and pseudonyms drawn with a seed: a release of both databases has the same bytes."""
    rng = random.Random(SEED)
    drawn = SimpleNamespace(randbelow=rng.randrange, token_hex=lambda size: rng.randbytes(size).hex())
    monkeypatch.setattr(public_ids, "secrets", drawn)


def test_mutated_files_are_imported_with_their_values_or_refused(
    equal_ids: None, world: World, tmp_path: Path, settings: Any
) -> None:
    settings.MEDIA_ROOT, settings.IMPORT_NICE = tmp_path / "media", 0
    imports = mutated_and_imported(world, tmp_path, 200, str(SEED))
    assert not imports.wrong, "\n".join(imports.wrong)
    assert not stored_values.differences("200", imports.stored)
    for outcome in ("imported", "refused"):
        assert sum(number for name, number in imports.counted.items() if name.endswith(outcome)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_very_many_mutated_files_are_imported_with_their_values_or_refused(
    equal_ids: None, world: World, tmp_path: Path, settings: Any, part: int
) -> None:
    settings.MEDIA_ROOT, settings.IMPORT_NICE = tmp_path / "media", 0
    imports = mutated_and_imported(world, tmp_path, 1_000, f"{SEED}:{part}")
    assert not imports.wrong, "\n".join(imports.wrong)
    assert not stored_values.differences(f"1000.{part}", imports.stored)


def test_both_databases_give_back_the_same_numbers(world: World, tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    written = (
        "-0.0, 0.0, 1.50, 1e3, 1e15, 1e16, -1e23, 1e308, 5e-324, 12345678901234567890, 9007199254740993.0"
    )
    record = {"id": "1", "question": "q?", "answers": ["x"], "table": [["a"], ["x"]], "numbers": ["N"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(record).replace('"N"', written) + "\n")

    done = example_import.import_examples(
        project=world.project, reader="own", path=tmp_path / "q.jsonl", name="numbers", now=NOON
    )

    stored = Example.objects.get(source=done.source).more["meta"]["numbers"]
    whole = [10**16, -(10**23), 10**308]
    expected = [0.0, 0.0, 1.5, 1000.0, 1e15, *whole, 5e-324, 12345678901234567890, "9007199254740993.0"]
    assert list(map(repr, stored)) == list(map(repr, expected))
