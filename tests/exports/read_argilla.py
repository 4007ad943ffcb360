"""Read a dataset folder as `argilla.Dataset.from_disk` does, without a server: `read_argilla.py FOLDER`.

Prints the number of records, responses and questions as JSON.
"""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

import argilla as rg
from argilla.records._io import JsonIO

rg.Argilla._get_default = classmethod(lambda cls: MagicMock())
folder = Path(sys.argv[1])
dataset = rg.Dataset._load_dataset_model(path=folder / ".argilla" / "dataset.json")
settings = rg.Settings.from_json(folder / ".argilla" / "settings.json")
settings.validate()
records = JsonIO._records_from_json(folder / "records.json")
print(
    json.dumps(
        {
            "name": dataset.name,
            "questions": [question.name for question in settings.questions],
            "records": len(records),
            "responses": sum(len(list(record.responses)) for record in records),
        }
    )
)
