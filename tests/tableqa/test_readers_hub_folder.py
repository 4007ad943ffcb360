"""Your own data as Parquet, as `datasets` saves them, and as the hub lays them out, each with columns of any name."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from tableqa import Example
from tableqa.readers import READERS, MappedReader, ReaderError, Rejection, checked_outcomes, credit
from tableqa.readers.format_detection import detect_reader
from tableqa.readers.own_data import OwnData

OWN = READERS["own"]
TABLE = {"header": ["Name", "Wins"], "rows": [["Ann", "3"]]}


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"nr": number, "frage": f"wer {number}?", "gold": ["Ann"], "tabelle": TABLE, **more}


def rows(*records: dict[str, Any]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(list(records))


def saved(folder: Path, *records: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    table = rows(*records)
    with pyarrow.ipc.new_stream(folder / "data-00000-of-00001.arrow", table.schema) as out:
        out.write_table(table)
    (folder / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    (folder / "dataset_info.json").write_text('{"license": "CC-BY-4.0", "citation": "Ann (2026)"}')


def hub(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    parquet.write_table(rows(record(1)), folder / "data" / "train-00000-of-00001.parquet")
    (folder / "data" / "test.jsonl").write_text(
        '{"frage": "wer 2?", "gold": ["Bob"], "tabelle": [["Name"], ["Bob"]]}\n'
    )
    (folder / "README.md").write_text(
        "---\nlicense: cc-by-sa-4.0\nconfigs:\n"
        "- config_name: other\n  data_files: other/*.parquet\n"
        "- config_name: main\n  default: true\n  data_files:\n"
        "  - {split: train, path: data/train-*}\n  - {split: test, path: [data/test.jsonl]}\n---\n# Wins\n"
    )
    return folder


def splits(path: Path) -> list[tuple[str, str]]:
    return [(example.question, example.meta.get("split", "")) for example in OWN(path)]


def test_a_parquet_file_is_read_by_columns_of_any_name_and_keeps_the_good_records(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    parquet.write_table(rows(record(1), record(1), record(3)), path)

    outcomes = list(checked_outcomes(OWN, path))

    assert detect_reader(path) == "own"
    assert [type(outcome) for outcome in outcomes] == [Example, Rejection, Example]
    assert outcomes[0].answers == ("Ann",)  # type: ignore[union-attr]


def test_a_folder_of_save_to_disk_is_read_with_its_splits_and_licence(tmp_path: Path) -> None:
    folder = tmp_path / "wins"
    saved(folder / "train", record(1))
    saved(folder / "test", record(2))
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')

    assert splits(folder) == [("wer 1?", "train"), ("wer 2?", "test")]
    assert (credit(OWN, folder).licence, credit(OWN, folder).citation) == ("CC-BY-4.0", "Ann (2026)")
    assert len(list(OWN.files(folder))) == 2


def test_a_folder_of_the_hub_is_read_by_the_configuration_in_its_readme(tmp_path: Path) -> None:
    folder = hub(tmp_path / "wins")

    assert splits(folder) == [("wer 1?", "train"), ("wer 2?", "test")]
    assert credit(OWN, folder).licence == "CC-BY-SA-4.0"
    said = OWN.read_as(folder)  # type: ignore[attr-defined]
    assert "It has the configurations other, main; main was read." in said


def test_a_folder_comes_as_an_archive(tmp_path: Path) -> None:
    folder = hub(tmp_path / "wins")
    path = tmp_path / "wins.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(tmp_path).as_posix())

    assert splits(path) == [("wer 1?", "train"), ("wer 2?", "test")]
    assert credit(OWN, path).licence == "CC-BY-SA-4.0"
    assert (
        OwnData(fields={"question": "frage", "table": "tabelle"})
        .read_as(path)
        .startswith("wins.zip was read as")
    )


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ("[{data_files: ../secret.csv}]", "is not one below this folder"),
        ("[{data_files: gone/*.parquet}]", "no data file is at 'gone"),
        ("[", "cannot be read"),
    ],
)
def test_a_readme_that_names_no_files_of_the_folder_is_refused(
    tmp_path: Path, configs: str, message: str
) -> None:
    folder = hub(tmp_path / "wins")
    (tmp_path / "secret.csv").write_text("question,table\nx,A\n")
    (folder / "README.md").write_text(f"---\nconfigs: {configs}\n---\n")

    with pytest.raises(ReaderError, match=message):
        list(OWN(folder))


FEATURES = {
    "frage": {"dtype": "string", "_type": "Value"},
    "tabelle": {
        "feature": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"},
        "_type": "List",
    },
    "label": {"names": ["refuted", "entailed"], "_type": "ClassLabel"},
    "tags": {"feature": {"names": ["a", "b"], "num_classes": 2, "_type": "ClassLabel"}, "_type": "Sequence"},
    "about": {"kind": {"names": ["x", "y"], "_type": "ClassLabel"}},
}


def labelled(*labels: int) -> pyarrow.Table:
    return rows(
        *(
            {"frage": "wer?", "tabelle": [["A"], ["1"]], "label": label, "tags": [0, 1], "about": {"kind": 1}}
            for label in labels
        )
    )


def test_class_labels_of_a_parquet_file_become_the_names_of_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    said = {b"huggingface": json.dumps({"info": {"features": FEATURES}})}
    parquet.write_table(labelled(0, 1, -1, 7).replace_schema_metadata(said), path)

    examples = list(OWN(path))

    assert [example.answers for example in examples] == [("refuted",), ("entailed",), (), ("7",)]
    assert (examples[0].meta["tags"], examples[0].meta["about"]) == (("a", "b"), {"kind": "y"})


@pytest.mark.parametrize("reader", ["own", "hf"])
def test_class_labels_of_a_saved_dataset_become_the_names_of_its_dataset_info(
    tmp_path: Path, reader: str
) -> None:
    folder = tmp_path / "wins"
    saved(folder, *labelled(1, 0).to_pylist())
    (folder / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
    read = READERS[reader]
    assert isinstance(read, MappedReader)

    examples = list(read.with_fields({"question": "frage", "table": "tabelle"})(folder))

    assert [example.answers for example in examples] == [("entailed",), ("refuted",)]


def test_numbers_stay_where_the_schema_says_nothing_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    parquet.write_table(labelled(1).replace_schema_metadata({b"huggingface": b"[1"}), path)

    assert [example.answers for example in OWN(path)] == [("1",)]


def named_by_splits(folder: Path, where: str = "", readme: str = "---\nlicense: cc-by-4.0\n---\n") -> Path:
    (folder / where).mkdir(parents=True)
    if readme:
        (folder / "README.md").write_text(readme)
    for number, name in enumerate(("test", "train-00000-of-00001", "dev"), start=1):
        line = {"frage": f"wer {number}?", "gold": "Ann", "tabelle": [["A"], ["1"]], "nr": number}
        (folder / where / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    return folder


BY_NAME = [("wer 2?", "train"), ("wer 3?", "validation"), ("wer 1?", "test")]


@pytest.mark.parametrize("where", ["", "data"])
@pytest.mark.parametrize("readme", ["---\nlicense: cc-by-4.0\n---\n", ""])
def test_files_named_by_splits_are_the_splits_of_a_folder(tmp_path: Path, where: str, readme: str) -> None:
    folder = named_by_splits(tmp_path / "wins", where, readme)

    assert splits(folder) == BY_NAME
    assert credit(OWN, folder).licence == ("CC-BY-4.0" if readme else "NOASSERTION")
    assert "Its splits are train, validation, test." in OWN.read_as(folder)  # type: ignore[attr-defined]
    assert [file.name for file in OWN.files(folder)] == [
        "train-00000-of-00001.jsonl",
        "dev.jsonl",
        "test.jsonl",
    ]


def test_a_single_file_of_a_split_keeps_the_licence_of_the_readme(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins")
    for name in ("test", "dev"):
        (folder / f"{name}.jsonl").unlink()
    (folder / "notes.jsonl").write_text('{"note": 1}\n')

    assert splits(folder) == [("wer 2?", "train")]
    assert credit(OWN, folder).licence == "CC-BY-4.0"


def test_a_file_without_a_split_in_its_name_keeps_the_licence_of_the_readme(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins")
    for name in ("test", "dev"):
        (folder / f"{name}.jsonl").unlink()
    (folder / "train-00000-of-00001.jsonl").rename(folder / "wins.jsonl")

    assert splits(folder) == [("wer 2?", "")]
    assert credit(OWN, folder).licence == "CC-BY-4.0"


def test_a_folder_of_questions_with_tables_named_by_splits_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("question,table\nwho?,test.csv\n")
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("Name,Wins\nAnn,3\n")

    assert splits(tmp_path) == [("who?", "")]


@pytest.mark.parametrize(
    ("split", "read"), [("test", ["wer 1?"]), ("dev", ["wer 3?"]), ("train", ["wer 2?"])]
)
def test_one_split_of_a_dataset_is_read_alone(tmp_path: Path, split: str, read: list[str]) -> None:
    folder = named_by_splits(tmp_path / "wins")
    assert isinstance(OWN, OwnData)

    reader = OWN.with_split(split, folder)

    assert [example.question for example in reader(folder)] == read
    assert len(list(reader.files(folder))) == 1


def test_a_split_that_a_dataset_does_not_have_is_refused(tmp_path: Path) -> None:
    assert isinstance(OWN, OwnData)

    with pytest.raises(ReaderError, match="The splits are: train, validation, test"):
        OWN.with_split("tset", named_by_splits(tmp_path / "wins"))


def test_an_id_that_two_splits_have_is_refused_with_the_file_of_each(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins")
    (folder / "test.jsonl").write_text((folder / "dev.jsonl").read_text())

    with pytest.raises(ReaderError) as error:
        list(OWN(folder))

    assert error.value.file.endswith("test.jsonl")
    assert error.value.what == "the id 3 is already in line 1 of dev.jsonl"
    assert "--split SPLIT --name NAME" in error.value.command


@pytest.mark.parametrize("reader", ["own", "hf", "parquet"])
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["test/0.parquet", "train/0.parquet", "train/1.parquet"], ["test", "train", "train"]),
        (["data/dev/x.parquet", "data/test/x.parquet"], ["validation", "test"]),
        (["default/test/0000.parquet", "default/train/0000.parquet"], ["test", "train"]),
        (["wins_test.parquet", "wins_train.parquet"], ["test", "train"]),
        (["easy-00000-of-00001.parquet", "hard-00000-of-00001.parquet"], ["easy", "hard"]),
        (["easy/0.parquet", "hard/0.parquet"], ["easy", "hard"]),
        (["0000.parquet", "0001.parquet"], ["", ""]),
        (["part-0.parquet", "part-1.parquet"], ["", ""]),
        (["test.PARQUET", "train.Parquet"], ["test", "train"]),
    ],
)
def test_splits_of_parquet_files_are_known_by_files_and_folders(
    tmp_path: Path, reader: str, names: list[str], expected: list[str]
) -> None:
    for number, name in enumerate(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(rows(record(number)), tmp_path / name)
    read = READERS[reader]
    assert isinstance(read, MappedReader)

    examples = read.with_fields({"id": "nr", "question": "frage", "table": "tabelle"})(tmp_path)

    assert [(example.id, example.meta.get("split", "")) for example in examples] == [
        (str(number), split) for number, split in enumerate(expected)
    ]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_files_of_several_configurations_are_refused(tmp_path: Path, suffix: str) -> None:
    for name in ("easy/train", "easy/test", "hard/train"):
        path = tmp_path / f"{name}.{suffix}"
        path.parent.mkdir(exist_ok=True)
        if suffix == "parquet":
            parquet.write_table(rows(record(1)), path)
        else:
            path.write_text(json.dumps(record(1)))

    with pytest.raises(ReaderError, match="several configurations: easy, hard") as error:
        list(OWN(tmp_path))

    assert error.value.mend == "Give the folder of one of them"


def test_an_unnamed_file_beside_the_folder_data_does_not_hide_its_splits(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins", "data")
    (folder / "notes.json").write_text("{}")

    assert splits(folder) == BY_NAME


@pytest.mark.parametrize("where", ["", "data/"])
def test_text_files_in_folders_named_by_splits_are_the_splits_of_a_folder(tmp_path: Path, where: str) -> None:
    for number, name in enumerate(("test/a.jsonl", "train/a.jsonl", "train/b.jsonl"), start=1):
        path = tmp_path / where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"frage": f"wer {number}?", "tabelle": [["A"], ["1"]], "nr": number}))

    assert splits(tmp_path) == [("wer 2?", "train"), ("wer 3?", "train"), ("wer 1?", "test")]


def test_tables_in_folders_named_by_splits_are_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("question,table\nwho?,test/a.csv\n")
    for name in ("train/a.csv", "test/a.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("Name,Wins\nAnn,3\n")

    assert splits(tmp_path) == [("who?", "")]


def test_a_readme_with_line_ends_of_windows_keeps_its_licence(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins")
    readme = folder / "README.md"
    readme.write_bytes(readme.read_bytes().replace(b"\n", b"\r\n"))

    assert credit(OWN, folder).licence == "CC-BY-4.0"


def test_lines_of_three_hyphens_inside_a_readme_are_no_yaml(tmp_path: Path) -> None:
    folder = named_by_splits(tmp_path / "wins", readme="# Wins\n---\nlicense: mit\n---\n")

    assert credit(OWN, folder).licence == "NOASSERTION"


CARD = """---
dataset_info:
  features:
  - name: frage
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': refuted
          '1': entailed
  - name: tags
    sequence:
      class_label:
        names: [a, b]
  - name: about
    struct:
    - name: kind
      dtype:
        class_label:
          names: {0: x, 1: y}
