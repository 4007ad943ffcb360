"""FREB-TQA (Zhou et al., NAACL 2024): the selection of questions (Tables 1 and 3), and what the automatic kinds make."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reproducing import Figure, number
from tableqa import Example
from tableqa.data.answers import compare
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.perturbations.question_selection import select
from tableqa.perturbations.question_types import lexical, structure_words
from tableqa.readers import READERS

PART_ONE = {
    "wtq": "wtq_factoid_dev.json",
    "sqa": "sqa_factoid_dev.json",
    "tat": "tat_factoid_dev.json",
    "wikisql": "wikisql_factoid_dev.partial.json",
}
PART_THREE = "tat_nonfactoid_dev_no_shuffle_{}.json"
KINDS_OF_PART_ONE = [
    name
    for name, kind in PERTURBATIONS.items()
    if kind.paper == "FREB-TQA" and name not in ("mask_cell", "escape_table", "relevant_row_shuffle")
]
SELECTED, PAPER = "Tables 1 and 3: selected questions", "The same with the rules in the text of section 3.2"
PERTURBED = "Section 3.3: structural perturbations of the released extraction questions, five seeds"


def figures(data: Path) -> Iterator[Figure]:
    """Every figure of the page."""
    wtq = list(READERS["wtq"](data / "wtq" / "random-split-1-dev.tsv"))
    sqa = list(READERS["sqa"](data / "sqa" / "random-split-1-dev.tsv"))
    tat = list(READERS["tat_qa"](data / "tatqa"))
    aggregations = [record["sql"]["agg"] for record in lines(data / "wikisql" / "dev.jsonl")]
    released = {
        name: list(READERS["freb_tqa"](data / "freb_tqa" / "01_str" / file))
        for name, file in PART_ONE.items()
    }
    yield from _selected(wtq, sqa, tat, aggregations, released)
    yield from _by_the_text(wtq, sqa, tat, data)
    yield from _total()
    yield from _perturbed(released)
    yield from _part_three(data / "freb_tqa" / "03_agg_com")


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON Lines that ends with a line break."""
    with path.open(encoding="utf-8") as held:
        return [json.loads(line) for line in held if line.strip()]


def _selected(
    wtq: Sequence[Example],
    sqa: Sequence[Example],
    tat: Sequence[Example],
    aggregations: Sequence[int],
    released: dict[str, list[Example]],
) -> Iterator[Figure]:
    rule = {one.id: lexical(one.question, one.table, one.answers).label for one in wtq}
    chosen = {
        "sqa": list(select(sqa, source="sqa", kind="extraction")),
        "tat": list(select(tat, source="tat_qa", kind="extraction")),
    }
    for name, title in (("sqa", "SQA"), ("tat", "TAT-QA")):
        same = [one.meta.get("id", one.id) for one in chosen[name]] == [
            one.meta.get("id", one.id) for one in released[name]
        ]
        yield Figure(
            SELECTED,
            f"extraction, {title}",
            number(len(chosen[name])),
            number(len(released[name])),
            "the same questions in the same order as the released file" if same else "other questions",
        )
    yield Figure(
        SELECTED,
        "extraction, WikiSQL",
        number(sum(one == 0 for one in aggregations)),
        "6,013",
        "every question of the dev split whose logical form has no aggregation; the public file is truncated, so the four "
        "missing questions are unknown",
    )
    of_rule = sum(rule.get(one.id) == "extraction" for one in released["wtq"])
    yield Figure(
        SELECTED,
        "extraction, WikiTableQuestions: released questions that the lexical rule classifies as extraction",
        number(of_rule),
        number(len(released["wtq"])),
        "the rule and a language model must agree, and the replies of the model are not public. Our rule alone classifies "
        f"{number(sum(label == 'extraction' for label in rule.values()))} questions of the split as "
        "extraction. Of the other six, three compare (“longer”, “taller”, “later”), and the answers of three are not cells",
    )
    yield Figure(
        SELECTED,
        "reasoning, WikiTableQuestions",
        number(sum(label == "reasoning" for label in rule.values())),
        "1,562",
        "the paper finds comparatives and superlatives with a tagger; Askew uses a list of words "
        "(`tableqa.perturbations.question_types`) and its own comparison of answers with cells",
    )
    reasoning = sum(1 for _ in select(tat, source="tat_qa", kind="reasoning"))
    yield Figure(SELECTED, "reasoning, TAT-QA", number(reasoning), "539")


