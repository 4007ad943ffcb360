"""Mutations that know the structure of a file: what they write opens as such a file more often than changed bytes do.

Archives and workbooks are packed again after one member is changed, XML and HTML keep a tree, Parquet and Arrow are
written again by pyarrow, YAML, JSON and CSV keep their syntax.
"""

from __future__ import annotations

import csv
import io
import random
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from lxml import etree

from tests.attacks.changed import TOKENS, changed, mutated, with_other_values
from tests.attacks.contents import records_of_columns


def mutated_file(name: str, data: bytes, rng: random.Random) -> bytes:
    """A file of this name with something changed: mostly by its structure, sometimes by its bytes."""
    suffix = name.rpartition(".")[2]
    if suffix not in MUTATORS or rng.random() < 0.15:
        return mutated(data, rng)
    try:
        return MUTATORS[suffix](data, rng)
    except (ValueError, TypeError, KeyError, OverflowError, etree.LxmlError, yaml.YAMLError):
        return mutated(data, rng)  # the value does not fit into the file, or it is no such file


def with_other_cells(data: bytes, rng: random.Random) -> bytes:
    """A CSV file with a column or cells of another kind."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    extra = rng.choice(["", "made_at", "origin", "seconds", "simulated", "response", "\0", "source", "split"])
    drawn = [
        "20200101",
        "0",
        "",
        "true",
        "\0",
        "NaN",
        '{"label": "extraction"}',
        "9" * 30,
        "\x1b[2J",
        "[1.50]",
    ]
    at = rng.randrange(len(rows[0]) + 1)
    if rng.random() < 0.3:
        rng.choice(rows)[rng.randrange(len(rows[0]))] = rng.choice(drawn)
    else:
        for number, row in enumerate(rows):
            row.insert(at, rng.choice(drawn) if number else extra)
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def with_another_member(data: bytes, rng: random.Random) -> bytes:
    """An archive or a workbook whose members are whole: one of them is changed, renamed, doubled or gone."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    of_cells = [at for at, (name, _) in enumerate(members) if "sheet" in name or "haredStr" in name]
    at = rng.choice(of_cells) if of_cells and rng.random() < 0.6 else rng.randrange(len(members))
    name, member = members[at]
    way = rng.random()
    if way < 0.85:
        members[at] = (
            name,
            mutated_file(name.removesuffix(".rels") + ".xml" * name.endswith(".rels"), member, rng),
        )
    elif way < 0.9:
        del members[at]
    else:
        members.insert(
            at, (rng.choice(["../x.csv", "x/" + name, name.upper(), "é\u202e.csv", "q.csv"]), member)
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])) as archive:
        for name, member in members:
            archive.writestr(zipfile.ZipInfo(name), member)
    return out.getvalue()


def with_another_element(data: bytes, rng: random.Random) -> bytes:
    """XML with an element, an attribute or a text changed."""
    tree = etree.fromstring(data)
    _change(tree, rng)
    return etree.tostring(tree, xml_declaration=True, encoding="UTF-8")


def with_another_tag(data: bytes, rng: random.Random) -> bytes:
    """A page with an element, an attribute or a text changed."""
    tree = etree.fromstring(data, etree.HTMLParser())
    _change(tree, rng)
    return bytes(etree.tostring(tree, method="html"))


def _change(tree: Any, rng: random.Random) -> None:
    elements = [element for element in tree.iter() if isinstance(element.tag, str) and element is not tree]
    for _ in range(rng.choice((1, 1, 2, 5))):
        element, other = rng.choice(elements), rng.choice(elements)
        parent = element.getparent()
        way = rng.randrange(6)
        if way == 0 and element.attrib:
            element.set(rng.choice(list(element.attrib)), rng.choice(ATTRIBUTES))
        elif way == 1:
            element.set(
                rng.choice(["t", "s", "r", "hidden", "rowspan", "colspan", "ref"]), rng.choice(ATTRIBUTES)
            )
        elif way == 2:
            element.text = rng.choice(TEXTS)
        elif way == 3 and parent is not None:
            parent.insert(parent.index(element), etree.fromstring(etree.tostring(element, with_tail=False)))
        elif way == 4 and parent is not None:
            parent.remove(element)
        elif way == 5:
            element.tag = other.tag


ATTRIBUTES = [
    "",
    "0",
    "1",
    "-1",
    "s",
    "e",
    "str",
    "inlineStr",
    "b",
    "d",
    "A1",
    "XFD1048576",
    "B7",
    "9" * 30,
    "A1:C9",
    "x",
]
TEXTS = [
    "",
    "0",
    "-1",
    "1e999",
    "0.1",
    "45000",
    "9" * 40,
    "NaN",
    "TRUE",
    "é\u202e",
    "=1+1",
    "#N/A",
    "a\nb",
    "1.50",
]


def with_other_records(data: bytes, rng: random.Random) -> bytes:
    """Parquet or Arrow with other values, types, compression and groups of rows."""
    import pyarrow
    from pyarrow import parquet

    records = records_of_columns(data)
    if rng.random() < 0.7:
        records = [one for one in changed(records, rng) if isinstance(one, dict)]
    table = pyarrow.Table.from_pylist(records)
    out = io.BytesIO()
    if data[:4] == b"PAR1":
        packing = rng.choice(["none", "snappy", "zstd", "gzip"])
        parquet.write_table(table, out, row_group_size=rng.choice([1, 3, 100]), compression=packing)
    else:
        options = pyarrow.ipc.IpcWriteOptions(compression=rng.choice([None, "zstd", "lz4"]))
        with pyarrow.ipc.new_stream(out, table.schema, options=options) as stream:
            stream.write_table(table, max_chunksize=rng.choice([1, 3, 100]))
    return mutated(out.getvalue(), rng) if rng.random() < 0.3 else out.getvalue()


def with_other_yaml(data: bytes, rng: random.Random) -> bytes:
    """YAML, or the YAML at the head of a dataset card, with other values, anchors or tags."""
    text = data.decode()
    head = text.split("---\n")[1] if text.startswith("---\n") else text
    if rng.random() < 0.3:
        at = rng.randrange(len(head) + 1)
        other = (
            head[:at]
            + rng.choice(["&a ", "*a", "!!python/name:os.system ", "<<: *a\n", "\t", ": ", "- "])
            + head[at:]
        )
    else:
        other = yaml.safe_dump(changed(yaml.safe_load(head), rng), allow_unicode=True)
    return text.replace(head, other, 1).encode("utf-8", "surrogatepass")


def with_token(data: bytes, rng: random.Random) -> bytes:
    """A text with a token put in."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


MUTATORS: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "csv": with_other_cells,
    "tsv": with_token,
    "json": with_other_values,
    "jsonl": with_other_values,
    "html": with_another_tag,
    "xml": with_another_element,
    "xlsx": with_another_member,
    "zip": with_another_member,
    "parquet": with_other_records,
    "arrow": with_other_records,
    "md": with_other_yaml,
    "yaml": with_other_yaml,
}
"""By the suffix of a file."""
