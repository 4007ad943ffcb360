"""The browser's half of a contract, and of a merged table, says what Python's says: the same vectors, run in Chromium on
the shipped modules.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

FOLDER = Path(__file__).parents[1] / "vectors"
VECTORS = json.loads((FOLDER / "contracts.json").read_text("utf-8"))
MERGED = json.loads((FOLDER / "merged.json").read_text("utf-8"))["cases"]


@pytest.fixture
def modules(page: Page, live_server: Any) -> Page:
    """A page of the platform, from which its modules can be imported."""
    page.goto(f"{live_server.url}/sign-in/")
    return page


@pytest.mark.django_db(transaction=True)
def test_contracts_find_the_same_in_the_browser(modules: Page) -> None:
    found = modules.evaluate(
        """async (cases) => {
            const { check } = await import("/static/askew/contract.js");
            return cases.map((c) => check(c.contract, c.table, c.operations, c.reason ?? ""));
        }""",
        VECTORS["cases"],
    )
    for case, violations in zip(VECTORS["cases"], found, strict=True):
        if "index" in case:  # the operations do not replay: the code is one, the words may differ
            assert [v["code"] for v in violations] == [v["code"] for v in case["violations"]], case["name"]
        else:
            assert violations == case["violations"], case["name"]


@pytest.mark.django_db(transaction=True)
def test_net_operations_are_the_same_in_the_browser(modules: Page) -> None:
    cases = [case for case in VECTORS["cases"] if "net" in case]
    found = modules.evaluate(
        """async (cases) => {
            const { normalise, withIds } = await import("/static/askew/operations.js");
            return cases.map((c) => normalise(c.operations, withIds(c.table)));
        }""",
        cases,
    )
    for case, net in zip(cases, found, strict=True):
        assert net == case["net"], case["name"]


@pytest.mark.django_db(transaction=True)
def test_formats_of_cells_are_judged_the_same_in_the_browser(modules: Page) -> None:
    found = modules.evaluate(
        """async (cases) => {
            const { sameFormat } = await import("/static/askew/cells.js");
            return cases.map((c) => sameFormat(c.old, c.new, c.column));
        }""",
        VECTORS["same_format"],
    )
    assert found == [case["same"] for case in VECTORS["same_format"]]


@pytest.mark.django_db(transaction=True)
def test_variants_are_merged_the_same_in_the_browser(modules: Page) -> None:
    found = modules.evaluate(
        """async (cases) => {
            const { hasChanges, insertedBy, merge, removedBy } = await import("/static/askew/merged.js");
            const { replay, withIds } = await import("/static/askew/operations.js");
            const line = (each) => ({ ...each, removed: removedBy(each), inserted: insertedBy(each) });
            const cells = ({ texts, changes }) => ({ texts, changes: [...changes] });
            return cases.map(({ table, variants }) => {
                const base = withIds(table);
                const merged = merge(base, variants.map((operations) => replay(base, operations)));
                return merged && {
                    columns: merged.columns.map(line),
                    rows: merged.rows.map(line),
                    above: merged.above.map(cells),
                    header: cells(merged.header),
                    cells: merged.cells.map(cells),
                    changed: merged.rows.map((_, at) => hasChanges(merged, at)),
                };
            });
        }""",
        MERGED,
    )
    for case, merged in zip(MERGED, found, strict=True):
        assert merged == case["merged"], case["name"]
