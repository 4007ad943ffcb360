"""The form that plans a batch: what it has ready, what a failed form keeps, and qualifications, which wait for gold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.imports import example_import
from annotation.models import Batch
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.queue import sampling
from annotation.web.forms.batches import BatchForm
from annotation.workflow import batches
from tasks.contract import task_type
from tests.annotation.cast import NOON, World

ADDRESS = "/projects/films/batches/new/"


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def form_page(client: Client, kind: str = "question_type") -> str:
    return client.get(ADDRESS, {"kind": kind}).content.decode()


def posted(client: Client, **fields: Any) -> Any:
    """What the page says after these fields were sent, and the others as a browser sends them untouched."""
    untouched = {"kind": "question_type", "seed": 0, "overlap": 1, "strategy": "open", "purpose": "work"}
    untouched |= {"strata": "", "feeds_from": "", "rule": "", "requires": "", "gold_percent": ""}
    return client.post(ADDRESS, {**untouched, **fields}, follow=True)


def ticked_sources(page: str) -> list[str]:
    boxes = re.findall(r'<input[^>]+name="sources"[^>]*>', page)
    return [re.search(r'value="([^"]+)"', box).group(1) for box in boxes if "checked" in box]  # type: ignore[union-attr]


def open_folds(page: str) -> list[str]:
    return re.findall(r'<details data-fold="([^"]+)" open>', page)


class TestContract:
    BOX = re.compile(r"<textarea([^>]+)>([^<]*)</textarea>")

    def box(self, page: str) -> tuple[str, str]:
        """The attributes and the text of the box for the contract of an edit."""
        boxes = self.BOX.findall(page)
        return next(
            (attributes, text.strip()) for attributes, text in boxes if "settings-contract" in attributes
        )

    def test_it_is_empty_with_an_example_as_placeholder(self, world: World, mara: Client) -> None:
        attributes, text = self.box(form_page(mara, "header_synonym"))
        assert text == ""
        assert 'placeholder="{&quot;at_most&quot;: 1}"' in attributes
        assert 'rows="2"' in attributes

    def test_an_empty_one_leaves_the_default(self, world: World, mara: Client) -> None:
        fields = {"kind": "header_synonym", "name": "Headers", "sources": [world.source.public_id]}
        posted(mara, **fields, **{"settings-contract": ""})
        assert Batch.objects.get().settings == {}

    def test_what_was_entered_is_shown_again(self, world: World, mara: Client) -> None:
        page = posted(mara, kind="header_synonym", **{"settings-contract": '{"at_most": 1}'}).content.decode()
        assert self.box(page)[1] == "{&quot;at_most&quot;: 1}"


class TestSources:
    def test_the_only_source_is_ticked(self, world: World, mara: Client) -> None:
        assert ticked_sources(form_page(mara)) == [world.source.public_id]

    def test_of_several_sources_none_is_ticked(self, world: World, mara: Client, tmp_path: Path) -> None:
        example_import.import_examples(
            project=world.project,
            reader="wtq",
            path=tmp_path / "films-dev.tsv",
            name="second",
            now=NOON,
        )

        assert ticked_sources(form_page(mara)) == []

    def test_a_source_that_was_unticked_stays_so_in_a_failed_form(self, mara: Client) -> None:
        assert ticked_sources(posted(mara, name="None").content.decode()) == []

    def test_a_batch_that_another_one_feeds_takes_nothing_of_the_ticked_source(
        self, world: World, mara: Client
    ) -> None:
        feeding = world.batch()
        fields = {"sources": world.source.public_id, "feeds_from": feeding.public_id}

        posted(mara, name="Fed", **fields)
        posted(mara, name="Both", also_sources="on", **fields)

        assert Batch.objects.get(name="Fed").items_count == 0
        assert Batch.objects.get(name="Both").items_count == 4


class TestFolds:
    def test_every_field_of_the_form_is_on_the_page_once(self, world: World, mara: Client) -> None:
        for kind in ("question_type", "header_synonym"):
            page = form_page(mara, kind)
            form = BatchForm(task=task_type(kind), project=world.project)
            on_page = re.findall(r'(?:input|select|textarea)[^>]* name="([^"]+)"', page)
            assert [name for name in form.fields if on_page.count(name) == 0] == []
            assert [name for name in form.fields if on_page.count(name) > 1] == []
            assert "Task type settings" in page

    def test_all_are_shut_at_first(self, mara: Client) -> None:
        assert open_folds(form_page(mara)) == []

    def test_a_failed_form_keeps_open_what_was_filled_in_with_its_values(self, mara: Client) -> None:
        page = posted(
            mara, name="None", seed=7, items_per_day=40, pay_currency="EUR", pay_per_hour=12
        ).content.decode()

        assert open_folds(page) == ["sampling", "limits", "pay"]
        for name, value in (("seed", "7"), ("items_per_day", "40"), ("pay_per_hour", "12")):
            assert re.search(rf'<input[^>]+name="{name}" value="{value}"', page)

    def test_a_failed_form_keeps_open_what_was_opened_by_hand(self, mara: Client) -> None:
        assert open_folds(posted(mara, name="None", open=["fed", "quality"]).content.decode()) == [
            "fed",
            "quality",
        ]

    def test_a_fold_with_an_error_is_open(self, mara: Client) -> None:
        assert open_folds(posted(mara, name="B", hours_per_day=25).content.decode()) == ["limits"]


class TestQualification:
    def plan(self, world: World, client: Client) -> Any:
        return posted(
            client,
            name="Entry test",
            sources=world.source.public_id,
            purpose="qualification",
            pass_percent=75,
            open_at_once="on",
        )

    def mark_all(self, world: World, batch: Batch) -> None:
        for item in batch.items.all():
            gold.set_gold(
                batch=batch,
                example=item.example,
                data={"label": "extraction"},
                why="",
                by=world.mara,
                now=NOON,
            )

    def test_is_planned_and_leads_to_its_gold_even_if_open_at_once_was_ticked(
        self, world: World, mara: Client
    ) -> None:
        page = self.plan(world, mara)

        batch = Batch.objects.get(name="Entry test")
        assert batch.state == "planned"
        assert page.redirect_chain == [(reverse("gold", args=[batch.public_id]), 302)]
        assert "4 items of this qualification have no gold answer" in re.sub(
            r"<[^>]+>", "", page.content.decode()
        )

    def test_without_gold_its_page_links_to_gold_in_place_of_the_button(
        self, world: World, mara: Client
    ) -> None:
        self.plan(world, mara)
        batch = Batch.objects.get(name="Entry test")
        gold_page = reverse("gold", args=[batch.public_id])

        page = mara.get(reverse("open_batch", args=[batch.public_id])).content.decode()
        refused = mara.post(reverse("open_batch", args=[batch.public_id]), follow=True)
        several = mara.post(
            reverse("act_on_batches", args=["films"]),
            {"action": "open", "batches": [batch.public_id], "confirmed": "1"},
            follow=True,
        ).content.decode()

        main = page[page.index("<main") :]
        assert f'href="{gold_page}"' in main
        assert "Open batch</button>" not in main
        assert refused.redirect_chain == [(gold_page, 302)]
        assert "Items of Entry test without a gold answer: 4 of 4" in refused.content.decode()
        message = re.search(r'<p class="notice error">.*?</p>', several, re.DOTALL)
        assert message is not None
        assert f'<a href="{gold_page}">' in message.group()
        assert mara.get(gold_page).status_code == 200
        batch.refresh_from_db()
        assert batch.state == "planned"

    def test_opens_once_every_item_has_gold(self, world: World, mara: Client) -> None:
        self.plan(world, mara)
        batch = Batch.objects.get(name="Entry test")
        self.mark_all(world, batch)

        mara.post(reverse("open_batch", args=[batch.public_id]))

        batch.refresh_from_db()
        assert batch.state == "open"

    def test_takes_no_items_from_another_batch_whose_answers_nobody_knows_yet(self, world: World) -> None:
        feeding = world.batch()

        with pytest.raises(ActionRefused, match="cannot take items from another batch"):
            batches.plan_batch(
                project=world.project,
                name="Entry test",
                task=task_type("question_type"),
                sample=sampling.Sample(feeds_from=feeding),
                terms={"purpose": "qualification", "pass_percent": 75},
                by=world.mara,
                now=NOON,
            )

    def test_keeps_its_gold_while_it_is_open(self, world: World, mara: Client) -> None:
        self.plan(world, mara)
        batch = Batch.objects.get(name="Entry test")
        self.mark_all(world, batch)
        batches.open_batch(batch=batch, by=world.mara, now=NOON)

        with pytest.raises(ActionRefused, match="open qualification"):
            gold.remove_gold(gold=batch.items.first().gold, by=world.mara, now=NOON)  # type: ignore[union-attr]


def test_a_field_of_another_purpose_says_so_beside_it(world: World, mara: Client) -> None:
    fields = {"name": "Types", "sources": world.source.public_id, "pass_percent": 80}
    page = posted(mara, **fields).content.decode()

    assert not Batch.objects.exists()
    assert open_folds(page) == ["quality"]
    error = re.search(r'id="id_pass_percent_error">(.*?)</ul>', page)
    assert error is not None
    assert "Only for qualification batches. Clear this field" in error.group(1)
    assert "Leave pass_percent out" not in page
