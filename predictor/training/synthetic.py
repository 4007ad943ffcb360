"""Questions generated from tables by templates, each with its derivation.

Gold answers teach the rare operations badly: a sum is right once in fifty questions and often by chance. A generated
question says exactly which rows are added up. The words are plain on purpose; real questions teach the wording. Only the
tables that are given are used, so no table of the development set is used.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from predictor.bundled.table_features import TableReading
from predictor.training.aggregation_templates import AGGREGATIONS
from predictor.training.lookup_templates import LOOKUPS
from predictor.training.question_table import Impossible, QuestionTable, SyntheticQuestion
from tableqa.data.tables import Table

MOST_ROWS = 90
"""Rows of the tables that questions are made from."""

_TEMPLATES = LOOKUPS | AGGREGATIONS


def generate_questions(
    tables: Sequence[Table], reading: Callable[[Table], TableReading], count: int, seed: int
) -> Iterator[tuple[TableReading, SyntheticQuestion]]:
    """`count` questions about tables drawn from `tables`; fewer where most tables give none."""
    rng = Random(seed)
    usable = [table for table in tables if 3 <= len(table.rows) <= MOST_ROWS and len(table.header) >= 2]
    templates, weights = list(_TEMPLATES), list(_TEMPLATES.values())
    tries = yielded = 0
    while usable and yielded < count and tries < 40 * count:
        tries += 1
        table = reading(rng.choice(usable))
        try:
            question_table = QuestionTable(table, rng)
            question = rng.choices(templates, weights)[0](question_table)
        except Impossible:
            continue
        yielded += 1
        yield table, question
