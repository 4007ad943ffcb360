"""Study files: what they may hold, what is said of bad ones, that twice is once, and that export makes the same study."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from annotation.access.roles import Role
from annotation.background import jobs
from annotation.models import (
    Batch,
    ConsentText,
    Event,
    Example,
    Gold,
    Guidelines,
    Invitation,
    Job,
    Membership,
    Person,
    PerturbationRun,
    Project,
    Release,
    Source,
)
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.queue import lineage, reservations
from annotation.releases import creation, verification
from annotation.study_file import apply as study_file_apply
from annotation.study_file import (
    current_state,
    plan_text,
    project_export,
    release_gaps,
    type_definitions,
    yaml_file,
)
from annotation.study_file import plan as study_file_plan
from annotation.study_file.comparison import SourceProbe
from annotation.study_file.current_state import Counts, Pace, ProjectState
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.project_export import document
from annotation.study_file.schema import Study
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import assignments, automatic_decisions, batch_settings, batches, projects
from tableqa.core.translation import word
from tasks.contract import task_type, task_types
from tasks.pace import usual_seconds
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import NOON, World, make_world
from tests.undone import undone

ROOT = Path(settings.BASE_DIR)
STUDIES = sorted((ROOT / "fixtures" / "studies").glob("*.yaml"))

SMALL = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
batches:
  - name: Types
    type: question_type
    sample: {size: 3}
    open: true
  - name: Short
    type: short_table
    feeds_from: Types
    feeds_when: {label: [reasoning]}
    open: true
perturbations:
  - {kinds: [row_shuffle], seeds: [33], feeds_from: Types, feeds_when: {label: [extraction]}}
"""


@pytest.fixture
def mara(db: None) -> Person:
    return Person.objects.create_person("Mara", "mara@example.org", "tilted tables")


@pytest.fixture
def films(tmp_path: Path, db: None) -> Path:
    """The folder with four questions about films; the project they come with is another one."""
    make_world(tmp_path)
    return tmp_path


def apply(
    text: str, folder: Path | None, by: Person, slug: str = "small", **more: Any
) -> study_file_apply.ApplyResult:
    said = parse(text, folder=folder)
    project = Project.objects.filter(slug=slug).first()
    probes = None if folder is None else study_file_apply.probe_sources(said, folder=folder)
    return study_file_apply.apply(said, project=project, by=by, now=NOON, probes=probes, **more)


def plan_of(text: str, folder: Path | None, slug: str = "small") -> Plan:
    said = parse(text, folder=folder)
    probes = None if folder is None else study_file_apply.probe_sources(said, folder=folder)
    return study_file_apply.plan_for_project(
        said, Project.objects.filter(slug=slug).first(), now=NOON, probes=probes
    )


def exported(slug: str = "small") -> str:
    return project_export.export_study(current_state.of_project(Project.objects.get(slug=slug), now=NOON))


def faults(text: str) -> list[str]:
    with pytest.raises(StudyError) as raised:
        parse(text)
    return [str(fault) for fault in raised.value.faults]


an_empty_database = undone


# -- reading ----------------------------------------------------------------------------------------


