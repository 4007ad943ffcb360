"""Write a dataset with the SDK of Argilla, without a server: `make_argilla.py FOLDER`. Needs argilla and requests."""

import sys
import uuid
from pathlib import Path
from unittest.mock import MagicMock

import argilla as rg
from argilla.records._io import JsonIO

rg.Argilla._get_default = classmethod(lambda cls: MagicMock())  # settings ask for a client, and do not use it
TABLE = "Film,Year\nHeat,1995\nAlien,1979\n"
ADA, BO = uuid.UUID(int=1), uuid.UUID(int=2)


def response(question: str, value: object, user: uuid.UUID) -> rg.Response:
    return rg.Response(question_name=question, value=value, user_id=user, status="submitted")


folder = Path(sys.argv[1])
(folder / ".argilla").mkdir(parents=True)
rg.Settings(
    fields=[rg.TextField(name="question"), rg.TextField(name="table")],
    questions=[
        rg.LabelQuestion(name="kind", labels={"read": "Read it", "computed": "Computed", "unsure": "Unsure"}),
        rg.MultiLabelQuestion(name="topics", labels=["sport", "film"], required=False),
        rg.RatingQuestion(name="quality", values=[1, 2, 3, 4, 5], required=False),
        rg.RankingQuestion(name="order", values=["first", "second"], required=False),
        rg.TextQuestion(name="why", required=False),
        rg.SpanQuestion(name="names", field="question", labels=["film", "year"], required=False),
    ],
    vectors=[rg.VectorField(name="embedding", dimensions=2)],
    metadata=[
        rg.TermsMetadataProperty(name="answers"),
        rg.IntegerMetadataProperty(name="page"),
        rg.FloatMetadataProperty(name="length"),
    ],
    guidelines="Read the table.",
).to_json(folder / ".argilla" / "settings.json")
JsonIO.to_json(
    [
        rg.Record(
            id="q1",
            fields={"question": "when did Heat come out?", "table": TABLE},
            metadata={"answers": "1995", "page": 3, "length": 0.5},
            vectors={"embedding": [0.25, -1.5]},
            responses=[
                response("kind", "read", ADA),
                response("kind", "computed", BO),
                response("topics", ["film"], ADA),
                response("quality", 4, ADA),
                response("quality", 2, BO),
                response("order", ["second", "first"], BO),
                response("why", "Read it.", ADA),
                response("names", [{"label": "film", "start": 9, "end": 13}], ADA),
            ],
            suggestions=[
                rg.Suggestion(question_name="kind", value="read", score=0.9),
                rg.Suggestion(question_name="quality", value=3),
            ],
        ),
        rg.Record(
            id="q2",
            fields={"question": "which film is older?", "table": TABLE},
            metadata={"answers": "Alien"},
            responses=[response("kind", "computed", ADA), response("kind", "computed", BO)],
        ),
    ],
    folder / "records.json",
)
