"""Which questions of a dataset FREB-TQA is about (Zhou et al. 2024, section 3.2): extraction and reasoning questions.

    select(examples, source="sqa", kind="extraction", rules="released") -> Iterator[Example]

| source | extraction | reasoning |
|---|---|---|
| sqa | the first question of a sequence, if it has one answer | not used |
| wikisql | the logical form has no aggregation | not used |
| tat_qa | a span of the table; no derivation, no comparison | the table is enough, and there is a derivation |
| wtq | the lexical rule and a language model say so | the lexical rule says so |

The released files and the paper differ. `rules="released"` is measured on the files: no question is left out for its
words, and of TAT-QA's reasoning questions those stay for which a relevant cell was found, that is, where a number of the
derivation is the number in a cell. `rules="paper"` follows the text: extraction questions about the order
of rows (appendix A.3) are left out, and every reasoning question stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, Literal

from tableqa.data.examples import Example
from tableqa.perturbations.question_types import Reply, by_model, combined, lexical, structure_words

Kind = Literal["extraction", "reasoning"]
Rules = Literal["released", "paper"]
AskModel = Callable[[Example], Reply | None]
Rule = Callable[[Example], bool]

KINDS = ("extraction", "reasoning")
RULES = ("released", "paper")


class SelectionError(ValueError):
    """There is no rule for this, or an example lacks what the rule looks at; the message says which and how to fix it."""


def select(
    examples: Iterable[Example],
    source: str,
    kind: Kind,
    rules: Rules = "released",
    model: AskModel | None = None,
) -> Iterator[Example]:
    """The examples of `source` (the name of their reader) that FREB-TQA takes as `kind`, in their order, one at a time.

    model   for extraction questions of wtq: gives the reply of a language model to `question_types.request`

    SelectionError at once for a source or kind without a rule; while reading, for an example that another reader made.
    """
    rule = _rule(source, kind, rules, model)
    return (example for example in examples if rule(example))


def _rule(source: str, kind: str, rules: str, model: AskModel | None) -> Rule:
    if kind not in KINDS:
        raise SelectionError(f"kind is {kind!r}: it is {' or '.join(KINDS)}")
    if rules not in RULES:
        raise SelectionError(f"rules is {rules!r}: it is {' or '.join(RULES)}")
    if source == "wtq" and kind == "extraction":
        if model is None:
            raise SelectionError(
                "extraction questions of wtq need a language model beside the lexical rule. Give `model`, a function from "
                "an example to its reply; question_types.request writes the request and read_reply reads the reply"
            )
        base = _by_both(model)
    elif (source, kind) in _RULES:
        base = _RULES[source, kind]
    else:
        selectable = ", ".join(
            sorted(
                f"{rule_source} {rule_kind}" for rule_source, rule_kind in (*_RULES, ("wtq", "extraction"))
            )
        )
        raise SelectionError(f"FREB-TQA selects no {kind} questions from {source}; it selects: {selectable}")
    if rules == "paper" and kind == "extraction":
        return lambda example: base(example) and not structure_words(example.question)
    if rules == "released" and (source, kind) == ("tat_qa", "reasoning"):
        return lambda example: base(example) and _has_relevant_cell(example)
    return base


def _meta(example: Example, source: str, name: str) -> Any:
    if name not in example.meta:
        raise SelectionError(
            f"the example {example.id} has no {name} in meta, as examples of {source} have. Read them with "
            f"READERS[{source!r}]"
        )
    return example.meta[name]


def _sqa_extraction(example: Example) -> bool:
    return _meta(example, "sqa", "position") == 0 and len(example.answers) == 1


def _wikisql_extraction(example: Example) -> bool:
    return bool(_meta(example, "wikisql", "sql")["agg"] == 0)


def _tat_extraction(example: Example) -> bool:
    derivation, compares = (_meta(example, "tat_qa", name) for name in ("derivation", "req_comparison"))
    return (
        _meta(example, "tat_qa", "answer_from") == "table"
        and _meta(example, "tat_qa", "answer_type") == "span"
        and not derivation
        and not compares
    )


def _tat_reasoning(example: Example) -> bool:
    return _meta(example, "tat_qa", "answer_from") == "table" and bool(_meta(example, "tat_qa", "derivation"))


_NUMBER = r"\d[\d,]*(?:\.\d+)?|\.\d+"
_NUMBERS = re.compile(_NUMBER)
_ONE_NUMBER = re.compile(rf"[\s$€£¥()%+–—-]*({_NUMBER})[\s$€£¥()%]*")


def _has_relevant_cell(example: Example) -> bool:
    """Whether a cell below the header is a number, with any sign and unit, that the derivation names."""
    named = {_value(text) for text in _NUMBERS.findall(example.meta["derivation"])}
    cells = (_ONE_NUMBER.fullmatch(cell) for row in example.table.rows for cell in row)
    return any(_value(match[1]) in named for match in cells if match)


def _value(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _by_rule(example: Example) -> bool:
    return lexical(example.question, example.table, example.answers).label == "reasoning"


def _by_both(model: AskModel) -> Rule:
    def rule(example: Example) -> bool:
        guess = lexical(example.question, example.table, example.answers)
        # The model is asked only where its word counts.
        return guess.label == "extraction" and combined(guess, by_model(model(example))).label == "extraction"

    return rule


_RULES: dict[tuple[str, str], Rule] = {
    ("sqa", "extraction"): _sqa_extraction,
    ("wikisql", "extraction"): _wikisql_extraction,
    ("tat_qa", "extraction"): _tat_extraction,
    ("tat_qa", "reasoning"): _tat_reasoning,
    ("wtq", "reasoning"): _by_rule,
}