def _by_the_text(
    wtq: Sequence[Example], sqa: Sequence[Example], tat: Sequence[Example], data: Path
) -> Iterator[Figure]:
    word = "the text excludes extraction questions on the order of rows; the released files include them"
    for source, title, held, theirs in (("sqa", "SQA", sqa, "157"), ("tat_qa", "TAT-QA", tat, "114")):
        found = sum(1 for _ in select(held, source=source, kind="extraction", rules="paper"))
        yield Figure(PAPER, f"extraction, {title}", number(found), theirs, word)
    asked = [one for one in lines(data / "wikisql" / "dev.jsonl") if one["sql"]["agg"] == 0]
    found = sum(not structure_words(one["question"]) for one in asked)
    yield Figure(PAPER, "extraction, WikiSQL", number(found), "6,013", word)
    found = sum(1 for _ in select(tat, source="tat_qa", kind="reasoning", rules="paper"))
    yield Figure(
        PAPER,
        "reasoning, TAT-QA",
        number(found),
        "539",
        "the released file lacks questions without a cell that contains a number of the derivation",
    )
    share = sum(bool(structure_words(one.question)) for one in wtq) / len(wtq)
    yield Figure(
        PAPER,
        "share of WikiTableQuestions dev with a word from the list in A.3",
        number(share),
        "0.10",
        "the list matches more questions than the paper's “around 10 %”",
    )


def _total() -> Iterator[Figure]:
    extraction, reasoning = 205 + 6_013 + 157 + 114, 1_562 + 539
    title = "Size of the benchmark: sum of the paper's counts, one instance per question and kind"
    yield Figure(title, "extraction questions", number(extraction), "6,489")
    yield Figure(title, "reasoning questions", number(reasoning), "2,101")
    total = extraction * 10 + reasoning * 3 + 2_006 * 2
    yield Figure(
        title, "6,489 x 10 + 2,101 x 3 + 2,006 x 2", number(total), "75,205", "seeds are not counted"
    )


def _perturbed(released: dict[str, list[Example]]) -> Iterator[Figure]:
    questions = 0
    made: Counter[str] = Counter()
    idle: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS_OF_PART_ONE}
    for example in (one for name in PART_ONE for one in released[name]):
        questions += 1
        for kind in KINDS_OF_PART_ONE:
            for seed in SEEDS if PERTURBATIONS[kind].seeded else SEEDS[:1]:
                one = PERTURBATIONS[kind](example, seed)
                if one.is_noop:
                    idle[kind][_FIT.sub("they do not fit into the region", one.reason.rstrip("."))] += 1
                else:
                    made[kind] += 1
    yield Figure(
        PERTURBED,
        "questions",
        number(questions),
        "6,489",
        "the public WikiSQL file has 1,153 of 6,013 questions; all others are complete",
    )
    for kind in KINDS_OF_PART_ONE:
        said = "; ".join(f"{times:,}: {reason}" for reason, times in sorted(idle[kind].items()))
        no_ops = f"{idle[kind].total():,} no-ops ({said})" if said else ""
        yield Figure(PERTURBED, f"`{kind}`", number(made[kind]), "", no_ops)
    shifts = [kind for kind in KINDS_OF_PART_ONE if kind.startswith("target")]
    nothing = sum(idle[kind].total() for kind in shifts)
    yield Figure(
        PERTURBED,
        "share of target shifts without effect on the table",
        number(nothing / (nothing + sum(made[kind] for kind in shifts))),
        "0.28",
        "the paper's share is from the released files, where they count as perturbations. Ours is higher because rows that "
        "do not all fit into a region stay where they are; none is an instance",
    )


_FIT = re.compile(r"\d+ rows or columns do not fit into \d+ positions")


def _part_three(folder: Path) -> Iterator[Figure]:
    title = "Section 3.5: the released edits of TAT-QA"
    sides = {
        side: list(READERS["freb_tqa"](folder / PART_THREE.format(side)))
        for side in ("ori_table", "short_table", "ans_change", "ans_no_change")
    }
    ids = {side: [one.id for one in held] for side, held in sides.items()}
    equal = len({tuple(held) for held in ids.values()}) == 1
    yield Figure(title, "questions in each of the four files", number(len(ids["ori_table"])), "537")
    yield Figure(
        title,
        "the four files have equal ids in equal order",
        "yes" if equal else "no",
        "yes",
    )
    for side, should in (("ans_change", "differs"), ("ans_no_change", "stays")):
        pairs = list(zip(sides["short_table"], sides[side], strict=True))
        edited = [(one, other) for one, other in pairs if not one.table.same_content(other.table)]
        yield Figure(
            title,
            f"`{side}`: tables without an edit",
            number(len(pairs) - len(edited)),
            "0",
            "the paper requires one or two edited cells; these tables have none",
        )
        stays = sum(compare(one.answers, other.answers).equal for one, other in edited)
        right = stays if should == "stays" else len(edited) - stays
        yield Figure(
            title,
            f"`{side}`: edited tables whose answer {should}",
            number(right),
            number(len(edited)),
            "Askew compares numbers by value, in any form" if right != len(edited) else "",
        )