class TestBadFiles:
    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            (
                "feeds_from: Types\n    feeds",
                "feed_from: Types\n    feeds",
                "line 12: batches[2].feed_from: Unknown key 'feed_from'. Did you mean 'feeds_from'?",
            ),
            (
                "question_type",
                "question_typ",
                ("line 7: batches[1].type: Unknown task type 'question_typ'. Did you mean 'question_type'?"),
            ),
            (
                "reader: wtq",
                "reader: wqt",
                "line 4: sources[1].reader: Unknown reader 'wqt'. Did you mean 'wtq'?",
            ),
            (
                "row_shuffle",
                "row_shufle",
                "line 16: perturbations[1].kinds[1]: Unknown perturbation 'row_shufle'. Did you mean",
            ),
            (
                "[reasoning]",
                "[raesoning]",
                (
                    "line 13: batches[2].feeds_when.label[1]: Unknown value 'raesoning'. Did you mean "
                    "'reasoning'?"
                ),
            ),
            (
                "{label: [reasoning]}",
                "{lable: [reasoning]}",
                "line 13: batches[2].feeds_when.lable: Unknown field of Question type 'lable'. Did you mean 'label'?",
            ),
            (
                "{size: 3}",
                "{size: 3, sead: 4}",
                (
                    "line 8: batches[1].sample.sead: Unknown key 'sead' in `sample`. Did you mean 'seed', one "
                    "level up?"
                ),
            ),
            (
                "{size: 3}",
                "{size: 3, seed: 4}",
                (
                    "line 8: batches[1].sample.seed: Unknown key 'seed' in `sample`. Did you mean 'seed', one "
                    "level up?"
                ),
            ),
            (
                "sample: {size: 3}",
                "size: 3",
                "line 8: batches[1].size: Unknown key 'size'. Did you mean 'size' in `sample`?",
            ),
            (
                "name: Small}",
                "name: Small, colour: red}",
                "line 2: project.colour: Unknown key 'colour'. Available: slug, name, time_zone, must_read",
            ),
            ("size: 3", "size: many", "line 8: batches[1].sample.size: Expected a whole number, not 'many'."),
            ("size: 3", "size: 0", "line 8: batches[1].sample.size: The minimum is 1, not 0."),
            (
                "feeds_from: Types\n    feeds",
                "feeds_from: Tpyes\n    feeds",
                "line 12: batches[2].feeds_from: Unknown batch 'Tpyes'. Did you mean 'Types'?",
            ),
            (
                "seeds: [33], feeds_from: Types",
                "seeds: [33], feeds_from: Type",
                "line 16: perturbations[1].feeds_from: Unknown batch 'Type'. Did you mean 'Types'?",
            ),
            (
                "    feeds_from: Types\n",
                "    requires: Qualfication\n    feeds_from: Types\n",
                ("line 12: batches[2].requires: Unknown batch 'Qualfication'. Available: Types, Short."),
            ),
            (
                "    feeds_from: Types\n",
                "    requires: Types\n    feeds_from: Types\n",
                "line 12: batches[2].requires: “Types” is not a qualification batch.",
            ),
            (
                "    sample: {size: 3}\n",
                "    sample: {size: 3}\n    purpose: qualification\n    pass_percent: 50\n",
                "line 14: batches[2].feeds_from: “Types” is a qualification batch and decides no items",
            ),
            (
                "open: true\n  - name: Short",
                (
                    "gold: {items: [{example: nu-3, response: {label: extraction}},\n"
                    "      {example: nu-3, response: {label: reasoning}}]}\n  - name: Short"
                ),
                "line 10: batches[1].gold.items[2]: 'nu-3' is already on line 9.",
            ),
            (
                "open: true\n  - name: Short",
                "help: {shown: offered, from: {modles: [x]}}\n  - name: Short",
                "line 9: batches[1].help.from.modles: Unknown key 'modles'. Did you mean 'models'?",
            ),
            (
                "    feeds_from: Types\n",
                "    settings: {suggestions: sometimes}\n    feeds_from: Types\n",
                "line 12: batches[2].settings",
            ),
            (
                "open: true\n  - name: Short",
                "settings: {suggestions: sometimes}\n  - name: Short",
                "line 9: batches[1].settings.suggestions: Unknown value 'sometimes'. Available:",
            ),
            ("name: Small", "name: 12", "line 2: project.name: Expected text, not 12."),
            (
                "study: 1",
                "study: 2",
                "line 1: study: Write 1. 2 is not a supported version of study files.",
            ),
            ("slug: small, ", "", "line 2: project: slug is missing. Add it."),
            (
                "slug: small",
                "slug: new",
                "line 2: project.slug: The short name 'new' is reserved. Choose another one.",
            ),
            (
                "name: Short",
                "name: Types",
                "line 10: batches[2].name: The batch 'Types' is already on line 6.",
            ),
            (
                "    type: short_table\n",
                "    type: value_change\n",
                "line 10: batches[2]: Value change needs a variant: answer_changes, answer_stays.",
            ),
            (
                "open: true\n  - name: Short",
                "settings: {suggestion: after}\n  - name: Short",
                "line 9: batches[1].settings.suggestion: Unknown setting 'suggestion'. Did you mean",
            ),
            (
                "open: true\n  - name: Short",
                "resolve: {rule: majorty}\n  - name: Short",
                "line 9: batches[1].resolve: resolve.rule: there is no rule 'majorty'; did you mean majority?",
            ),
            (
                "open: true\n  - name: Short",
                "purpose: qualification\n  - name: Short",
                "line 6: batches[1]: A qualification batch needs a pass mark",
            ),
            (
                "open: true\n  - name: Short",
                "pay: {currency: EUR}\n  - name: Short",
                (
                    "line 9: batches[1].pay: Pay is per hour or per item. Use only one of per_hour and "
                    "per_item."
                ),
            ),
            (
                "open: true\n  - name: Short",
                "feeds_from: Short\n  - name: Short",
                "line 9: batches[1].feeds_from: 'Types' depends on itself.",
            ),
            (
                "open: true\n  - name: Short",
                "loop_model: bundled\n  - name: Short",
                "line 9: batches[1].loop_model: Question type does not support this option: Model in the loop.",
            ),
            (
                "slug: small",
                "slug: small, release: {formats: [robutt]}",
                "line 2: project.release.formats[1]: Unknown value 'robutt'. Did you mean 'robut'?",
            ),
            (
                "slug: small",
                "slug: small, release: {formats: [hf], mix: 7}",
                "line 2: project.release: The format hf does not support mixes. Formats that do: askew, robut.",
            ),
            (
                "slug: small",
                "slug: small, time_zone: Europe/Pairs",
                "line 2: project.time_zone: Unknown time zone 'Europe/Pairs'. Did you mean 'Europe/Paris'?",
            ),
        ],
    )
    def test_each_is_told_where_it_is_wrong_and_how_to_mend_it(self, old: str, new: str, said: str) -> None:
        assert SMALL.count(old) == 1 or old in ("open: true\n  - name: Short", "    type: short_table\n")

        assert any(fault.startswith(said) for fault in faults(SMALL.replace(old, new, 1)))

    def test_every_fault_is_told_at_once_in_the_order_of_lines(self) -> None:
        bad = SMALL.replace("reader: wtq", "reader: wqt").replace("row_shuffle", "row_shufle")

        assert [fault.split(":")[0] for fault in faults(bad)] == ["line 4", "line 16"]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "line 1: The file is empty."),
            (
                "a: [1",
                (
                    "line 1: This is not valid YAML: while parsing a flow sequence did not find expected "
                    "',' or ']'. Put texts that contain , : ? { } [ ] or # in quotation marks."
                ),
            ),
            ("a: 1\nb: 2\na: 3", "line 3: a: 'a' appears twice, first on line 1. Remove one."),
            (
                "a: !!python/object/apply:os.system [x]",
                "line 1: a: tag:yaml.org,2002:python/object/apply:os.system is not supported in study files.",
            ),
            ("- 1", "line 1: Expected a mapping of keys, not a list."),
            ("? [a]\n: 1", "line 1: A key must be a word, not a list or a mapping."),
            ("[" * 3000, "line 1: The file is nested too deeply."),
        ],
    )
    def test_what_is_no_study_at_all_is_told_so(self, text: str, said: str) -> None:
        assert faults(text)[0].startswith(said)

    def test_aliases_of_aliases_do_not_fill_the_memory(self) -> None:
        lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

        assert "The file is too large" in faults("\n".join(lines))[0]
        assert "The file is too large" in faults("&a [*a]")[0]

    def test_a_text_that_no_file_can_keep_is_found(self) -> None:
        assert "cannot be saved" in faults(SMALL.replace("name: Small", 'name: "Sm\\0all"'))[0]

    def test_other_files_are_read_beside_it_and_at_the_command_line_only(self, tmp_path: Path) -> None:
        text = SMALL + "guidelines:\n  question_type: {file: types.md}\n"
        (tmp_path / "types.md").write_text("# Types\n", encoding="utf-8")

        assert parse(text, folder=tmp_path).guidelines == {"question_type": "# Types\n"}
        assert "only be included on the command line" in faults(text)[0]
        (tmp_path / "types.md").unlink()
        with pytest.raises(StudyError, match=r"types\.md cannot be read: No such file"):
            parse(text, folder=tmp_path)


def test_words_that_yaml_once_took_for_something_else_stay_words() -> None:
    read = yaml_file.read("a: no\nb: on\nc: 12:30\nd: 2024-01-01\ne: 0x1f\nf: 007\n").value

    assert read == {"a": "no", "b": "on", "c": "12:30", "d": "2024-01-01", "e": "0x1f", "f": "007"}


SCALARS = st.sampled_from(
    [
        *(
            "yes",
            "no",
            "on",
            "off",
            "y",
            "null",
            "~",
            "true",
            ".5e3",
            "1.5e5",
            "0.5E10",
            "-.5",
            "+1.",
            "0x10",
        ),
        *("0o17", "0b1", "1_000", "1:30", "2024-01-01", ".inf", ".nan", "=", "<<", "007"),
    ]
) | st.from_regex(r"[-+]?[0-9_xobXO:]*\.?[0-9_]*([eE][-+]?[0-9]*)?", fullmatch=True)
"""Texts that one YAML or another takes for something else."""
PLAIN = st.recursive(
    st.none()
    | SCALARS
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
@example({"\x85": " a\n", "b": "no", "c": "1e5", "d": "- x", "e": "a\n\n b \n"})
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    assert yaml_file.read(yaml_file.write(value)).value == value


@given(SCALARS)
@example("1.5e5")
@example(".5e3")
def test_texts_that_look_like_other_scalars_read_back_as_texts(text: str) -> None:
    value = {"id": text, text: [text, {"answers": [text]}]}

    assert yaml_file.read(yaml_file.write(value)).value == value


def test_a_message_is_written_as_its_sentence() -> None:
    message = word("no")

    assert yaml_file.read(yaml_file.write({"from": message})).value == {"from": "no"}


def test_the_published_schema_is_the_one_that_is_used() -> None:
    published = (ROOT / "docs" / "study.schema.json").read_text(encoding="utf-8")

    assert published == project_export.published_schema(), "write it anew: ./run manage reference"


def test_the_reference_names_every_key_of_the_schema() -> None:
    pages = [
        ROOT / "docs" / "reference" / name
        for name in ("study.md", "batch-options.md", "project-task-types.md", "resolve-rules.md")
    ]
    code = [name for page in pages for name in re.findall(r"`([\w.]+)`", page.read_text(encoding="utf-8"))]
    documented = {part for name in code for part in name.split(".")}

    def keys(shape: Any) -> Iterator[str]:
        if isinstance(shape, dict):
            yield from shape.get("properties", {})
            for part in shape.values():
                yield from keys(part)
        elif isinstance(shape, list):
            for part in shape:
                yield from keys(part)

    assert set(keys(json.loads(project_export.published_schema()))) - documented == set()


def yaml_blocks() -> list[Any]:
    """The indented blocks of the documentation that are a study file or a part of one."""
    keys = "|".join(json.loads(project_export.published_schema())["properties"])
    blocks: list[Any] = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))?)+", page.read_text(encoding="utf-8"), re.M):
            text = textwrap.dedent(block)
            if re.match(rf"(?:{keys}):(?:\s|$)", text):
                blocks.append(pytest.param(text, id=f"{page.stem}-{len(blocks)}"))
    return blocks