---
"""


@pytest.mark.parametrize("reader", ["own", "hf", "parquet"])
@pytest.mark.parametrize("name", ["test.parquet", "data/test-00000-of-00001.parquet"])
def test_class_labels_of_a_readme_are_shown_by_their_names(tmp_path: Path, reader: str, name: str) -> None:
    (tmp_path / "README.md").write_text(CARD)
    (tmp_path / "data").mkdir()
    parquet.write_table(labelled(1, 0), tmp_path / name)
    read = READERS[reader]
    assert isinstance(read, MappedReader)

    examples = list(read.with_fields({"question": "frage", "table": "tabelle"})(tmp_path))

    assert [example.answers for example in examples] == [("entailed",), ("refuted",)]
    assert (examples[0].meta["tags"], examples[0].meta["about"]) == (("a", "b"), {"kind": "y"})


def test_class_labels_of_a_readme_are_those_of_the_configuration_that_is_read(tmp_path: Path) -> None:
    configs = "".join(f"- {{config_name: {n}, data_files: {n}.parquet, default: {n == 'b'}}}\n" for n in "ab")
    infos = "".join(
        f"- config_name: {name}\n  features: [{{name: label, dtype: {{class_label: {{names: [{names}]}}}}}}]\n"
        for name, names in (("a", "no, yes"), ("b", "refuted, entailed"))
    )
    (tmp_path / "README.md").write_text(f"---\nconfigs:\n{configs}dataset_info:\n{infos}---\n")
    for name in ("a", "b"):
        parquet.write_table(labelled(1), tmp_path / f"{name}.parquet")

    assert [example.answers for example in OWN(tmp_path)] == [("entailed",)]


@pytest.mark.parametrize("name", ["test.jsonl", "test.csv"])
def test_class_labels_of_a_readme_are_shown_by_their_names_in_text_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "README.md").write_text(CARD)
    content = {
        "test.jsonl": '{"frage": "wer?", "label": 1, "tabelle": [["A"], ["1"]]}\n',
        "test.csv": 'frage,label,tabelle\nwer?,1,"[[""A""], [""1""]]"\n',
    }
    (tmp_path / name).write_text(content[name])

    assert [example.answers for example in OWN(tmp_path)] == [("entailed",)]


@pytest.mark.parametrize(
    "features", ["7", "[7]", "[{name: label}]", "[{name: label, dtype: {class_label: {names: 7}}}]"]
)
def test_numbers_stay_where_a_readme_says_nothing_of_labels(tmp_path: Path, features: str) -> None:
    (tmp_path / "README.md").write_text(f"---\ndataset_info:\n  features: {features}\n---\n")
    parquet.write_table(labelled(1), tmp_path / "test.parquet")

    assert [example.answers for example in OWN(tmp_path)] == [("1",)]


def test_features_that_hold_themselves_or_each_other_again_and_again_are_refused(tmp_path: Path) -> None:
    doubled = "".join(
        f"x{i}: &x{i} [{{name: a, struct: *x{i - 1}}}, {{name: b, struct: *x{i - 1}}}]\n"
        for i in range(1, 60)
    )
    features = "&f [{name: label, struct: *f}, {name: c, struct: *x59}]"
    (tmp_path / "README.md").write_text(
        f"---\nx0: &x0 []\n{doubled}dataset_info: {{features: {features}}}\n---\n"
    )
    parquet.write_table(labelled(1), tmp_path / "test.parquet")

    with pytest.raises(ReaderError, match=r"README\.md.*The file is too large, or an entry refers to itself"):
        list(OWN(tmp_path))


QUESTIONS = 'question,table\nwho?,"A\n1"\n'
ROWS = "Name,Wins\nAnn,3\n"
CARD_ONLY = "---\nlicense: cc-by-4.0\n---\n"


@pytest.mark.parametrize("place", ["", "data/"])
def test_a_file_of_questions_beside_tables_named_by_splits_is_read_in_a_folder_with_a_card(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "README.md").write_text(CARD_ONLY)
    (tmp_path / "data").mkdir()
    (tmp_path / place / "questions.csv").write_text("question,table\nwhich?,train.csv\n")
    (tmp_path / place / "train.csv").write_text(ROWS)

    assert splits(tmp_path) == [("which?", "")]
    assert credit(OWN, tmp_path).licence == "CC-BY-4.0"


def test_questions_in_a_file_beside_those_of_splits_are_refused_with_the_choice(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD_ONLY)
    for name in ("questions.csv", "train.csv"):
        (tmp_path / name).write_text(QUESTIONS)

    with pytest.raises(ReaderError) as error:
        list(OWN(tmp_path))

    assert error.value.what == "there are questions in questions.csv and in files of splits: train.csv"
    assert error.value.mend == "Leave out one of them, or name the files in README.md under data_files"


def test_the_same_split_in_two_forms_is_read_once_and_a_split_of_another_form_is_read_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "README.md").write_text(CARD_ONLY)
    for name in ("train.jsonl", "test.jsonl"):
        (tmp_path / name).write_text(json.dumps({"question": f"{name}?", "table": [["A"], ["1"]]}))
    for name in ("train.csv", "dev.csv"):
        (tmp_path / name).write_text(QUESTIONS)

    assert splits(tmp_path) == [("train.jsonl?", "train"), ("who?", "validation"), ("test.jsonl?", "test")]
