"""The check of names in code counts each once a function, and lets none be added."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests import identifiers
from tests.identifiers import Use, names_to_avoid, problems, uses_in

AVOIDED = {"found": "matches", "given": "values"}


def names(text: str) -> list[tuple[str, str, bool]]:
    return [
        (use.scope, use.name, use.is_public_parameter) for use in uses_in(dedent(text), "module.py", AVOIDED)
    ]


def test_a_name_counts_once_in_each_function_that_assigns_it() -> None:
    text = """
        def outer():
            found = 1
            found = 2
            def inner():
                for found in ():
                    pass
    """
    assert names(text) == [("outer", "found", False), ("inner", "found", False)]


@pytest.mark.parametrize(
    "line",
    [
        "if (found := 1): pass",
        "with open('x') as found: pass",
        "[found for found in ()]",
        "sorted((), key=lambda found: 1)",
        "a, *found = ()",
        "try: pass\n    except ValueError as found: pass",
        "match 1:\n        case found: pass",
    ],
)
def test_every_way_to_bind_a_name_counts(line: str) -> None:
    assert names(f"def search():\n    {line}\n") == [("search", "found", False)]


def test_parameters_of_public_functions_are_told_apart() -> None:
    text = """
        def search(given): ...
        def _search(*given): ...
        def read():
            return found, given.found, search(given=1)
    """
    assert names(text) == [("search", "given", True), ("_search", "given", False)]


def test_names_of_modules_and_classes_count() -> None:
    text = """
        from words import text as given
        found = 1
        _found = [found for found in ()]
        class Search:
            found: int
            given = sorted((), key=lambda given: given)
            def found(self): ...
    """
    assert names(text) == [
        ("module", "_found", False),
        ("module", "found", False),
        ("module", "given", False),
        ("Search", "found", False),
        ("Search", "given", False),
    ]


def test_the_record_of_no_file_rises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "identifiers.toml"
    record.write_text('"a.py" = 1\n"b.py" = 2\n')
    monkeypatch.setattr(identifiers, "RECORD", record)
    monkeypatch.setattr(identifiers, "uses", lambda root, avoided: [Use("a.py", 1, "f", "found", False)] * 2)

    assert identifiers.main(["--record"]) == 1

    assert '"b.py" = 2' in record.read_text()


def test_a_new_name_fails_and_a_removed_one_leaves_the_record() -> None:
    use = Use("a.py", 3, "search", "found", False)
    assert list(problems([use], {"a.py": 1}, AVOIDED)) == []
    new = list(problems([use, use], {"a.py": 1}, AVOIDED))
    assert new[0].startswith("a.py: 2 names")
    assert new[1] == "  line 3, search: 'found' -> matches"
    assert list(problems([use], {"a.py": 2}, AVOIDED)) == [
        "a.py: fewer names than recorded. Run .venv/bin/python -m tests.identifiers --record"
    ]


@pytest.mark.parametrize(("name", "preferred"), [("number", "count"), ("words", "text")])
def test_a_new_vague_number_or_text_is_refused_with_a_better_name(name: str, preferred: str) -> None:
    avoided = names_to_avoid()
    use = list(uses_in(f"def letters({name}): ...", "new.py", avoided))
    refusal = list(problems(use, {}, avoided))
    assert refusal[1].startswith(f"  line 1, letters: {name!r} -> ")
    assert preferred in refusal[1]