@pytest.mark.parametrize("text", yaml_blocks())
def test_every_study_file_of_the_documentation_is_accepted(text: str) -> None:
    whole = text if text.startswith("study:") else f"study: 1\nproject: {{slug: docs, name: Docs}}\n{text}"

    study = parse(whole)

    assert study.task_types or study.batches
    for name, data in study.task_types.items():
        assert type_definitions.read(name, type_definitions.written(data)) == data


# -- the plan ---------------------------------------------------------------------------------------


class TestThePlan:
    """A pure comparison: these need no database."""

    STUDY = parse(SMALL.replace("name: Small}", "name: Small, pay: {currency: EUR, per_hour: 12}}"))

    def plan(self, there: ProjectState | None) -> Plan:
        return study_file_plan.plan(self.STUDY, there, probes={0: SourceProbe("c" * 64, 100)})

    def standing(self, **more: Any) -> ProjectState:
        there = dataclasses.replace(
            self.STUDY,
            sources=(dataclasses.replace(self.STUDY.sources[0], checksum="c" * 64),),
            runs=(dataclasses.replace(self.STUDY.runs[0], sources=("films",)),),
        )
        counts = {"Types": Counts("open", 3, 9, 4), "Short": Counts("open", 0, 0, 0)}
        return ProjectState(
            **{"study": there, "batches": counts, "examples": {("films", "originals"): 100}, **more}
        )

    def test_names_everything_in_the_order_in_which_it_is_done(self) -> None:
        sections = [(change.verb, change.section) for change in self.plan(None).changes]

        assert sections == [
            ("add", "project"),
            ("change", "project"),
            ("add", "source"),
            ("add", "batch"),
            ("open", "open"),
            ("add", "batch"),
            ("open", "open"),
            ("add", "perturbation"),
        ]

    def test_of_a_project_that_is_as_the_file_says_is_empty(self) -> None:
        assert self.plan(self.standing()).does == ()

    def test_says_what_the_work_costs_at_the_pace_that_was_measured(self) -> None:
        types, short = self.plan(self.standing(paces={("question_type", "", False): Pace(36.0, 120)})).costs

        assert (types.annotations, types.seconds, types.measured) == (5, 36.0, 120)  # 3 items x 3, 4 are done
        assert types.hours == pytest.approx(5 * 36 / 3600)
        assert types.money == pytest.approx(5 * 36 / 3600 * 12)
        assert (short.annotations, short.most, short.measured) == (3, True, 0)
        assert short.seconds == usual_seconds(task_type("short_table"))

    def test_of_a_batch_that_waits_for_an_unknown_number_says_so(self) -> None:
        waiting = self.STUDY.batches[1]
        elsewhere = dataclasses.replace(waiting, feeds_from="Another")
        other = dataclasses.replace(self.STUDY.batches[0], name="Another")
        there = self.standing()
        there = dataclasses.replace(
            there,
            study=dataclasses.replace(there.study, batches=(*there.study.batches, other)),
            batches={**there.batches, "Another": Counts("open", 7, 21, 0)},
        )
        plan = study_file_plan.plan(
            dataclasses.replace(self.STUDY, batches=(dataclasses.replace(elsewhere, name="New"),)),
            there,
            probes={},
        )

        assert plan.costs[0].annotations is None
        assert plan.costs[0].hours is None

    def test_refuses_what_is_frozen_and_says_what_would_change_of_the_rest(self) -> None:
        there = self.standing()
        types = there.study.batches[0].changed(seed=5, caps={"items": 9})
        there = dataclasses.replace(
            there, study=dataclasses.replace(there.study, batches=(types, there.study.batches[1]))
        )

        (change,) = self.plan(there).cannot

        assert change.line == 6
        assert change.words.startswith(
            "in the project: seed 5, not 0. The batch is open, so this cannot be changed."
        )
        types = dataclasses.replace(types, seed=0)
        there = dataclasses.replace(
            there, study=dataclasses.replace(there.study, batches=(types, there.study.batches[1]))
        )
        said = parse(SMALL.replace("size: 3}", "size: 3}\n    caps: {}"))
        wanted = dataclasses.replace(self.STUDY, batches=said.batches, lines=said.lines)
        (change,) = study_file_plan.plan(wanted, there, probes={}).does
        assert (change.verb, change.words) == ("change", "caps: {items: 9} becomes none.")

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"feeds_from": "Tpyes"}, "Unknown batch 'Tpyes'. Did you mean 'Types'?"),
            ({"requires": "Types"}, "“Types” is required, but it is not a qualification batch."),
            ({"sources": ("flims",)}, "Unknown source 'flims'. Did you mean 'films'?"),
            (
                {"feeds_from": ""},
                "it has no items. Name sources in `sample`, or a batch in `feeds_from`.",
            ),
            (
                {"type": "question_paraphrase", "variant": "word", "loop_model": "tapas"},
                "loop_model: There is no model 'tapas'. Available: none.",
            ),
            ({"loop_model": "tapas"}, "Short table does not support this option: Model in the loop."),
        ],
    )
    def test_says_what_is_in_the_way(self, change: dict[str, Any], said: str) -> None:
        short = self.STUDY.batches[1].changed(**change)
        wanted = dataclasses.replace(self.STUDY, batches=(self.STUDY.batches[0], short))

        plan = study_file_plan.plan(wanted, None, probes={0: SourceProbe("c" * 64, 100)})

        assert any(said in one.words and one.name == "Short" for one in plan.cannot)

    def test_takes_nothing_away_and_says_what_the_file_does_not_name(self) -> None:
        there = self.standing()
        less = dataclasses.replace(self.STUDY, batches=(), sources=(), runs=())

        plan = study_file_plan.plan(less, there, probes={})

        assert plan.does == ()
        assert {(one.verb, one.name) for one in plan.changes} == {
            ("leave", "films"),
            ("leave", "Types"),
            ("leave", "Short"),
        }

    def test_an_account_of_the_costs_is_told_in_lines(self) -> None:
        said = "\n".join(
            plan_text.lines(self.plan(self.standing(paces={("question_type", "", False): Pace(36.0, 120)})))
        )

        assert "Nothing to do: the project matches the file." in said
        assert "Types" in said
        assert "0.60 EUR" in said
        assert "(*) no annotations of this task type yet" in said

    def test_every_kind_has_a_usual_time(self) -> None:
        seconds = {key: usual_seconds(task) for key, task in task_types().items()}

        assert all(20 < one < 400 for one in seconds.values())
        assert seconds["question_type"] < seconds["value_change"]


