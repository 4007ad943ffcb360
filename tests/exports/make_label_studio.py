"""Write a labeling configuration and an export with the SDK of Label Studio: `make_label_studio.py FOLDER`.

Every control of the SDK has one result, made and validated by the SDK. `controls.txt` lists the controls. The forms of task
and annotation are those of the server's JSON export: `test_label_studio_server.py` gives the file to a server.
"""

import json
import sys
from pathlib import Path
from typing import Any

from label_studio_sdk.label_interface import LabelInterface
from label_studio_sdk.label_interface.control_tags import _TAG_TO_CLASS

CONFIG = """<View>
  <Text name="text" value="$question"/>
  <Table name="grid" value="$cells"/>
  <HyperText name="page" value="$page"/>
  <Paragraphs name="talk" value="$talk"/>
  <List name="items" value="$items"/>
  <Text name="left" value="$question"/>
  <Text name="right" value="$question"/>
  <Image name="picture" value="$picture"/>
  <Video name="film" value="$film"/>
  <TimeSeries name="series" value="$series" valueType="json"/>
  <Chat name="chat" value="$chat"/>
  <Choices name="kind" toName="text"><Choice value="read"/><Choice value="computed"/><Choice value="unsure"/></Choices>
  <Choices name="topics" toName="text" choice="multiple">
    <Choice value="sport"/><Choice value="café"/><Choice value="film"/>
  </Choices>
  <Taxonomy name="place" toName="text">
    <Choice value="Europe"><Choice value="France"/></Choice><Choice value="Asia"/>
  </Taxonomy>
  <Rating name="stars" toName="text" maxRating="10"/>
  <Number name="share" toName="text" min="-5" max="100" step="0.5"/>
  <Number name="loss" toName="text"/>
  <DateTime name="made" toName="text" only="date"/>
  <TextArea name="why" toName="text"/>
  <Pairwise name="better" toName="left,right"/>
  <Ranker name="order" toName="items"/>
  <Labels name="names" toName="text"><Label value="Film"/><Label value="Year"/></Labels>
  <HyperTextLabels name="parts" toName="page"><Label value="Cell"/></HyperTextLabels>
  <ParagraphLabels name="turns" toName="talk"><Label value="Doubt"/></ParagraphLabels>
  <Relations><Relation value="of"/></Relations>
  <Brush name="brush" toName="picture"/>
  <BrushLabels name="brushed" toName="picture"><Label value="A"/></BrushLabels>
  <Bitmask name="bitmask" toName="picture"/>
  <BitmaskLabels name="bitmasked" toName="picture"><Label value="A"/></BitmaskLabels>
  <MagicWand name="wand" toName="picture"/>
  <Ellipse name="ellipse" toName="picture"/>
  <EllipseLabels name="ellipses" toName="picture"><Label value="A"/></EllipseLabels>
  <KeyPoint name="point" toName="picture"/>
  <KeyPointLabels name="points" toName="picture"><Label value="A"/></KeyPointLabels>
  <Vector name="vector" toName="picture"/>
  <VectorLabels name="vectors" toName="picture"><Label value="A"/></VectorLabels>
  <OcrLabels name="printed" toName="picture"><Label value="A"/></OcrLabels>
  <Polygon name="polygon" toName="picture"/>
  <PolygonLabels name="polygons" toName="picture"><Label value="A"/></PolygonLabels>
  <Rectangle name="box" toName="picture"/>
  <RectangleLabels name="boxes" toName="picture"><Label value="A"/></RectangleLabels>
  <VideoRectangle name="tracked" toName="film"/>
  <VideoVector name="path" toName="film"/>
  <VideoVectorLabels name="paths" toName="film"><Label value="A"/></VideoVectorLabels>
  <TimelineLabels name="scenes" toName="film"><Label value="A"/></TimelineLabels>
  <TimeSeriesLabels name="peaks" toName="series"><Label value="A"/></TimeSeriesLabels>
  <ChatMessage name="chatted" toName="chatted"/>
  <ReactCode name="coded" toName="coded" outputs="a, b"/>
</View>"""
POINT = {"x": 10.0, "y": 20.0}
BOX = {**POINT, "width": 30.0, "height": 40.0}
MASK = {"format": "rle", "rle": [0, 1, 255]}
IMAGE = {"imageDataURL": "data:image/png;base64,AA=="}
VERTICES = {"vertices": [{"x": 1.0, "y": 2.0}]}
FRAMES = {"framesCount": 2, "duration": 1.5}
TRIANGLE = {"points": [(1, 1), (2, 2), (1, 2)]}
OVAL = {**POINT, "radiusX": 5.0, "radiusY": 6.0}
ADA: dict[str, Any] = {
    "kind": {"choices": ["read"]},
    "topics": {"choices": ["café"]},
    "place": {"taxonomy": [["Europe", "France"], ["Asia"]]},
    "stars": {"rating": 7},
    "share": {"number": 0.5},
    "loss": {"number": -3.25},
    "made": {"datetime": ["1995-12-15"]},
    "why": {"text": ["Read it.\nTwice."]},
    "better": "left",
    "order": {"ranker": {"order": ["b", "a", "c"]}},
    "names": {"labels": ["Film"], "start": 9, "end": 13},
    "parts": {"hypertextlabels": ["Cell"], "start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]",
              "startOffset": 0, "endOffset": 4},
    "turns": {"paragraphlabels": ["Doubt"], "start": "0", "end": "1", "startOffset": 2, "endOffset": 3},
}  # fmt: skip
BO: dict[str, Any] = {
    "kind": {"choices": ["computed"]},
    "topics": {"choices": ["sport", "film"]},
    "place": {"taxonomy": [["Europe"]]},
    "stars": {"rating": 1},
    "share": {"number": -5},
    "loss": {"number": 1000000},
    "made": {"datetime": ["2024-02-29"]},
    "why": {"text": ["0"]},
    "better": "right",
    "order": {"ranker": {"order": ["c", "b", "a"]}},
    "names": {"labels": ["Film", "Year"], "start": 0, "end": 4},
    "parts": {"hypertextlabels": ["Cell"], "start": "/p[2]/text()[1]", "end": "/p[2]/text()[1]",
              "startOffset": 1, "endOffset": 2},
    "turns": {"paragraphlabels": ["Doubt"], "start": "1", "end": "1", "startOffset": 0, "endOffset": 1},
}  # fmt: skip
OTHERS: dict[str, Any] = {
    "kind": {"choices": ["read"]},
    "brush": MASK,
    "brushed": {**MASK, "brushlabels": ["A"]},
    "bitmask": IMAGE,
    "bitmasked": {**IMAGE, "bitmasklabels": ["A"]},
    "wand": MASK,
    "ellipse": OVAL,
    "ellipses": {**OVAL, "ellipselabels": ["A"]},
    "point": POINT,
    "points": {**POINT, "keypointlabels": ["A"]},
    "vector": VERTICES,
    "vectors": {**VERTICES, "vectorlabels": ["A"]},
    "printed": {**BOX, "ocrlabels": ["A"]},
    "polygon": TRIANGLE,
    "polygons": {**TRIANGLE, "polygonlabels": ["A"]},
    "box": BOX,
    "boxes": {**BOX, "rectanglelabels": ["A"]},
    "tracked": {**FRAMES, "sequence": [{**BOX, "time": 0.0, "frame": 1}]},
    "path": {**FRAMES, "sequence": [{"frame": 1, **VERTICES}]},
    "paths": {**FRAMES, "sequence": [{"frame": 1, **VERTICES}], "labels": ["A"]},
    "scenes": {"ranges": [{"start": 1, "end": 2}], "timelinelabels": ["A"]},
    "peaks": {"start": 1, "end": 2, "instant": False, "timeserieslabels": ["A"]},
    "chatted": {"chatmessage": {"role": "user", "content": "Hello"}},
    "coded": {"a": "1", "b": "2"},
}
TABLE = [["Film", "Year"], ["Heat", "1995"], ["Alien", "1979"]]
interface = LabelInterface(CONFIG)


