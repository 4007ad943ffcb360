"""A model on a release: everything is put to it once, and the command says how it does."""

from __future__ import annotations

import itertools
import json
import re
import threading
from dataclasses import fields, replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError

import tableqa
from annotation.assistance import judgements
from annotation.queue.parallel_requests import Crew
from annotation.releases import creation
from annotation.releases.model_evaluation import queries
from annotation.workflow import automatic_decisions, perturbation_runs
from predictor import prompts
from predictor.protocol import PredictRequest
from tableqa import Context, Example, Table, Turn
from tableqa.readers import READERS
from tableqa.scoring.evaluation import (
    COMPARISON,
    Gap,
    JudgedInstance,
    Judgement,
    UnsupportedAnswers,
    figures,
    judge,
)
from tableqa.scoring.matching import ORIGINAL, Instance
from tableqa.scoring.predictions import EvaluationError, read_predictions
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_mixing import perturbed_thrice
from tests.predictor.endpoints import Body, Endpoint, endpoint
from tests.tasks.test_contract import sample

LATER = NOON + timedelta(days=1)


def released(world: World, out: Path) -> Path:
    """Two shuffles and a transposition of every question, and one value change, released."""
    run = perturbation_runs.plan_run(
        project=world.project,
        kinds=["row_shuffle", "transpose", "target_row_front"],
        seeds=[33, 16],
        now=NOON,
    )
    perturbation_runs.perform(run)
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    data = {"unanswerable": False, "operations": [edit], "answers": ["1996"], "reason": "a later film"}
    world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=LATER, out=out)
    return out


def reads_the_first_row(example: tableqa.Example) -> dict[str, Any]:
    """A model that always answers with the year of the first row."""
    row = example.table.rows[0]
    return {"answers": [row[1] if len(row) > 1 else ""], "text": row[0], "model": "first@1"}


@pytest.mark.django_db(transaction=True)
def test_every_instance_is_asked_once_and_an_interrupted_file_is_gone_on_with(tmp_path: Path) -> None:
    raw = queries.load(released(make_world(tmp_path), tmp_path / "out"))
    pairs = list(queries.instances(raw))
    keys = [(one.source, one.id) for one, _ in pairs]
    assert len(keys) == len(set(keys))
    kinds = {one.kind for one, _ in pairs}
    assert kinds == {"original", "row_shuffle", "transpose", "target_row_front", "answer_changes"}
    for one, example in pairs:
        assert example.answers == one.answers
        assert (one.source, one.baseline) in keys
    file = tmp_path / "said.jsonl"
    broken = 0

    def breaks(example: tableqa.Example) -> dict[str, Any]:
        nonlocal broken
        broken += 1
        if broken > 5:
            raise EvaluationError("The model is gone.")
        return reads_the_first_row(example)

    with pytest.raises(EvaluationError):
        queries.collect(raw, breaks, file)
    kept = len(file.read_text(encoding="utf-8").splitlines())
    assert queries.collect(raw, reads_the_first_row, file) == len(pairs) - kept
    assert queries.collect(raw, reads_the_first_row, file) == 0
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert sorted((line["source"], line["id"]) for line in lines) == sorted(keys)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fails", ["request", "progress"])
def test_answers_under_way_are_written_whatever_fails_meanwhile(tmp_path: Path, fails: str) -> None:
    """They are paid for; the next run asks for the others only."""
    raw = queries.load(released(make_world(tmp_path), tmp_path / "out"))
    number = len(list(queries.instances(raw)))
    file, asked, told = tmp_path / "said.jsonl", itertools.count(1), itertools.count(1)
    three, failed = threading.Barrier(3, timeout=20), threading.Event()

    def answers(example: tableqa.Example) -> dict[str, Any]:
        place = next(asked)
        if place <= 3:
            three.wait()
        elif fails == "progress":
            failed.wait(20)
        if place == 1 and fails == "request":
            raise OperationalError("the database is away")
        return reads_the_first_row(example)

    def progress(done: int, total: int) -> None:
        if fails == "progress" and next(told) == 4:
            failed.set()
            raise OperationalError("the database is away")

    with pytest.raises(OperationalError):
        queries.collect(raw, answers, file, progress, crew=Crew(3))
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == next(asked) - 1 - (fails == "request")
    assert len(lines) >= 2
    assert queries.collect(raw, reads_the_first_row, file) == number - len(lines)


