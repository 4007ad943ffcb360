"""Parquet and datasets on disk, in and out, against the packages themselves: left out where these are not installed."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tableqa import Example
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import RULES
from tableqa.readers import READERS, MappedReader, ReaderError, Rejection, arrow, checked_outcomes
from tableqa.readers.interface import Credit, credit, joined_credit
from tableqa.writers import croissant, hub, hub_features, whole_examples

SOURCE = {
    "name": "films",
    "reader": "wtq",
    "split": "dev",
    "licence": "CC-BY-SA-4.0",
    "citation": "Us. 2026.",
    "url": "https://example.org/films",
}
MANIFEST: dict[str, Any] = {
    "rules": RULES,
    "project": "films",
    "title": "Films",
    "name": "v1",
    "number": 1,
    "dates": {"first": "2026-03-02T12:00:00+00:00", "last": "2026-03-03T12:00:00+00:00"},
    "statement": {
        "form": hub.FORM,
        "said": dict.fromkeys(
            (
                *hub.USES,
                "language",
                "recruitment",
                "payment",
                "training",
                "risks",
                "consent",
                "ethics",
                "population",
            ),
            "",
        ),
        **dict.fromkeys(("pay", "qualification", "consent"), ()),
        "practised": 0,
        "characteristics": {},
    },
    "sources": [SOURCE],
    "counts": {
        "annotations": 3,
        "annotators": 2,
        "accepted": 1,
        "simulated_annotators": 0,
        "responses": 3,
        "respondents": 2,
        "answered_items": 2,
    },
    "batches": [],
    "agreement": [],
    "guidelines": [],
}


def test_fields_of_one_name_are_refused(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    twice = pyarrow.StructArray.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"])
    columns = {"question": ["who?"], "answers": ["Bob"], "table": ["Name\nBob"]}
    parquet.write_table(pyarrow.table({**columns, "level": twice}), tmp_path / "q.parquet")

    with pytest.raises(ReaderError, match="duplicate field names"):
        list(READERS["own"](tmp_path / "q.parquet"))


@pytest.fixture(scope="module")
def dev(test_data: Path) -> list[Example]:
    """Examples of every kind that the sources have: dialogues, paragraphs, titles, marked cells."""
    found: list[Example] = []
    for name, path in (
        ("wtq", "wtq/random-split-1-dev.tsv"),
        ("sqa", "sqa/random-split-1-dev.tsv"),
        ("tat_qa", "tatqa/tatqa_dataset_dev.json"),
        ("fetaqa", "fetaqa/fetaQA-v1_dev.jsonl"),
    ):
        found += READERS[name](test_data / path, limit=60)
    return found


def rows(examples: list[Example]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "question": one.question,
            "answers": list(one.answers),
            "table": {"header": list(one.table.header), "rows": [list(row) for row in one.table.rows]},
        }
        for one in examples
    ]


def same(found: list[Example], expected: list[Example]) -> bool:
    return all(
        one.table.same_content(other.table)
        and (one.id, one.question, one.answers) == (other.id, other.question, other.answers)
        for one, other in zip(found, expected, strict=True)
    )


@pytest.fixture
def released(tmp_path: Path, dev: list[Example]) -> Path:
    """A dataset as a release of the format hf has it."""
    path = tmp_path / whole_examples.config_file(whole_examples.ORIGINAL, SOURCE["split"])
    path.parent.mkdir(parents=True)
    path.write_text(lines_of(dev), "utf-8", newline="\n")
    hub_features.write_parquet(tmp_path)
    (tmp_path / "annotations.jsonl").write_text('{"other": 1}\n')
    return tmp_path


def lines_of(examples: list[Example]) -> str:
    lines = (whole_examples.Line(SOURCE, one) for one in examples)
    return "".join(canonical(whole_examples.hub_record(line)) + "\n" for line in lines)


def finished(folder: Path) -> Path:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    shas = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
    (folder / hub.CARD).write_text(hub.card(MANIFEST, shas), "utf-8")
    (folder / hub.CROISSANT).write_text(croissant.croissant(MANIFEST, shas, folder), "utf-8")
    return folder


def test_records_of_a_release_hold_the_examples_whole(released: Path, dev: list[Example]) -> None:
    assert list(READERS["hf"](released)) == dev


def test_sources_without_a_licence_are_among_the_licences() -> None:
    credits = ("CC-BY-SA-4.0", "NOASSERTION", "MIT")
    sources = [{"name": name, "licence": name, "citation": "", "url": ""} for name in credits]
    spdx = [f"https://spdx.org/licenses/{name}.html" for name in ("CC-BY-SA-4.0", "MIT")]
    assert hub.licence_addresses({**MANIFEST, "sources": sources}) == [*spdx[:2], "NOASSERTION"]


CHOICE = "MIT OR Apache-2.0"
PAGE = "https://spdx.org/licenses/{}.html"


@pytest.mark.parametrize(
    ("licences", "tags", "stated"),
    [
        (["MIT"], ["mit"], [PAGE.format("MIT")]),
        (["CC0-1.0 AND MIT"], ["cc0-1.0", "mit"], [PAGE.format("CC0-1.0"), PAGE.format("MIT")]),
        ([CHOICE], ["other"], [CHOICE]),
        ([CHOICE, "CC0-1.0"], ["other"], [PAGE.format("CC0-1.0"), CHOICE]),
        (["ask the authors"], ["other"], ["ask the authors"]),
        (["MIT", "NOASSERTION"], ["other"], [PAGE.format("MIT"), "NOASSERTION"]),
    ],
)
def test_only_an_identifier_has_a_tag_and_an_address(
    licences: list[str], tags: list[str], stated: list[str]
) -> None:
    sources = [{**SOURCE, "name": name, "licence": name} for name in licences]
    manifest = {**MANIFEST, "sources": sources, "rules": RULES}

    header = yaml.safe_load(hub.card(manifest, {}).split("---")[1])

    assert header["license"] == tags
    assert hub.licence_addresses(manifest) == stated


def test_a_choice_of_licences_stays_one_where_licences_are_joined() -> None:
    credits = [Credit(licence, "", "") for licence in (CHOICE, "CC0-1.0", CHOICE)]
    assert joined_credit(credits[::2]).licence == CHOICE
    assert joined_credit(credits).licence == f"CC0-1.0 AND ({CHOICE})"
    assert joined_credit([Credit(f"CC0-1.0 AND ({CHOICE})", "", "")]).licence == f"CC0-1.0 AND ({CHOICE})"


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("Tables \U0001f600 \x7f \x85 \ufeff")
def test_the_header_of_a_card_says_the_name_of_the_project(name: str) -> None:
    """Also beyond the first plane: PyYAML reads halves from an escaped surrogate pair."""
    header = hub.card({**MANIFEST, "title": name}, {}).split("\n---\n")[0]
    assert header.isascii()
    assert yaml.safe_load(header.removeprefix("---\n"))["pretty_name"] == f"{name}, v1"


def test_the_licence_of_a_release_is_read_from_its_croissant(released: Path) -> None:
    said = credit(READERS["hf"], finished(released))
    source = MANIFEST["sources"][0]
    assert said.licence == source["licence"] != "NOASSERTION"
    assert said.citation.splitlines()[1:] == [source["citation"]]


@pytest.mark.parametrize(
    ("info", "licence"),
    [
        ({"license": "CC-BY-4.0", "citation": "Doe 2024", "homepage": "https://doe.example"}, "CC-BY-4.0"),
        ({"license": "", "citation": "Doe 2024", "homepage": "https://doe.example"}, "NOASSERTION"),
    ],
)
def test_the_licence_of_a_saved_dataset_is_read_from_its_info(
    tmp_path: Path, info: dict[str, str], licence: str
) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "dataset_info.json").write_text(json.dumps(info), "utf-8")
    said = credit(READERS["hf"], tmp_path)
    assert (said.licence, said.citation, said.url) == (licence, "Doe 2024", "https://doe.example")


def test_a_dataset_that_names_no_licence_has_none(tmp_path: Path) -> None:
    assert credit(READERS["hf"], tmp_path).licence == "NOASSERTION"
    (tmp_path / "croissant.json").write_text('{"license": [7, null]}', "utf-8")
    assert credit(READERS["hf"], tmp_path).licence == "NOASSERTION"
    (tmp_path / "croissant.json").write_text("{", "utf-8")
    with pytest.raises(ReaderError, match="croissant"):
        credit(READERS["hf"], tmp_path)


def test_a_card_is_yaml_with_every_field(released: Path) -> None:
    import yaml

    text = (finished(released) / hub.CARD).read_text("utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["license"] == ["cc-by-sa-4.0"]
    (info,) = header["dataset_info"]
    assert {feature["name"] for feature in info["features"]} == hub_features.FIELDS_OF_SETS["examples"].keys()
    data_files = [{"split": "dev", "path": "data/original/dev.jsonl"}]
    assert header["configs"] == [{"config_name": "original", "data_files": data_files, "default": True}]
    assert "Us. 2026." in text


@pytest.mark.parametrize(
    ("simulated", "said"),
    [
        (0, "3 responses by 2 people"),
        (1, "3 responses (1 of the 2 annotators simulated by a program)"),
        (2, "3 responses (all simulated by a program)"),
    ],
)
def test_a_card_names_simulated_annotators(simulated: int, said: str) -> None:
    manifest = {**MANIFEST, "counts": {**MANIFEST["counts"], "simulated_annotators": simulated}}
    assert f"\n{said}; 1 items accepted.\n" in hub.card(manifest, {})


def test_parquet_files_and_shards_are_read(tmp_path: Path, dev: list[Example]) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(rows(dev))
    parquet.write_table(table, tmp_path / "all.parquet", row_group_size=50)
    assert same(list(READERS["parquet"](tmp_path / "all.parquet")), dev)
    shards = tmp_path / "data"
    shards.mkdir()
    for split, start in (("train", 0), ("test", 100)):
        parquet.write_table(table.slice(start, 100), shards / f"{split}-00000-of-00001.parquet")
    found = list(READERS["hf"](tmp_path / "data"))
    assert same(found, [*dev[100:200], *dev[:100]])
    assert {one.meta["split"] for one in found} == {"train", "test"}


def test_columns_may_have_any_names_and_numbers_their_shortest_text(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    record = {"frage": "wer?", "t": [{"a": 1, "b": 0.1}], "gold": 7, "tags": ["x"]}
    parquet.write_table(pyarrow.Table.from_pylist([record, record]), tmp_path / "a.parquet")
    reader = READERS["parquet"]
    assert isinstance(reader, MappedReader)
    first, second = reader.with_fields({"question": "frage", "table": "t", "answers": "gold"})(
        tmp_path / "a.parquet"
    )
    assert (first.id, second.id, first.answers) == ("1", "2", ("7",))
    assert first.table.rows == (("1", "0.1"),)
    assert first.meta["tags"] == ("x",)


@pytest.mark.parametrize("name", ["own", "parquet"])
def test_numbers_of_32_and_16_bits_have_the_shortest_text_that_is_them(tmp_path: Path, name: str) -> None:
    import numpy
    import pyarrow
    from pyarrow import parquet

    draw = random.Random(3)
    exact = [draw.uniform(-1, 1) * 10.0 ** draw.randrange(-30, 6) for _ in range(300)]
    singles = [0.1, -2.5, 1e-7, 131072.015625, *exact]
    halves = [0.1, 1 / 3, 6e-8, *(draw.uniform(-9, 9) for _ in range(301))]
    single, half = pyarrow.float32(), pyarrow.float16()
    cells = pyarrow.struct({"a": single, "b": half, "c": pyarrow.float64(), "d": single})
    rows = [
        {"a": a, "b": numpy.float16(b), "c": a, "d": 123456792.0}
        for a, b in zip(singles, halves, strict=True)
    ]
    columns = {
        "question": pyarrow.array(["which?"]),
        "answers": pyarrow.array([singles], pyarrow.list_(single)),
        "table": pyarrow.array([rows], pyarrow.list_(cells)),
        "score": pyarrow.array([0.7], single),
        "level": pyarrow.array([0.7], single).dictionary_encode(),
        "missing": pyarrow.array([float("nan")], single),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")

    (example,) = READERS[name](tmp_path / "a.parquet")

    shortest = [repr(float(str(numpy.float32(value)))) for value in singles]
    assert example.answers == tuple(shortest)
    assert [row[0] for row in example.table.rows] == shortest
    assert [row[1] for row in example.table.rows] == [
        repr(float(str(numpy.float16(value)))) for value in halves
    ]
    assert [row[2] for row in example.table.rows] == list(map(repr, singles))
    assert example.table.rows[0][3] == "123456792.0"
    assert dict(example.meta) == {"score": 0.7, "level": 0.7, "missing": None}


@pytest.mark.parametrize("name", ["own", "parquet"])
def test_a_missing_number_is_null_and_never_the_word_nan(tmp_path: Path, name: str) -> None:
    import pyarrow
    from pyarrow import parquet

    nan = float("nan")
    records = [
        {"question": "which?", "answers": nan, "table": [{"a": 1.5}], "level": {"of": [nan]}},
        {"question": "which?", "answers": 2.5, "table": [{"a": nan}], "level": {"of": [0.5]}},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(records), tmp_path / "a.parquet")

    first, second = checked_outcomes(READERS[name], tmp_path / "a.parquet")

    assert isinstance(first, Example)
    assert (first.answers, first.table.rows) == ((), (("1.5",),))
    assert first.beside()["meta"]["level"] == {"of": [None]}
    assert isinstance(second, Rejection)
    assert "row 1, column 1 is null" in second.error.what


def write(table: Any, path: Path) -> None:
    from pyarrow import feather, parquet

    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, str(path), compression="uncompressed")


@pytest.mark.parametrize("name", ["r.parquet", "r.arrow"])
def test_a_map_is_an_object(tmp_path: Path, name: str) -> None:
    import pyarrow

    columns = pyarrow.map_(pyarrow.string(), pyarrow.list_(pyarrow.string()))
    numbers = pyarrow.map_(pyarrow.string(), pyarrow.float32())
    table = pyarrow.table(
        {
            "question": ["?", "?"],
            "table": pyarrow.array([[("Name", ["Ann", "Bob"]), ("Wins", ["3", "4"])]] * 2, columns),
            "scores": pyarrow.array([[("a", 0.1), ("b", None)], None], numbers),
            "twice": pyarrow.array([[("a", 1.5), ("a", 2.5)], []], numbers),
        }
    )
    write(table, tmp_path / name)

    first, second = READERS["own"](tmp_path / name)

    assert (first.table.header, first.table.rows) == (("Name", "Wins"), (("Ann", "3"), ("Bob", "4")))
    assert first.beside()["meta"] == {"scores": {"a": 0.1, "b": None}, "twice": [["a", 1.5], ["a", 2.5]]}
    assert second.beside()["meta"] == {"scores": None, "twice": {}}


def test_a_map_of_texts_is_no_table_of_two_rows(tmp_path: Path) -> None:
    import pyarrow

    kind = pyarrow.map_(pyarrow.string(), pyarrow.string())
    table = pyarrow.array([[("Name", "Ann"), ("Wins", "3")]], kind)
    write(pyarrow.table({"question": ["?"], "table": table}), tmp_path / "r.parquet")

    with pytest.raises(ReaderError, match="there is an object that is not a table"):
        list(READERS["own"](tmp_path / "r.parquet"))


def test_bytes_are_texts_unless_no_text_has_them(tmp_path: Path) -> None:
    import pyarrow

    columns = {"question": [b"who?"], "table": ["a\n1"], "blob": [b"\0\1"], "note": ["Zo\u00eb".encode()]}
    write(pyarrow.table(columns), tmp_path / "r.parquet")

    (example,) = READERS["own"](tmp_path / "r.parquet")

    assert example.beside()["meta"] == {"blob": {"base64": "AAE="}, "note": "Zo\u00eb"}


def test_categories_within_lists_are_refused_by_name(tmp_path: Path) -> None:
    import pyarrow

    tags = pyarrow.ListArray.from_arrays([0, 2], pyarrow.array(["a", "b"]).dictionary_encode())
    write(pyarrow.table({"question": ["?"], "table": ["a\n1"], "tags": tags}), tmp_path / "r.arrow")

    with pytest.raises(ReaderError, match="a column has categories within lists or objects"):
        list(READERS["own"](tmp_path / "r.arrow"))


@pytest.mark.parametrize("damage", ["cut off", "empty", "text", "bomb", "ragged", "null", "repeated"])
def test_a_broken_parquet_file_is_refused(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow
    from pyarrow import parquet

    record = {"id": "1", "question": "who?", "table": {"header": ["a", "b"], "rows": [["1", "2"]]}}
    broken = json.loads(json.dumps(record))
    if damage == "ragged":
        broken["table"]["rows"] = [["1"]]
    if damage == "null":
        broken["table"]["rows"] = [["1", None]]
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([record, {**broken, "id": "1"}]), path)
    data = path.read_bytes()
    path.write_bytes(
        {"cut off": data[: len(data) // 2], "empty": b"", "text": b"a,b\n1,2\n"}.get(damage, data)
    )
    if damage == "bomb":
        monkeypatch.setattr(arrow, "MOST_UNPACKED", 10)
    if damage == "repeated":  # published data repeat ids: they are numbered
        assert [one.id for one in READERS["parquet"](path)] == ["1", "1#2"]
        return
    with pytest.raises(ReaderError) as error:
        list(READERS["parquet"](path))
    assert Path(error.value.file) == path
    if damage in ("ragged", "null"):
        assert error.value.line == 2


def test_a_dataset_that_was_saved_to_disk_is_read(tmp_path: Path, dev: list[Example]) -> None:
    datasets = pytest.importorskip("datasets")
    whole_set = datasets.Dataset.from_list(rows(dev))
    whole_set.save_to_disk(tmp_path / "one", num_shards=3)
    assert same(list(READERS["hf"](tmp_path / "one")), dev)
    assert len(list(READERS["hf"].files(tmp_path / "one"))) == 3
    shuffled = whole_set.shuffle(seed=1)
    splits = {"train": shuffled.select(range(20)), "validation": shuffled.select(range(20, 30))}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "many")
    found = list(READERS["hf"](tmp_path / "many"))
    assert [one.id for one in found] == shuffled["id"][:30]
    assert [one.meta["split"] for one in found] == ["train"] * 20 + ["validation"] * 10


@pytest.mark.parametrize("name", ["../data-00000-of-00003.arrow", "/etc/passwd", "gone.arrow"])
def test_a_dataset_does_not_lead_out_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(ReaderError, match=r"state\.json, line 1: .*filename"):
        list(READERS["hf"](tmp_path))
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["../other"]}))
    with pytest.raises(ReaderError, match="not a plain name"):
        list(READERS["hf"](tmp_path))


def test_load_dataset_gives_the_examples_without_code(
    released: Path, dev: list[Example], tmp_path_factory: pytest.TempPathFactory
) -> None:
    datasets = pytest.importorskip("datasets")
    folder = finished(released)
    assert hub_features.parquet_differs(folder) is None
    cache = str(tmp_path_factory.mktemp("cache"))
    loaded = datasets.load_dataset(str(folder), split="dev", cache_dir=cache)
    assert [whole_examples.example_of(record) for record in loaded] == dev


def test_another_record_in_the_parquet_file_is_found(released: Path) -> None:
    path = released / whole_examples.config_file(whole_examples.ORIGINAL, "dev")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[3] = lines[3].replace('"question":"', '"question":"not ')
    path.write_text("".join(lines), "utf-8")
    assert hub_features.parquet_differs(released) == ("parquet/examples.parquet", 4)
    path.write_text("".join(lines[:3]), "utf-8")
    assert hub_features.parquet_differs(released) == ("parquet/examples.parquet", 4)


def test_mlcroissant_accepts_the_metadata_and_reads_the_records(released: Path, dev: list[Example]) -> None:
    folder = finished(released)
    command = Path(sys.executable).with_name("mlcroissant")
    if command.is_file():
        done = subprocess.run(
            [command, "validate", "--jsonld", folder / hub.CROISSANT], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    described = mlcroissant.Dataset(jsonld=str(folder / hub.CROISSANT))
    records = list(described.records("examples"))
    assert [record["examples/question"].decode() for record in records] == [one.question for one in dev]
    rows = [record["examples/table"]["examples/table/rows"] for record in records]
    assert [[[cell.decode() for cell in row] for row in table] for table in rows] == [
        [list(row) for row in one.table.rows] for one in dev
    ]


def refused_as_too_large(path: Path, reader: str) -> float:
    """Seconds of processor time until a file is refused because of what it unpacks to."""
    began = time.process_time()
    with pytest.raises(ReaderError, match=r"it unpacks to more than 1,073,741,824 bytes"):
        for _ in READERS[reader](path):
            pass
    return time.process_time() - began


def test_millions_of_equal_records_in_a_small_file_are_refused_at_once(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = json.dumps({"header": ["a"], "rows": [["1"]]})
    columns = {"question": ["q"] * 3_000_000, "table": [table] * 3_000_000, "answers": ["1"] * 3_000_000}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", compression="zstd")

    assert (tmp_path / "a.parquet").stat().st_size < 50_000
    assert refused_as_too_large(tmp_path / "a.parquet", "parquet") < 10
    assert refused_as_too_large(tmp_path / "a.parquet", "own") < 10


def test_a_large_text_that_every_record_has_is_counted_as_often(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = 20_000
    indices = pyarrow.array([0] * rows, pyarrow.int32())
    table = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["x" * 2**20]))
    batch = pyarrow.record_batch({"question": pyarrow.array(["q"] * rows), "table": table})
    with (
        pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pyarrow.ipc.new_stream(file, batch.schema) as stream,
    ):
        stream.write_batch(batch)
    parquet.write_table(pyarrow.Table.from_batches([batch]), tmp_path / "a.parquet")

    for name in ("a.arrow", "a.parquet"):
        began = time.process_time()
        with pytest.raises(ReaderError, match="it unpacks to more than"):
            for _ in arrow.records_of(tmp_path / name, {}):
                pass
        assert time.process_time() - began < 10