def results(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of an annotation, each with the id of its control."""
    regions = [region(name, value) for name, value in values.items()]
    by_name = {one.from_tag.name: one for one in regions}
    if "turns" in by_name:
        by_name["names"].add_relation(by_name["turns"], label=["of"])
    written = [one._dict() for one in regions]
    for one in written:
        # The validation of the SDK knows no control that is its own object.
        assert one["to_name"] == one["from_name"] or interface.validate_region(one), one
    return written + [relation for one in regions if one.has_relations for relation in one._dict_relations()]


def region(name: str, value: Any) -> Any:
    """A result that the SDK makes."""
    control = interface.get_control(name)
    made = control.label(value) if isinstance(value, str) else None
    made = made or (control.label(**value) if name == "coded" else control._label_simple(**value))
    made.id, made.to_tag = name, made.to_tag or control
    return made


def annotation(number: int, person: int, values: dict[str, Any]) -> dict[str, Any]:
    at = "2026-03-02T12:00:00.000000Z"
    return {"id": number, "completed_by": person, "result": results(values), "was_cancelled": False,
            "ground_truth": False, "created_at": at, "updated_at": at, "draft_created_at": at, "lead_time": 4.5,
            "prediction": {}, "result_count": len(values), "unique_id": f"unique-{number}", "import_id": None,
            "last_action": None, "bulk_created": False, "task": 1, "project": 1, "updated_by": person,
            "parent_prediction": None, "parent_annotation": None, "last_created_by": None}  # fmt: skip


def task(number: int, question: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    names, *rows = TABLE
    data = {"question": question, "table": TABLE, "answers": ["1995"],
            "cells": [dict(zip(names, row, strict=True)) for row in rows], "page": "<p>Heat</p><p>Alien</p>",
            "talk": [{"author": "Ada", "text": "Hm."}, {"author": "Bo", "text": "Yes."}],
            "items": [{"id": id, "title": id} for id in "abc"], "picture": "/a.png", "film": "/a.mp4",
            "series": {"time": [0, 1], "value": [1, 2]}, "chat": []}  # fmt: skip
    return {"id": number, "annotations": annotations, "file_upload": "", "drafts": [], "predictions": [],
            "data": data, "meta": {}, "created_at": "2026-03-01T12:00:00.000000Z",
            "updated_at": "2026-03-02T12:00:00.000000Z", "inner_id": number,
            "total_annotations": len(annotations), "cancelled_annotations": 0, "total_predictions": 0,
            "comment_count": 0, "unresolved_comment_count": 0, "last_comment_updated_at": None, "project": 1,
            "updated_by": 1, "comment_authors": []}  # fmt: skip


folder = Path(sys.argv[1])
folder.mkdir(parents=True)
tasks = [
    task(1, "when did Heat come out?", [annotation(1, 1, ADA), annotation(2, 2, BO)]),
    task(2, "which film is older?", [annotation(3, 1, OTHERS)]),
]
(folder / "export.json").write_text(json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", "utf-8")
(folder / "export.xml").write_text(CONFIG + "\n", "utf-8")
(folder / "controls.txt").write_text("\n".join(sorted(_TAG_TO_CLASS)) + "\n", "utf-8")