# -- applying ---------------------------------------------------------------------------------------


class TestApplying:
    def test_makes_the_project_with_everything_in_it(self, films: Path, mara_of_films: Person) -> None:
        applied = apply(SMALL, films, mara_of_films)

        assert applied.failed is None
        types, short = Batch.objects.filter(project=applied.project).order_by("pk")
        assert (types.items_count, types.state, short.feeds_from, short.feeds_when) == (
            3,
            "open",
            types,
            {"label": ["reasoning"]},
        )
        run = PerturbationRun.objects.get(project=applied.project)
        assert (run.feeds_from, run.event, run.chosen) == (types, None, [])

    def test_twice_is_once(self, films: Path, mara_of_films: Person) -> None:
        apply(SMALL, films, mara_of_films)
        events = Event.objects.count()

        again = apply(SMALL, films, mara_of_films)

        assert again.done == []
        assert Event.objects.count() == events
        assert plan_of(SMALL, films).does == ()

    def test_takes_the_formats_of_a_release_from_the_page_to_a_new_project(
        self, films: Path, mara_of_films: Person
    ) -> None:
        apply(SMALL, films, mara_of_films)
        client = Client()
        client.force_login(mara_of_films)
        chosen = {"name": "1.0", "format": ["robut", "askew"], "mix": "7", "purpose": "training"}
        client.post("/projects/small/releases/", chosen)
        assert Release.objects.get(name="1.0").formats == ["askew", "robut"]
        text = exported().replace("slug: small", "slug: second")

        apply(text, films, mara_of_films, slug="second")

        assert parse(text).release == {"formats": ["askew", "robut"], "mix": 7, "purpose": "training"}
        assert exported("second") == text
        form = client.get("/projects/second/releases/").context["form"]
        assert {name: form[name].value() for name in ("format", "mix", "purpose")} == {
            "format": ["askew", "robut"],
            "mix": 7,
            "purpose": "training",
        }
        assert form.has_more

    def test_keeps_the_formats_of_the_project_where_the_file_is_silent(
        self, films: Path, mara_of_films: Person
    ) -> None:
        apply(SMALL.replace("slug: small", "slug: small, release: {formats: [hf]}"), films, mara_of_films)

        plan = plan_of(SMALL, films)
        apply(SMALL, films, mara_of_films)

        assert any("release {formats: hf}: not in the file. It stays." in str(one) for one in plan.changes)
        assert Project.objects.get(slug="small").release == {"formats": ["hf"]}

    def test_goes_on_where_it_was_interrupted(
        self, films: Path, mara_of_films: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = batches.open_batch

        def fails(**said: Any) -> None:
            raise ActionRefused("invalid_request", "The lights went out.")

        monkeypatch.setattr(batches, "open_batch", fails)
        stopped = apply(SMALL, films, mara_of_films)
        monkeypatch.setattr(batches, "open_batch", whole)
        rest = apply(SMALL, films, mara_of_films)

        assert (stopped.failed and stopped.failed.section, stopped.why) == ("open", "The lights went out.")
        assert [change.section for change in rest.done] == ["open", "batch", "open", "perturbation"]
        assert plan_of(SMALL, films).does == ()

    def test_nothing_is_begun_while_something_is_in_the_way(self, films: Path, mara_of_films: Person) -> None:
        before = Event.objects.count()

        with pytest.raises(ActionRefused, match=r"line 4: source films: .*missing\.tsv"):
            apply(SMALL.replace("films-dev.tsv", "missing.tsv"), films, mara_of_films)

        assert Event.objects.count() == before
        assert not Project.objects.filter(slug="small").exists()

    def test_another_file_under_the_checksum_of_the_study_is_refused(
        self, films: Path, mara_of_films: Person
    ) -> None:
        text = SMALL.replace("films-dev.tsv}", f"films-dev.tsv, checksum: {'0' * 64}}}")

        with pytest.raises(ActionRefused, match="does not contain the data of the study"):
            apply(text, films, mara_of_films)

    def test_from_a_page_a_source_has_to_be_there(self, world: World) -> None:
        text = SMALL.replace("slug: small", "slug: films").replace("{name: films,", "{name: another,")

        plan = plan_of(text, None, "films")

        assert "Import it on the page Sources under this name" in plan.cannot[0].words

    def test_people_get_a_personal_link_once_and_more_roles_where_they_are_in(self, world: World) -> None:
        text = (
            "study: 1\nproject: {slug: films, name: Films}\npeople:\n"
            "  - {name: Ada, roles: [annotator, adjudicator]}\n"
            "  - {name: Somebody Else, email: bo@example.org, roles: [annotator]}\n"
            "  - {name: Eli, roles: [annotator]}\n"
        )

        applied = apply(text, None, world.mara, "films")

        assert [(change.verb, change.name) for change in applied.done] == [
            ("change", "Ada"),
            ("invite", "Eli"),
        ]
        assert [link.name for link in applied.links] == ["Eli"]
        ada = Membership.objects.get(project=world.project, person=world.ada)
        assert ada.roles == ["annotator", "adjudicator"]
        assert apply(text, None, world.mara, "films").done == []
        later = study_file_apply.plan_for_project(parse(text), world.project, now=NOON + timedelta(days=15))
        assert [change.verb for change in later.does] == ["invite"], (
            "the link has expired: there is a new one"
        )
        invitation = projects.open_invitation(applied.links[0].token, now=NOON)
        projects.join_as_new(
            invitation=invitation, name="Elias", email="e@example.org", password="tilted tables", now=NOON
        )
        assert apply(text, None, world.mara, "films").done == []

    @pytest.mark.parametrize("limit", ["", ", caps: {items: 3}"])
    def test_an_open_split_waits_for_its_people_and_their_links_are_made(
        self, films: Path, mara_of_films: Person, limit: str
    ) -> None:
        text = (
            "study: 1\nproject: {slug: small, name: Small}\n"
            "sources: [{name: films, reader: wtq, path: films-dev.tsv}]\n"
            "batches:\n  - {name: T, type: question_type, sample: {size: 3}, strategy: split, overlap: 2, open: true"
            f"{limit}}}\n"
            "people:\n  - {name: Ann, roles: [annotator]}\n  - {name: Ben, roles: [annotator]}\n"
        )

        plan = plan_of(text, films)
        (wait,) = plan.waits
        assert (wait.section, wait.name) == ("open", "T")
        assert "needs 2 annotators; the project has 0" in wait.words
        assert "open" not in [one.verb for one in plan.does]
        applied = apply(text, films, mara_of_films)
        assert applied.failed is None
        assert [link.name for link in applied.links] == ["Ann", "Ben"]
        assert apply(text, films, mara_of_films).done == []
        for link in applied.links:
            projects.join_as_new(
                invitation=projects.open_invitation(link.token, now=NOON),
                name=link.name,
                email=f"{link.name}@example.org",
                password="tilted tables",
                now=NOON,
            )
        later = apply(text, films, mara_of_films)
        assert [(one.verb, one.name) for one in later.done] == [("open", "T")]
        assert (later.waits, Batch.objects.get(name="T").state) == ((), "open")

    def test_a_split_with_shares_beyond_the_limit_waits_for_more_people(self, world: World) -> None:
        text = (
            "study: 1\nproject: {slug: films, name: Films}\nbatches:\n"
            "  - {name: T, type: question_type, sample: {sources: [films-dev], size: 4}, strategy: split, "
            "overlap: 2, open: true, caps: {items: 2}}\n"
        )

        applied = apply(text, None, world.mara, "films")

        assert applied.failed is None
        assert "at most 2 items per person, need 4 annotators; the project has 3" in applied.waits[0].words
        mended = apply(text.replace("{items: 2}", "{items: 3}"), None, world.mara, "films")
        assert (mended.failed, Batch.objects.get(name="T").state) == (None, "open")

    def test_a_batch_for_everyone_costs_what_the_people_of_the_file_make(self, films: Path) -> None:
        text = (
            "study: 1\nproject: {slug: small, name: Small}\n"
            "sources: [{name: films, reader: wtq, path: films-dev.tsv}]\n"
            "batches:\n  - {name: T, type: question_type, sample: {size: 3}, strategy: everyone}\n"
        )
        people = "people:\n  - {name: Ann, roles: [annotator]}\n  - {name: Ben, roles: [annotator]}\n"

        assert plan_of(text + people, films).costs[0].annotations == 6

    def test_whoever_was_removed_gets_no_new_link(self, world: World) -> None:
        text = "study: 1\nproject: {slug: films, name: Films}\npeople:\n  - {name: Bo, roles: [annotator]}\n"
        member = Membership.objects.get(project=world.project, person=world.bo)
        projects.remove_member(membership=member, by=world.mara, now=NOON)

        plan = plan_of(text, None, "films")

        (bo,) = [one for one in plan.changes if one.name == "Bo"]
        assert (bo.verb, bo.words.split(".")[0]) == ("leave", f"removed on {NOON:%Y-%m-%d}")
        assert apply(text, None, world.mara, "films").links == []

    def test_what_was_set_in_the_pages_stays_where_the_file_is_silent(
        self, films: Path, mara_of_films: Person
    ) -> None:
        text = SMALL + "statement: {recruitment: Five students.}\n"
        project = apply(text, films, mara_of_films).project
        statement = {"recruitment": "Students.", "ethics": "Approved by the board."}
        caps, pay = {"hours_per_day": 3}, {"currency": "EUR", "per_hour": 12}
        projects.change_statement(project=project, statement=statement, by=mara_of_films, now=NOON)
        projects.change_terms(project=project, caps=caps, pay=pay, by=mara_of_films, now=NOON)
        batch = Batch.objects.get(project=project, name="Types")
        batch_settings.change(batch=batch, changes={"caps": {"items": 9}}, by=mara_of_films, now=NOON)

        plan = plan_of(text, films)
        apply(text, films, mara_of_films)

        project.refresh_from_db()
        batch.refresh_from_db()
        assert project.statement == {"recruitment": "Five students.", "ethics": "Approved by the board."}
        assert (project.caps, project.pay, batch.caps) == (caps, pay, {"items": 9})
        stays = {one.name: one.words for one in plan.changes if one.verb == "leave"}
        assert "caps {hours_per_day: 3}" in stays["small"]
        assert "of the statement, ethics" in stays["small"]
        assert stays["Types"] == "caps {items: 9}: not in the file. It stays."
        assert plan_of(text, films).does == ()
        apply(text.replace("name: Small}", "name: Small, caps: {}}"), films, mara_of_films)
        project.refresh_from_db()
        assert (project.caps, project.pay) == ({}, pay)

    def test_a_qualification_that_cannot_open_is_refused_before_anything_begins(
        self, films: Path, mara_of_films: Person
    ) -> None:
        entry = (
            "  - name: Entry\n    type: question_type\n    purpose: qualification\n    pass_percent: 60\n"
            "    sample: {size: 2}\n    open: true\n"
            "    gold: {items: [{example: nu-3, response: {label: extraction}}]}\n"
        )
        text = SMALL.replace("perturbations:", entry + "perturbations:")

        with pytest.raises(ActionRefused, match="gold Entry: Items without a gold answer: 1 of 2"):
            apply(text, films, mara_of_films)

        assert not Project.objects.filter(slug="small").exists()

    def test_an_open_batch_changes_where_it_may_and_says_what_that_does(self, world: World) -> None:
        world.batch(name="Types", sources=[world.source], size=3)
        world.label(Batch.objects.get(name="Types"), "ada", "extraction")
        text = exported("films")
        more = text.replace("    overlap: 3\n", "    overlap: 4\n")
        assert more != text
        said = parse(more)

        plan = study_file_apply.plan_for_project(said, world.project, now=NOON)
        effects = study_file_apply.effects(plan, world.project)
        applied = apply(more, None, world.mara, "films")

        assert [change.words for change in plan.does] == ["overlap: 3 becomes 4."]
        assert "3 items are undecided: 1 more slot for each." in effects["Types"]
        assert applied.failed is None
        assert Batch.objects.get(name="Types").overlap == 4
        assert apply(more, None, world.mara, "films").done == []

    def test_gold_is_marked_and_what_says_the_same_in_another_form_is_no_change(
        self, films: Path, mara_of_films: Person
    ) -> None:
        text = SMALL.replace(
            "    open: true\n  - name: Short",
            "    gold: {percent: 20, items: [{example: nu-3, response: {label: extraction}, why: looked up}]}\n"
            "    open: true\n  - name: Short",
        )

        apply(text, films, mara_of_films)

        gold = Gold.objects.select_related("item__batch").get()
        assert (gold.item.batch.name, gold.item.is_gold, gold.why) == ("Types", True, "looked up")
        assert apply(text, films, mara_of_films).done == []
        wrong = text.replace("label: extraction}, why", "label: extracted}, why")
        with pytest.raises(ActionRefused, match="gold Types: nu-3: "):
            apply(wrong, films, mara_of_films)
        assert Gold.objects.get().expected["data"] == {"label": "extraction"}

    def test_consent_guidelines_and_terms_are_what_the_file_says(
        self, films: Path, mara_of_films: Person
    ) -> None:
        text = (
            SMALL.replace(
                "name: Small}",
                "name: Small, must_read: true, caps: {hours_per_day: 3}, pay: {currency: EUR, per_hour: 14.5}}",
            )
            + "consent: |\n  Do you agree?\nguidelines:\n  question_type: |\n    # Types\nstatement: {training: An hour.}\n"
        )

        project = apply(text, films, mara_of_films).project

        project.refresh_from_db()
        assert (project.must_read, project.caps, project.statement) == (
            True,
            {"hours_per_day": 3},
            {"training": "An hour."},
        )
        assert ConsentText.objects.get(project=project).text == "Do you agree?\n"
        assert Guidelines.objects.filter(project=project).latest("number").text == "# Types\n"
        assert apply(text, films, mara_of_films).done == []


@pytest.fixture
def mara_of_films(films: Path) -> Person:
    return Person.objects.get(email="mara@example.org")


# -- chains -----------------------------------------------------------------------------------------


def label(batch: Batch, person: Person, said: str) -> None:
    found = reservations.next_assignment(batch=batch, person=person, now=NOON)
    assert found is not None
    response = {
        "type": "question_type",
        "variant": "",
        "version": batch.task().version,
        "base": found.plain_item.base,
        "data": {"label": said},
    }
    assignments.submit(assignment=found, response=response, now=NOON)


class TestChains:
    """Extraction questions go on to perturbations of structure, reasoning questions to shorter tables, as decided."""

    @pytest.fixture
    def project(self, films: Path, mara_of_films: Person) -> Project:
        text = SMALL.replace("sample: {size: 3}", "sample: {size: 3}\n    overlap: 1")
        return apply(text, films, mara_of_films).project

    def decide(self, project: Project, *labels: str) -> Batch:
        batch = Batch.objects.get(project=project, name="Types")
        ada = Person.objects.get(name="Ada")
        projects.add_member(project=project, person=ada, roles=[Role.ANNOTATOR], by=None, now=NOON)
        for one in labels:
            label(batch, ada, one)
        automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(hours=1))
        return batch

    def test_each_outcome_goes_where_it_belongs(self, project: Project) -> None:
        self.decide(project, "extraction", "reasoning")

        short = Batch.objects.get(project=project, name="Short")
        assert short.items.count() == 1
        run = PerturbationRun.objects.get(project=project)
        (job,) = Job.objects.filter(project=project, kind="perturb")
        assert jobs.run(job.pk) == "done"
        run.refresh_from_db()
        made = Example.objects.automatic().filter(source__project=project)
        assert len(run.chosen) == 1
        assert run.chosen != [short.items.get().example_id]
        assert {one.parent_id for one in made} <= set(run.chosen)
        assert run.event is None, "the batch is still open: more may come"

    def test_a_run_is_finished_once_its_batch_is_closed_and_decided_and_is_released_then(
        self, project: Project, mara_of_films: Person, tmp_path: Path
    ) -> None:
        batch = self.decide(project, "extraction", "extraction", "reasoning")
        batches.close_batch(batch=batch, by=mara_of_films, now=NOON)
        for job in Job.objects.filter(project=project, kind="perturb", state=Job.State.QUEUED):
            jobs.run(job.pk)

        run = PerturbationRun.objects.get(project=project)
        assert run.event is not None
        assert (len(run.chosen), run.chosen) == (2, sorted(run.chosen))
        release = creation.make_release(
            project=project, name="v1", format="askew", by=mara_of_films, now=NOON, out=tmp_path / "out"
        )
        verification.verify(tmp_path / "out")
        assert release.manifest["automatic"]["counts"] == run.counts

    def test_however_much_is_decided_one_job_waits(self, project: Project) -> None:
        self.decide(project, "extraction", "extraction", "extraction")

        assert Job.objects.filter(project=project, kind="perturb", state=Job.State.QUEUED).count() == 1

    def test_what_was_decided_before_the_run_was_planned_is_taken_in(
        self, films: Path, mara_of_films: Person
    ) -> None:
        before = SMALL.partition("perturbations:")[0].replace(
            "sample: {size: 3}", "sample: {size: 3}\n    overlap: 1"
        )
        project = apply(before, films, mara_of_films).project
        self.decide(project, "extraction", "reasoning")

        apply(before + "perturbations:" + SMALL.partition("perturbations:")[2], films, mara_of_films)

        assert len(PerturbationRun.objects.get(project=project).chosen) == 1

    def test_a_release_now_would_lack_what_the_plan_says(self, project: Project) -> None:
        self.decide(project, "extraction")

        said = [str(one) for one in release_gaps.find_gaps(project)]

        assert "Types: 2 items have too few responses." in said
        assert "Short: It waits for 2 more decisions in “Types”." in said
        assert any(
            "They use the decisions of “Types” and are released once it is closed." in one for one in said
        )
        assert any(one.startswith("Data statement: No statement on Recruitment") for one in said)


