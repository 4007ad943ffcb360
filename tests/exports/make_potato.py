"""Write a project of Potato and its output with Potato's own server: `make_potato.py FOLDER`. Needs potato-annotation.

Two people sign in, get the forms of `potato/config.yaml`, and enter what `potato_entered.json` says, as a browser
does: an input sends its own schema, label and value.
"""

import json
import os
import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from potato import flask_server
from potato.interaction_tracking import BehavioralData

HERE, FOLDER, PROJECT = Path(__file__).parent.resolve(), Path(sys.argv[1]).resolve(), Path(tempfile.mkdtemp())
ENTERED = json.loads((HERE / "potato_entered.json").read_text("utf-8"))
"""By person, item and schema: options, or what is entered beside each label."""
Input = dict[str, str]


class Page(HTMLParser):
    """The inputs of a page by schema, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inputs: dict[str, list[Input]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        input = {"type": tag, **{name: value or "" for name, value in attrs}}
        if "annotation-input" in input.get("class", "").split():
            self.inputs.setdefault(input["schema"], []).append(input)


def sent(inputs: list[Input], entered: dict[str, str]) -> dict[str, str]:
    """Labels with values, as `syncAnnotationsFromDOM` of annotation.js collects them. A checked input has its own value."""
    labels = {}
    for label, value in entered.items():
        with_label = [input for input in inputs if input["label_name"] == label]
        checked = [
            one for one in with_label if one["type"] in ("radio", "checkbox") and value in ("x", one["value"])
        ]
        assert with_label, (label, inputs)
        assert checked or with_label[0]["type"] not in ("radio", "checkbox"), (label, value, inputs)
        labels[label] = checked[0]["value"] if checked else value
    return labels


shutil.copy(HERE / "potato" / "config.yaml", PROJECT / "config.yaml")
(PROJECT / "items.json").write_text(
    json.dumps([{"id": f"nu-{n}", "text": "Which film?"} for n in (0, 1)]), "utf-8"
)
os.chdir(PROJECT)
app = flask_server.create_app("config.yaml")
for user, by_item in ENTERED.items():
    client = app.test_client()
    client.post("/auth", data={"email": user, "pass": "", "action": "login"}, follow_redirects=True)
    page = Page(client.get("/annotate").get_data(as_text=True))
    for number, (item, by_schema) in enumerate(by_item.items()):
        spans = by_schema.pop("spans", [])
        labels = {
            f"{schema}:{label}": value
            for schema, entered in by_schema.items()
            for label, value in sent(page.inputs[schema], entered).items()
        }
        update = {"instance_id": item, "annotations": labels, "span_annotations": spans}
        reply = client.post("/updateinstance", json=update)
        assert reply.get_json()["status"] == "success", reply.get_data()
        state = flask_server.get_user_state(user)
        # Times of the server would differ each time.
        state.instance_id_to_behavioral_data[item] = BehavioralData(
            instance_id=item, session_start=1746327700.0 + number, session_end=1746327721.0 + number
        )
    (FOLDER / user).mkdir(parents=True)
    state.save(str(FOLDER / user))
shutil.copy(PROJECT / "config.yaml", FOLDER / "config.yaml")