@pytest.mark.django_db(transaction=True)
def test_a_model_that_reads_the_first_row_is_found_out_by_the_shuffles(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    queries.collect(queries.load(out), reads_the_first_row, file)
    printed = StringIO()
    call_command("evaluate", str(out), "--predictions", str(file), "--json", stdout=printed)
    (model,) = json.loads(printed.getvalue())["models"]
    rows = {row["kind"]: row for row in model["rows"]}
    assert model["name"] == "said"
    assert rows["original"]["after"]["value"] == 0.25, "only the film of the first row"
    assert rows["answer_changes"]["before"]["value"] == rows["answer_changes"]["after"]["value"] == 1
    assert set(rows["transpose"]["seeds"]) == {"0"}
    assert set(rows["row_shuffle"]["seeds"]) == {"33", "16"}
    text = StringIO()
    call_command("evaluate", str(out), "--predictions", str(file), stdout=text)
    (line,) = [line for line in text.getvalue().splitlines() if line.startswith("original ")]
    assert line.split()[1:5] == ["all", "sources", "said", "4"]


@pytest.mark.django_db(transaction=True)
def test_a_language_model_has_as_many_requests_under_way_as_its_entry_allows(
    tmp_path: Path, settings: Any
) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    instances = len(list(queries.instances(queries.load(out))))
    together = threading.Event()
    with endpoint(Endpoint("vllm")) as server:

        def reply(body: Body) -> str:
            if server.most_at_once >= 3:
                together.set()
            assert together.wait(30), "three requests are never under way together"
            return '{"answers": ["1995"]}'

        server.reply = reply
        settings.PREDICTORS = {"llm": server.entry(parallel=3)}
        file = tmp_path / "said.jsonl"
        call_command(
            "evaluate",
            str(out),
            *("--predictor", "llm", "--predictions", f"llm={file}"),
            stdout=StringIO(),
            stderr=StringIO(),
        )
        assert server.most_at_once == 3
        assert len(server.requests) == instances, "each instance is asked about once"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len({(line["source"], line["id"]) for line in lines}) == len(lines) == instances
    assert {tuple(line["answers"]) for line in lines} == {("1995",)}


@pytest.mark.django_db(transaction=True)
def test_half_an_emoji_in_a_reply_stops_no_evaluation(tmp_path: Path, settings: Any) -> None:
    out, file = released(make_world(tmp_path), tmp_path / "out"), tmp_path / "said.jsonl"
    with endpoint(Endpoint("vllm", reply=lambda body: '{"answers": ["smile \\ud83d"]}')) as server:
        settings.PREDICTORS = {"llm": server.entry()}
        queries.collect(queries.load(out), queries.model_of(settings.PREDICTORS, "llm"), file)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(list(queries.instances(queries.load(out))))
    assert {tuple(line["answers"]) for line in lines} == {("smile \ufffd",)}


@pytest.mark.django_db(transaction=True)
def test_answers_that_are_under_way_when_a_model_breaks_off_are_kept(tmp_path: Path, settings: Any) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    together = threading.Barrier(3)
    with endpoint(Endpoint("vllm")) as server:

        def reply(body: Body) -> str:
            if together.wait(30) == 0:  # one of the first three requests
                server.mood = "locked"  # of all that come later
            return '{"answers": ["1995"]}'

        server.reply = reply
        settings.PREDICTORS = {"llm": server.entry(parallel=3)}
        file = tmp_path / "said.jsonl"
        with pytest.raises(CommandError, match="401"):
            call_command(
                "evaluate",
                str(out),
                *("--predictor", "llm", "--predictions", f"llm={file}"),
                stdout=StringIO(),
                stderr=StringIO(),
            )
        assert len(file.read_text(encoding="utf-8").splitlines()) == 3
        assert len(server.requests) <= 6, "after the first refusal none is sent but what is under way"


@pytest.mark.django_db(transaction=True)
def test_the_same_predictions_are_judged_by_the_papers_rules_side_by_side(tmp_path: Path) -> None:
    """ "Heat, 1995" is one answer to us and to WikiTableQuestions, and two to TAPEX; "1,995" is a number to us alone."""
    out, file = released(make_world(tmp_path), tmp_path / "out"), tmp_path / "said.jsonl"
    spelt = {"1995": "1,995", "1979": "1979.", "1996": "1,996"}

    def answer(example: tableqa.Example) -> dict[str, Any]:
        return {"answers": [spelt.get(one, one) for one in example.answers]}

    queries.collect(queries.load(out), answer, file)

    def evaluated(*options: str) -> dict[str, Any]:
        printed = StringIO()
        call_command("evaluate", str(out), "--predictions", str(file), *options, "--json", stdout=printed)
        whole: dict[str, Any] = json.loads(printed.getvalue())
        return whole

    (model,) = evaluated()["models"]
    by_rule = {rule: rows[0]["after"]["value"] for rule, rows in model["by_rule"].items()}
    assert list(by_rule) == ["askew", "wtq", "tapex"]
    assert by_rule["askew"] == model["rows"][0]["after"]["value"] == 1.0
    assert by_rule["wtq"] < 1.0
    for rule in ("askew", "wtq", "tapex", "tat"):
        whole = evaluated("--match", rule)
        row = whole["models"][0]["rows"][0]
        assert row["after"]["value"] == by_rule.get(rule, row["after"]["value"])
        assert (row["f1"] is not None) == (rule == "tat")
        assert f"(rule {rule})" in whole["about"][0]
        assert list(whole["models"][0]["by_rule"]) == [rule]
    text = StringIO()
    call_command("evaluate", str(out), "--predictions", str(file), stdout=text)
    assert "Matching rules" in text.getvalue()


@pytest.mark.django_db(transaction=True)
def test_one_source_of_a_release_is_evaluated_on_its_own(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    sentence = "The film of Chantal Akerman was first shown to people in Cannes."
    more = [Example(id=f"q{n}", question="?", table=Table(["a"], [["b"]]), answers=["b"]) for n in range(2)]
    long = [Example(id="f", question="tell", table=Table(["c"], [["d"]]), answers=[sentence])]
    for name, examples in (("more", more), ("long", long)):
        world.import_written(*examples, name=name)
    out, file = released(world, tmp_path / "out"), tmp_path / "said.jsonl"

    def evaluated(*options: str) -> dict[str, Any]:
        printed = StringIO()
        call_command("evaluate", str(out), "--predictions", str(file), *options, "--json", stdout=printed)
        whole: dict[str, Any] = json.loads(printed.getvalue())
        return whole

    queries.collect(queries.load(out), reads_the_first_row, file, chosen=["more"])
    assert {json.loads(line)["source"] for line in file.read_text("utf-8").splitlines()} == {"more"}
    (model,) = evaluated("--source", "more")["models"]
    assert {row["source"] for row in model["rows"]} == {"all"}
    assert model["rows"][0]["questions"] == 2
    with pytest.raises(CommandError, match=r"There is no source 'none'. Available: .*more"):
        evaluated("--source", "none")
    with pytest.raises(CommandError, match="answers of long are sentences"):
        evaluated("--source", "long")
    whole = evaluated("--leave-out-missing")
    assert any("exact match" in said and "long" in said for said in whole["about"])


@pytest.mark.django_db
def test_the_scale_of_an_answer_reaches_prompt_verdict_and_evaluation() -> None:
    table = Table(["Item", "2019"], [["Sales", "1,305"]])
    example = Example(
        id="q",
        question="sales in 2019?",
        table=table,
        answers=["1,305"],
        context=Context("Paragraphs.", scale="thousand"),
    )
    kind = task_type("header_synonym")
    assert "context" not in kind.shows
    asked = judgements.example_pair(kind, replace(sample(kind)["items"][0], example=example), {})
    assert asked.original.context == Context(scale="thousand"), "the paragraphs stay hidden"
    request = PredictRequest.about(asked.original)
    messages, _ = prompts.prompt_for_question(request.question, request.table, (), request.context)
    assert "Scale: thousand" in messages[-1]["content"]
    said = {"answers": ["1,305 thousand"], "text": "1,305 thousand"}
    held = judgements.judge_pair(
        judgements.ExamplePair(example, example), said, {"answers": ["1,305 million"], "text": ""}
    )
    assert (held.verdict, held.gold["scale"]) == ("fooled", "thousand")
    instance = Instance(
        "tat", "q", "q", ORIGINAL, 0, "q", ("1,305",), "", "", 0, *queries.kind_of_answer(example)
    )
    assert judge([instance], {("tat", "q"): ["1,305 thousand"]}).judged[0].after


@pytest.mark.django_db(transaction=True)
def test_the_bundled_model_is_evaluated_without_a_predictor(tmp_path: Path, settings: Any) -> None:
    """As docs/reference/evaluation.md prints it."""
    settings.PREDICTORS = {}
    out = released(make_world(tmp_path), tmp_path / "out")
    call_command("evaluate", str(out), "--predictor", "bundled", "--out", str(tmp_path / "report"))
    kept = [json.loads(line) for line in (tmp_path / "out.bundled.jsonl").read_text("utf-8").splitlines()]
    assert len(kept) == len(list(queries.instances(queries.load(out))))
    assert all(one["model"].startswith("bundled@") for one in kept)
    (model,) = json.loads((tmp_path / "report" / "evaluation.json").read_text("utf-8"))["models"]
    assert model["name"] == "bundled"
    assert model["missing"] == 0


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_evaluated_is_said(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    file.write_text('{"id": "nu-0", "answers": ["1995"]}\n', encoding="utf-8")
    with pytest.raises(CommandError, match="have no prediction"):
        call_command("evaluate", str(out), "--predictions", str(file))
    with pytest.raises(CommandError, match="no predictor 'nobody'"):
        call_command("evaluate", str(out), "--predictor", "nobody")
    with pytest.raises(CommandError, match="Give --predictions files"):
        call_command("evaluate", str(out))
    with pytest.raises(CommandError, match="not a release"):
        call_command("evaluate", str(tmp_path), "--predictions", str(file))


@pytest.mark.django_db(transaction=True)
def test_several_models_stand_side_by_side_in_every_form(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    raw = queries.load(out)
    first, gold = tmp_path / "first.jsonl", tmp_path / "gold.jsonl"
    queries.collect(raw, reads_the_first_row, first)
    queries.collect(raw, lambda example: {"answers": list(example.answers)}, gold)
    written = tmp_path / "report"
    named = ("--predictions", str(first), "--predictions", f"A_1 & <b>={gold}")
    call_command("evaluate", str(out), *named, "--out", str(written), stdout=StringIO())
    assert {path.name for path in written.iterdir()} >= {
        *(f"evaluation.{ending}" for ending in ("txt", "json", "md", "tex", "html")),
        *("structure.csv", "all-figures.csv", "robustness-numbers.csv"),
    }
    head, first_line, *_ = (written / "robustness-numbers.csv").read_text(encoding="utf-8").splitlines()
    assert head.split(",")[:2] == ["Perturbation", "n"]
    assert first_line.split(",")[1] == "1 / 4", "the originals that each model answers correctly"
    page = (written / "evaluation.html").read_text(encoding="utf-8")
    assert "A_1 &amp; &lt;b&gt;" in page
    assert "<b>=" not in page
    assert page.count("<svg width") == page.count('role="img"') + page.count('aria-hidden="true"')
    for elsewhere in ("<script", "<link", "src=", "@import", "url("):
        assert elsewhere not in page, "the page stands alone"
    assert r"A\_1 \& \textless{}b\textgreater{}" in (written / "evaluation.tex").read_text(encoding="utf-8")
    said = json.loads((written / "evaluation.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in said["models"]] == ["first", "A_1 & <b>"]
    (difference,) = said["differences"]
    after = {row["kind"]: row["figures"]["after"]["value"] for row in difference["rows"]}
    assert after["original"] == pytest.approx(0.75), "the other model knows all four, this one the first"
    one = StringIO()
    call_command("evaluate", str(out), *named, "--format", "latex", stdout=one)
    assert one.getvalue() == (written / "evaluation.tex").read_text(encoding="utf-8")


@pytest.mark.django_db(transaction=True)
def test_what_is_too_long_for_a_model_is_left_out_with_its_pair(tmp_path: Path) -> None:
    raw = queries.load(released(make_world(tmp_path), tmp_path / "out"))
    everything = {(one.source, one.id): list(example.answers) for one, example in queries.instances(raw)}
    whole = queries.judge_instances(queries.select_instances(raw), everything)
    short = queries.judge_instances(
        queries.select_instances(raw, keep=lambda example: "Heat" not in example.question), everything
    )
    assert (whole.left_out, short.missing) == (0, 0)
    assert short.left_out == sum(one.instance.question == "nu-0" for one in whole.judged)
    assert {one.instance.question for one in short.judged} == {"nu-1", "nu-2", "nu-3"}
    one_side = queries.judge_instances(
        queries.select_instances(raw, keep=lambda example: example.table.shape != (4, 3)), everything
    )
    assert {one.instance.kind for one in one_side.judged} == set(), "a pair without its baseline says nothing"


@pytest.mark.django_db(transaction=True)
def test_a_line_that_a_killed_process_did_not_finish_is_asked_again(tmp_path: Path) -> None:
    raw = queries.load(released(make_world(tmp_path), tmp_path / "out"))
    file = tmp_path / "said.jsonl"
    asked = queries.collect(raw, reads_the_first_row, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20], encoding="utf-8")
    assert queries.collect(raw, reads_the_first_row, file) == 1
    assert len(read_predictions(file, raw.raw.datasets)) == asked
    file.write_text("\n".join(lines), encoding="utf-8")
    assert queries.collect(raw, reads_the_first_row, file) == 0, "a line without an end may well be whole"


@pytest.mark.django_db(transaction=True)
def test_mixes_are_asked_about_and_compared_with_their_original(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    out = tmp_path / "mixed"
    creation.make_release(
        project=world.project, name="v1", format="askew", by=None, now=LATER, mix=7, out=out
    )
    mixes = [(one, example) for one, example in queries.instances(queries.load(out)) if one.kind == "mix"]
    assert len({one.id for one, _ in mixes}) == 4
    assert {(one.question, one.baseline) for one, _ in mixes} == {("nu-0", "nu-0")}
    assert {one.answers for one, _ in mixes} == {("1995",), ("1996",)}
    assert all(one.answers == example.answers for one, example in mixes)


TABLE = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])


def test_a_question_compares_if_its_source_says_so_or_its_words_do() -> None:
    assert queries.group(Example("1", "which film is older?", TABLE, ["Alien"])) == COMPARISON
    assert queries.group(Example("2", "when did Heat come out?", TABLE, ["1995"])) == ""
    said = Example("3", "which film is older?", TABLE, ["Alien"], meta={"req_comparison": False})
    assert queries.group(said) == ""
    assert queries.group(Example("4", "the sum?", TABLE, ["1"], meta={"rep_comparison": True})) == COMPARISON


def test_a_dialogue_of_sqa_is_known_by_its_id_and_annotator() -> None:
    meta = {"id": "nt-1", "annotator": 2, "position": 1}
    asked = Example(
        "nt-1-2-1", "which is older?", TABLE, ["Alien"], meta=meta, history=[Turn("which?", ["Heat"])]
    )
    assert queries.dialogue(asked) == ("nt-1-2", 1)
    assert queries.dialogue(Example("q", "which?", TABLE, ["Heat"], meta={"id": "nt-1"})) == ("", 0)


def test_dialogues_of_the_published_sqa_are_whole_with_their_history(test_data: Path) -> None:
    found = [
        (example, *queries.dialogue(example))
        for example in READERS["sqa"](test_data / "sqa" / "random-split-1-dev.tsv", limit=60)
    ]
    originals = [
        JudgedInstance(
            Instance("sqa", one.id, one.id, ORIGINAL, 0, one.id, one.answers, "", dialogue, turn),
            True,
            turn != 1,
        )
        for one, dialogue, turn in found
    ]
    whole = {row.kind: row for row in figures(Judgement(tuple(originals)), replicates=20).sequences}[ORIGINAL]
    names = {dialogue for _, dialogue, _ in found}
    assert whole.questions == len(names) > 15
    assert whole.after.value == 0, "every dialogue has a second turn, which is wrong here"
    for one, _, turn in found:
        assert PredictRequest.about(one).history == one.history
        assert len(one.history) == turn


@pytest.mark.django_db(transaction=True)
def test_a_named_tokenizer_says_what_is_too_long(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    queries.collect(queries.load(out), reads_the_first_row, file)
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    (tmp_path / "words").mkdir()
    tokenizer.save(str(tmp_path / "words" / "tokenizer.json"))
    printed = StringIO()
    options = ("--longest", "1000", "--tokenizer", str(tmp_path / "words"), "--format", "markdown")
    call_command("evaluate", str(out), "--predictions", str(file), *options, stdout=printed)
    assert "at most 1000 tokens of words (sha256 " in printed.getvalue()
    with pytest.raises(CommandError, match="no instances to evaluate"):
        call_command("evaluate", str(out), "--predictions", str(file), "--longest", "3", *options[2:])


@pytest.mark.django_db(transaction=True)
def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    queries.collect(queries.load(out), reads_the_first_row, file)
    twice = ("--predictions", f"a={file}", "--predictions", f"a={file}")
    with pytest.raises(CommandError, match="Two models have the name 'a'"):
        call_command("evaluate", str(out), *twice)
    with pytest.raises(CommandError, match="need each other"):
        call_command("evaluate", str(out), "--predictions", str(file), "--longest", "512")
    with pytest.raises(CommandError, match=r"no such|cannot be opened"):
        call_command(
            "evaluate", str(out), "--predictions", str(file), "--longest", "9", "--tokenizer", str(tmp_path)
        )


@pytest.mark.django_db(transaction=True)
def test_the_json_is_what_its_page_says(tmp_path: Path) -> None:
    release = released(make_world(tmp_path), tmp_path / "v1")
    raw = queries.load(release)
    files: list[str] = []
    for name in ("one", "two"):
        files += ["--predictions", f"{name}={tmp_path / name}.jsonl"]
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for instance, _ in queries.instances(raw):
                record = {"source": instance.source, "id": instance.id, "answers": list(instance.answers)}
                file.write(json.dumps(record) + "\n")
    said = StringIO()
    call_command("evaluate", str(release), *files, "--json", stdout=said)
    whole = json.loads(said.getvalue())
    page = (Path(__file__).parents[2] / "docs" / "reference" / "evaluation.md").read_text("utf-8")
    documented = {
        line.split("|")[1].strip(): [
            re.findall(r'"(\w+)"', found) for found in re.findall(r"`\{(.*?)\}`", line)
        ]
        for line in page.partition("JSON, with shares")[2].partition("## Tables")[0].splitlines()
        if line.startswith("| ")
    }
    (model, _), (difference,) = whole["models"], whole["differences"]
    row = model["rows"][0]
    assert documented["the whole"] == [list(whole)]
    assert documented["a model"] == [list(model)]
    assert documented["a row"] == [list(row)]
    assert documented["a figure"] == [list(row["before"])]
    assert documented["a difference"] == [
        list(difference),
        list(difference["rows"][0]),
        list(difference["rows"][0]["figures"]),
    ]
    assert documented["a gap"] == [[field.name for field in fields(Gap)]]
    assert documented["unsupported"] == [[field.name for field in fields(UnsupportedAnswers)]]