@pytest.mark.parametrize(
    ("when", "data", "goes"),
    [
        ({}, {"label": "reasoning"}, True),
        ({"label": ["extraction"]}, {"label": "extraction"}, True),
        ({"label": ["extraction"]}, {"label": "reasoning"}, False),
        ({"label": ["extraction"]}, {}, False),
        ({"causes": ["a", "b"]}, {"causes": ["c", "b"]}, True),
        ({"causes": ["a"]}, {"causes": []}, False),
        ({"label": ["yes"], "sure": [True]}, {"label": "yes", "sure": False}, False),
    ],
)
def test_an_outcome_goes_on_where_every_field_has_one_of_the_values(
    when: dict[str, list[Any]], data: dict[str, Any], goes: bool
) -> None:
    assert lineage.matches_filter(when, data) is goes


# -- there and back ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_published_study_is_applied_once_and_its_export_makes_it_again(
    path: Path, mara: Person, settings: Any, tmp_path: Path
) -> None:
    settings.PREDICTORS = {
        "bundled": {"protocol": "predict", "url": "http://127.0.0.1:1", "model": "bundled"}
    }
    text = path.read_text(encoding="utf-8")
    slug = parse(text, folder=path.parent).slug
    mara.name = "Mara Lind"
    mara.save()
    before = set(Source.objects.values_list("pk", flat=True))
    assert before == set()

    with an_empty_database():
        applied = apply(text, path.parent, mara, slug)
        assert applied.failed is None, f"{applied.failed}: {applied.why}"
        assert plan_of(text, path.parent, slug).does == ()
        first = exported(slug)
        sampled = items_of(slug)
        assert all(
            sampled[name] for name in ("Question types", "Ratings", "Header synonyms") if name in sampled
        )

    here = path.parent
    files = {one.name: (here / one.path) for one in parse(text, folder=here).sources}
    again = parse(first)
    assert apply_with(again, files, mara).failed is None
    assert exported(slug) == first
    assert items_of(slug) == sampled


