"""Checked records on disk: a table is written once, whatever its texts are, and read as it was."""

from pathlib import Path

import pytest

from tableqa import Example, Table
from tableqa.readers.ingestion import Rows
from tableqa.readers.json_values import DECODER


def test_a_table_is_written_once_and_read_as_it_was(tmp_path: Path) -> None:
    table = Table(["a\tb", 'say "c"'], [["\n", "\u2028"], ["\\", "é"]])
    path = tmp_path / "rows.jsonl"

    with Rows.written(path) as rows:
        are_new = [rows.add(Example(id, "Q\t?", table, ["x\ty"])) for id in ("1", "2")]
        rows.write({"another": "kind\t"})

    (first, second, another), *others = Rows.read(path)
    digest = table.digest()
    assert are_new == [True, False]
    assert first == ["1", "Q\t?", ["x\ty"], {}, digest, table.canonical_text()]
    assert second == ["2", "Q\t?", ["x\ty"], {}, digest]
    assert another == {"another": "kind\t"}
    assert not others
    assert path.read_text(encoding="utf-8").count(table.canonical_text()) == 1


def test_json_is_refused_for_its_depth_alone() -> None:
    assert len(DECODER.decode(f"[{','.join(['[]'] * 1000)}]")) == 1000
    assert DECODER.decode("[" * 100 + "]" * 100)
    with pytest.raises(RecursionError):
        DECODER.decode("[" * 102 + "]" * 102)