def apply_with(said: Study, files: dict[str, Path], by: Person) -> study_file_apply.ApplyResult:
    """The study in this database, with the files of its sources where this machine has them."""
    return apply_with_files(said, project=None, by=by, now=NOON, folder=ROOT, files=files)


def items_of(slug: str) -> dict[str, list[str]]:
    """The examples of each batch in their order."""
    return {
        batch.name: list(batch.items.order_by("position").values_list("example__external_id", flat=True))
        for batch in Batch.objects.filter(project__slug=slug)
    }


NAMES = st.sampled_from(["Types", "Evidence", "Short", "Numbers 2", "ja: nein", "# x", "on"])


@st.composite
def studies(draw: st.DrawFn) -> str:
    """A study over the films, as a file: some batches of several kinds, fed by one another, with this and that said."""
    batches: list[dict[str, Any]] = []
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    for name in names:
        kind = draw(st.sampled_from(["question_type", "relevant_cells", "short_table", "value_change"]))
        task = task_type(kind)
        batch: dict[str, Any] = {"name": name, "type": kind, "seed": draw(st.integers(0, 9))}
        if task.variants:
            batch["variant"] = draw(st.sampled_from(sorted(task.variants)))
        before = [one for one in batches if one["type"] == "question_type"]
        if draw(st.booleans()) and before:
            batch["feeds_from"] = before[-1]["name"]
            if draw(st.booleans()):
                batch["feeds_when"] = {
                    "label": draw(st.sampled_from([["extraction"], ["reasoning", "neither"]]))
                }
        else:
            batch["sample"] = draw(
                st.sampled_from(
                    [{"size": 2}, {"only": ["nu-2", "nu-0"]}, {"by": "difficulty", "size": 3}, {}]
                )
            )
        batch["overlap"] = draw(st.integers(1, 3))
        more = st.fixed_dictionaries(
            {},
            optional={
                "caps": st.sampled_from([{"items": 5}, {"hours_per_day": 2.5}]),
                "pay": st.sampled_from([{"currency": "EUR", "per_item": 0.25}]),
                "must_practise": st.booleans(),
                "open": st.booleans(),
                "gold": st.sampled_from([{"percent": 10}, {"percent": 20, "feedback": True}]),
                "adjudication": st.sampled_from(
                    [{"reasons": ["Rule 3", "Ümläut: yes"]}, {"reasons": ["no"], "note_required": True}]
                ),
            },
        )
        batch.update(draw(cast(Any, more)))
        batches.append(batch)
    said: dict[str, Any] = {
        "study": 1,
        "project": {
            "slug": "small",
            "name": draw(st.sampled_from(["Small", "no", "Klein: groß", "  a  b "])),
        },
        "people": draw(
            st.lists(
                st.fixed_dictionaries(
                    {"name": st.sampled_from(["Ada", "Bo", "Ümit", "yes"]), "roles": st.just(["annotator"])}
                ),
                max_size=3,
                unique_by=lambda one: one["name"],
            )
        ),
        "sources": [{"name": "films", "reader": "wtq", "path": "films-dev.tsv"}],
        "batches": batches,
    }
    if draw(st.booleans()):
        said["consent"] = draw(st.sampled_from(["Yes?\n", "a\n\n  b", "# x: y\n\n\n"]))
    if draw(st.booleans()):
        said["perturbations"] = [{"kinds": ["row_shuffle"], "seeds": draw(st.sampled_from([[1], [3, 2]]))}]
    return yaml_file.write(said)


def test_keys_of_a_batch_are_exported_in_one_order() -> None:
    keys = (
        "name type variant overlap settings sample seed feeds_from requires must_practise gold caps pay open"
    )
    batch: dict[str, Any] = {"name": "Fed", "type": "value_change", "variant": "answer_changes", "overlap": 2}
    batch |= {"settings": {"at_most": 1}, "sample": {"sources": ["films"], "of": "originals"}, "seed": 1}
    batch |= {"feeds_from": "Types", "requires": "Entry", "must_practise": True, "gold": {"percent": 10}}
    batch |= {"caps": {"items": 5}, "pay": {"currency": "EUR", "per_item": 0.25}, "open": True}
    entry = {"name": "Entry", "type": "question_type", "purpose": "qualification", "pass_percent": 60}
    file: dict[str, Any] = {"study": 1, "project": {"slug": "small", "name": "Small"}}
    file["sources"] = [{"name": "films", "reader": "wtq", "path": "films-dev.tsv"}]
    file["batches"] = [{"name": "Types", "type": "question_type"}, entry, batch]

    exported = document(parse(yaml_file.write(file)))["batches"][2]

    assert list(exported) == keys.split()


class TestThereAndBack:
    @pytest.fixture
    def there(self, films: Path) -> Callable[[str], None]:
        mara = Person.objects.get(email="mara@example.org")

        def check(text: str) -> None:
            with an_empty_database():
                assert apply(text, films, mara).failed is None
                assert plan_of(text, films).does == ()
                assert apply(text, films, mara).done == []
                first, sampled = exported(), items_of("small")
            with an_empty_database():
                again = apply_with_files(
                    parse(first),
                    project=None,
                    by=mara,
                    now=NOON,
                    folder=ROOT,
                    files={"films": films / "films-dev.tsv"},
                )
                assert again.failed is None
                assert exported() == first
                assert items_of("small") == sampled

        return check

    def test_any_study_is_applied_once_and_its_export_makes_the_same(
        self, there: Callable[[str], None]
    ) -> None:
        @hypothesis_settings(max_examples=8)
        @given(studies())
        def any_study(text: str) -> None:
            there(text)

        any_study()


# -- at the command line ----------------------------------------------------------------------------


class TestTheCommand:
    """Exit status 0 done, 1 a finding, 2 wrong use."""

    def run(self, *arguments: str) -> str:
        out = io.StringIO()
        call_command("study", *arguments, stdout=out)
        return out.getvalue()

    def test_leaves_no_account_behind_where_nothing_is_begun(self, films: Path) -> None:
        path = films / "study.yaml"
        path.write_text(SMALL.replace("films-dev.tsv", "nowhere.tsv"))

        with pytest.raises(CommandError):
            self.run("apply", str(path), "--manager", "new@example.org")
        assert not Person.objects.filter(email="new@example.org").exists()

    def test_goes_from_a_file_to_a_project_and_back(self, films: Path) -> None:
        path, back = films / "study.yaml", films / "back.yaml"
        path.write_text(
            SMALL
            + "people:\n  - {name: New Manager, roles: [manager]}\n  - {name: Eli, roles: [annotator]}\n"
        )

        assert "is a valid study file: Small, 2 people, 1 sources, 2 batches" in self.run(
            "validate", str(path)
        )
        assert "+ source films: import films-dev.tsv, 4 examples." in self.run("plan", str(path))
        applied = self.run("apply", str(path), "--manager", "new@example.org")
        assert "Created an account for New Manager" in applied
        assert applied.count("this link, shown once") == 1, "the manager needs none"
        assert self.run("apply", str(path), "--manager", "new@example.org").startswith("Nothing to do")
        assert json.loads(self.run("plan", str(path), "--json"))["changes"] == []
        self.run("export", str(back), "--project", "small")
        assert self.run("export", "-", "--project", "small") == back.read_text()
        assert "people" not in self.run("export", "-", "--project", "small", "--without-people")
        assert self.run("schema") == project_export.published_schema()

    @pytest.mark.parametrize(
        ("arguments", "status", "said"),
        [
            (["validate", "missing.yaml"], 2, "Cannot read"),
            (["plan", "missing.yaml"], 2, "Cannot read"),
            (
                ["validate", "bad.yaml"],
                1,
                "line 3: peple: Unknown key 'peple'. Did you mean 'people'?",
            ),
            (["plan", "waits.yaml"], 1, "1 problem to fix first"),
            (["plan", "good.yaml", "--project", "nowhere"], 2, "There is no project 'nowhere'"),
            (["export", "-"], 2, "Name the project: --project SLUG"),
            (["apply", "films.yaml", "--manager", "ada@example.org"], 2, "is not a manager of films"),
            (
                ["apply", "films.yaml", "--manager", "who@example.org"],
                2,
                "no account with the e-mail address",
            ),
        ],
    )
    def test_says_what_is_wrong(
        self, films: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, said: str
    ) -> None:
        monkeypatch.chdir(films)
        head = "study: 1\nproject: {slug: small, name: Small}\n"
        (films / "good.yaml").write_text(head)
        (films / "bad.yaml").write_text(head + "peple: []\n")
        (films / "waits.yaml").write_text(head + "sources:\n  - {name: x, reader: wtq}\n")
        (films / "films.yaml").write_text("study: 1\nproject: {slug: films, name: Films}\n")

        with pytest.raises(CommandError) as raised:
            self.run(*arguments)

        assert (raised.value.returncode, said in str(raised.value)) == (status, True), raised.value

    def test_stops_where_something_fails_and_says_that_the_rest_is_left(
        self, films: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (films / "study.yaml").write_text(SMALL)

        def fails(**said: Any) -> None:
            raise ActionRefused("invalid_request", "The lights went out.")

        monkeypatch.setattr(batches, "open_batch", fails)

        with pytest.raises(CommandError, match="Stopped at open Types: The lights went out"):
            self.run("apply", str(films / "study.yaml"), "--manager", "mara@example.org")

    def test_a_release_can_be_tried_without_writing_anything(self, world: World) -> None:
        out = io.StringIO()
        with pytest.raises(CommandError, match="A release is possible"):
            call_command("release", "--project", "films", "--dry-run", stdout=out)

        assert "Missing from a release now: Batches: There are no batches yet." in out.getvalue()
        assert not Release.objects.exists()
        with pytest.raises(CommandError, match="Add --name, --format, --out"):
            call_command("release", "--project", "films")


# -- on the page ------------------------------------------------------------------------------------


class TestThePage:
    ADDRESS = "/projects/films/study/"

    @pytest.fixture
    def mara(self, world: World) -> Client:
        world.batch(name="Types", sources=[world.source], size=2)
        client = Client()
        client.force_login(world.mara)
        return client

    def more(self) -> str:
        return exported("films") + (
            "  - name: Types, once more\n    type: question_type\n    sample: {size: 2}\n    open: true\n"
        )

    def test_shows_the_file_of_the_project_and_gives_it_to_take_along(self, mara: Client) -> None:
        page, file = mara.get(self.ADDRESS), mara.get(self.ADDRESS + "?download")

        assert "name: Types" in page.content.decode()
        assert "Missing from a release now" in page.content.decode()
        assert "No statement on Recruitment" in mara.get(self.ADDRESS + "?missing").content.decode()
        assert file["Content-Disposition"] == 'attachment; filename="films-study.yaml"'
        assert parse(file.content.decode()).batches[0].name == "Types"

    def test_tells_every_fault_of_a_file_with_its_line_and_keeps_what_was_typed(self, mara: Client) -> None:
        bad = self.more().replace("type: question_type\n    sample", "tpye: question_type\n    sample")

        page = mara.post(self.ADDRESS, {"text": bad, "act": "plan"}).content.decode()

        assert "Unknown key &#x27;tpye&#x27;. Did you mean &#x27;type&#x27;?" in page
        assert "tpye: question_type" in page

    def test_shows_the_plan_applies_it_in_the_background_and_nothing_is_left(
        self, mara: Client, world: World
    ) -> None:
        text = self.more()

        plan = mara.post(self.ADDRESS, {"text": text, "act": "plan"}).content.decode()
        going = mara.post(self.ADDRESS, {"text": text.replace("\n", "\r\n"), "act": "apply"})
        job = Job.objects.get(kind="study")
        assert jobs.run(job.pk) == "done"

        assert "Types, once more" in plan
        assert "Apply file" in plan
        assert going["Location"] == f"/jobs/{job.public_id}/"
        assert Batch.objects.get(name="Types, once more").state == "open"
        again = mara.post(self.ADDRESS, {"text": text, "act": "plan"}).content.decode()
        assert "Nothing to do: the project matches the file." in again
        assert "Open the study file" in mara.get(going["Location"]).content.decode()

    def test_a_job_whose_worker_was_lost_after_its_work_ends_as_done(self, mara: Client) -> None:
        mara.post(self.ADDRESS, {"text": self.more(), "act": "apply"})
        job = Job.objects.get(kind="study")
        with patch.object(jobs, "_finish", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
            jobs.run(job.pk)

        assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1

        job.refresh_from_db()
        assert (job.state, job.error) == (Job.State.DONE, "")
        assert Batch.objects.filter(name="Types, once more").count() == 1

    def test_a_file_is_taken_as_a_file_too(self, mara: Client) -> None:
        sent = SimpleUploadedFile("study.yaml", self.more().encode())

        assert "Types, once more" in mara.post(self.ADDRESS, {"file": sent}).content.decode()
        latin = SimpleUploadedFile("study.yaml", b"study: \xe9")
        assert "not UTF-8 text" in mara.post(self.ADDRESS, {"file": latin}).content.decode()
        assert "Choose a study file" in mara.post(self.ADDRESS, {"text": " "}).content.decode()

    def test_links_are_made_once_and_shown_once(self, mara: Client) -> None:
        text = exported("films").replace("sources:\n", "  - {name: Eli, roles: [annotator]}\nsources:\n", 1)

        plan = mara.post(self.ADDRESS, {"text": text, "act": "plan"}).content.decode()
        made = mara.post(self.ADDRESS, {"text": text, "act": "links"})

        assert "Create 1 personal link" in plan
        assert "/join/" in made.content.decode()
        assert made["Cache-Control"] == "no-store"
        assert Invitation.objects.filter(name="Eli").count() == 1
        assert "/join/" not in mara.post(self.ADDRESS, {"text": text, "act": "links"}).content.decode()

    def test_a_file_about_another_project_is_not_applied_here(self, mara: Client) -> None:
        page = mara.post(self.ADDRESS, {"text": SMALL, "act": "apply"}).content.decode()

        assert "This file is for the project &#x27;small&#x27;" in page
        assert not Job.objects.filter(kind="study").exists()

    def test_whoever_annotates_here_learns_of_no_gold(self, mara: Client, world: World) -> None:
        batch = Batch.objects.get(name="Types")
        free = world.source.examples.exclude(items__batch=batch).order_by("pk")[0]
        gold.set_gold(batch=batch, example=free, data={"label": "neither"}, by=world.mara, now=NOON)
        assert "neither" in mara.get(self.ADDRESS).content.decode()
        projects.add_member(
            project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        whole = exported("films")

        page = mara.get(self.ADDRESS).content.decode()

        assert "neither" not in page
        assert "neither" not in mara.get(self.ADDRESS + "?download").content.decode()
        refused = mara.post(self.ADDRESS, {"text": whole, "act": "plan"}).content.decode()
        assert "Leave gold items out" in refused

    def test_costs_the_same_however_many_items_there_are(self, mara: Client, world: World) -> None:
        for number in range(3):
            world.batch(name=f"Some {number}", sources=[world.source])
        with CaptureQueriesContext(connection) as few:
            mara.get(self.ADDRESS)
        for number in range(3):
            world.batch(name=f"More {number}", sources=[world.source])
        with CaptureQueriesContext(connection) as many:
            mara.get(self.ADDRESS)

        assert len(many) == len(few)
        assert len(few) < 40


def test_a_run_that_a_batch_feeds_can_be_started_on_the_page(world: World) -> None:
    batch = world.batch(name="Types", overlap=1)
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(hours=1))
    client = Client()
    client.force_login(world.mara)
    said = {"kinds": ["row_shuffle"], "seeds": "33", "rules": "released", "feeds_from": batch.pk}

    wrong = client.post("/projects/films/perturbations/", {**said, "feeds_when": "label"})
    client.post("/projects/films/perturbations/", {**said, "feeds_when": "label=extraction"})

    assert "Write a field, = and its values" in wrong.content.decode()
    run = PerturbationRun.objects.get()
    assert (run.feeds_from, run.feeds_when) == (batch, {"label": ["extraction"]})
    assert "as decided in" in client.get("/projects/films/perturbations/").content.decode()
