"""A qualification from its first item to what follows: its items stay out of the work, its end page names the result and
the next step, the result is final, and every page gives the same figure.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts import crowd_entry
from annotation.management import doctor
from annotation.models import Assignment, Batch, Example, Item, Qualification
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.queue import withdrawal
from annotation.workflow import assignments, automatic_decisions, batch_settings, batches
from tests.annotation.cast import NOON, World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=8)


def entry_test(world: World, *, open: bool = True, size: int = 3, **more: Any) -> Batch:
    """A qualification whose right label is extraction; 60 % pass."""
    batch = world.batch(
        name="Entry test", size=size, purpose="qualification", pass_percent=60, open=False, **more
    )
    for item in batch.items.select_related("example"):
        gold.set_gold(
            batch=batch, example=item.example, data={"label": "extraction"}, by=world.mara, now=NOON
        )
    if open:
        batches.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def sit(world: World, batch: Batch, who: str, *labels: str) -> None:
    for label in labels:
        world.label(batch, who, label)


def examples(batch: Batch) -> set[int]:
    return set(Item.objects.filter(batch=batch).values_list("example_id", flat=True))


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


class TestItsItemsStayOutOfTheWork:
    @pytest.mark.parametrize("strata", ["", "source", "difficulty"])
    def test_a_sample_with_the_same_seed_has_none_of_them_and_is_as_large(
        self, world: World, strata: str
    ) -> None:
        asked = entry_test(world, open=False)

        work = world.batch(name="Real work", size=5, requires=asked, strata=strata, open=False)

        assert work.items_count == 5
        assert not examples(work) & examples(asked)

    def test_examples_that_are_named_one_by_one_are_refused(self, world: World) -> None:
        asked = entry_test(world, open=False)
        known = Item.objects.filter(batch=asked).values_list("example__external_id", flat=True)[0]

        with pytest.raises(ActionRefused, match=f"Entry test.*{known}"):
            world.batch(requires=asked, only=[known], open=False)

    def test_a_source_that_is_all_in_it_is_refused_with_its_name(self, world: World) -> None:
        asked = entry_test(world, open=False, size=8)

        with pytest.raises(ActionRefused, match=r"Every example.*Entry test"):
            world.batch(requires=asked, open=False)

    @pytest.mark.parametrize("opened", [False, True])
    def test_choosing_it_later_takes_items_out_that_nobody_has_had(self, world: World, opened: bool) -> None:
        asked = entry_test(world)
        work = world.batch(name="Real work", overlap=2, open=opened)

        batch_settings.change(batch=work, changes={"requires": asked}, by=world.mara, now=NOON)

        work.refresh_from_db()
        assert (work.items_count, work.slots_count) == (5, 10)
        assert not examples(work) & examples(asked)
        assert list(doctor.findings()) == []

    def test_choosing_it_once_somebody_has_had_one_is_refused(self, world: World) -> None:
        asked = entry_test(world, size=7)
        work = world.batch(name="Real work")
        for _ in range(2):
            world.label(work, "ada", "extraction")

        with pytest.raises(ActionRefused, match="Create another batch"):
            batch_settings.change(batch=work, changes={"requires": asked}, by=world.mara, now=NOON)

        work.refresh_from_db()
        assert work.requires is None
        assert work.items_count == 8

    def test_what_another_batch_feeds_has_none_of_them(self, world: World) -> None:
        asked = entry_test(world)
        first = world.batch(name="First", overlap=1)
        second = world.batch("relevant_cells", name="Second", feeds_from=first, requires=asked, sources=[])
        for _ in range(8):
            world.label(first, "ada", "extraction")
        batches.close_batch(batch=first, by=world.mara, now=NOON)
        automatic_decisions.resolve_due(now=NOON + timedelta(minutes=5))

        assert Item.objects.filter(batch=second).count() == 5
        assert not examples(second) & examples(asked)

    def test_gold_of_the_work_is_none_of_them_either(self, world: World) -> None:
        asked = entry_test(world)
        work = world.batch(name="Real work", size=4, requires=asked)
        known = Item.objects.filter(batch=asked).select_related("example")[0].example

        with pytest.raises(ActionRefused, match="Entry test"):
            gold.set_gold(batch=work, example=known, data={"label": "extraction"}, by=world.mara, now=NOON)

    def test_an_example_of_the_work_is_not_added_to_the_qualification_later(self, world: World) -> None:
        asked = entry_test(world, open=False)
        work = world.batch(name="Real work", size=4, requires=asked)
        taken = Item.objects.filter(batch=work).select_related("example")[0].example

        with pytest.raises(ActionRefused, match=r"Real work.*requires this qualification"):
            gold.set_gold(batch=asked, example=taken, data={"label": "extraction"}, by=world.mara, now=NOON)

        assert not examples(work) & examples(asked)
        (free,) = Example.objects.exclude(pk__in=examples(work) | examples(asked))
        gold.set_gold(batch=asked, example=free, data={"label": "extraction"}, by=world.mara, now=NOON)
        assert free.pk in examples(asked)

    def test_decisions_about_the_work_are_no_gold_of_its_qualification(self, world: World) -> None:
        asked = entry_test(world)
        work = world.batch(name="Real work", size=4, overlap=1)
        for _ in range(4):
            world.label(work, "ada", "extraction")
        automatic_decisions.resolve_due(now=NOON + timedelta(minutes=5))
        Batch.objects.filter(pk=work.pk).update(requires=asked)

        assert not gold.gold_candidates(asked, work).exists()

    def test_the_forms_say_so(self, world: World) -> None:
        asked = entry_test(world)
        work = world.batch(name="Real work", size=2)
        manager = client_of(world.mara)

        for address in (
            f"{reverse('batch_new', args=['films'])}?kind=question_type",
            reverse("batch_settings", args=[work.public_id]),
        ):
            assert "Items of the qualification are left out of this batch" in text(manager.get(address))
        assert asked.name


class TestTheLastItem:
    def test_leads_who_passed_to_the_work_that_requires_it(self, world: World) -> None:
        asked = entry_test(world)
        work = world.batch(name="Real work", size=4, requires=asked)
        sit(world, asked, "ada", "extraction", "extraction", "reasoning")

        page = client_of(world.ada).get(reverse("annotate", args=[asked.public_id]))

        said = text(page)
        assert "You passed" in said
        assert "2 of 3 right (66 %)" in said
        assert "60 % needed" in said
        assert (
            f'<a class="button primary" autofocus href="{reverse("annotate", args=[work.public_id])}">'
            in page.content.decode()
        )
        assert "Continue with Real work" in said
        assert "Undo" not in said

    def test_tells_who_failed_and_where_they_can_go_on(self, world: World) -> None:
        asked = entry_test(world)
        world.batch(name="Real work", size=2, requires=asked)
        client = client_of(world.ada)
        sit(world, asked, "ada", "reasoning", "reasoning", "extraction")
        address = reverse("annotate", args=[asked.public_id])

        page = client.get(address)

        assert "You did not pass" in text(page)
        assert "1 of 3 right (33 %)" in text(page)
        assert "Undo" not in text(page)
        assert reverse("inquiries", args=["films"]) in page.content.decode()
        other = world.batch(name="For everybody", size=2)
        page = client.get(address)
        assert "Continue with For everybody" in text(page)
        assert reverse("annotate", args=[other.public_id]) in page.content.decode()

    def test_leads_somebody_of_the_crowd_who_failed_to_the_code(self, world: World) -> None:
        asked = entry_test(world)
        world.batch(name="Real work", size=2, requires=asked)
        link = crowd_entry.make_link(
            project=world.project,
            name="Pool",
            parameters=crowd_entry.PARAMETERS["prolific"],
            completion_code="C1",
            screen_out_code="S1",
            expires_at=NOON + timedelta(days=9),
            by=world.mara,
            now=NOON,
        )
        world.people["pat"] = crowd_entry.enter(
            link=link, ids=crowd_entry.Ids("pat", "s", "t"), person=None, now=NOON
        )
        sit(world, asked, "pat", "reasoning", "reasoning", "reasoning")

        page = client_of(world.pat).get(reverse("annotate", args=[asked.public_id]))

        assert (
            f'<a class="button primary" autofocus href="{reverse("crowd_finish")}">' in page.content.decode()
        )
        assert "Get your code" in text(page)

    def test_names_the_work_that_is_not_open_yet(self, world: World) -> None:
        asked = entry_test(world)
        world.batch(name="Real work", size=2, requires=asked, open=False)
        sit(world, asked, "ada", "extraction", "extraction", "extraction")

        page = text(client_of(world.ada).get(reverse("annotate", args=[asked.public_id])))

        assert "Real work is not open yet" in page

    def test_that_is_skipped_leads_there_too(self, world: World) -> None:
        asked = entry_test(world)
        sit(world, asked, "ada", "extraction", "extraction")
        last = world.take(asked, "ada")
        assert last is not None
        assignments.skip(assignment=last, reason="unclear", now=NOON)

        page = text(client_of(world.ada).get(reverse("annotate", args=[asked.public_id])))

        assert "2 of 3 right" in page


class TestTheResult:
    def test_is_final(self, world: World) -> None:
        asked = entry_test(world)
        sit(world, asked, "ada", "reasoning", "reasoning")
        mine = Assignment.objects.filter(batch=asked, person=world.ada).select_related("annotation", "batch")
        first = mine[0]
        assert withdrawal.withdrawable([first], now=NOON)
        assert first.annotation is not None
        assignments.undo(annotation=first.annotation, now=NOON)
        world.answer(world.reload(first), {"label": "reasoning"})
        sit(world, asked, "ada", "reasoning")

        for one in mine:
            assert one.annotation is not None
            with pytest.raises(ActionRefused, match="result of Entry test is final"):
                assignments.undo(annotation=one.annotation, now=NOON)
        assert assignments.reopenable(list(mine.select_related("item")), now=NOON) == set()
        page = text(client_of(world.ada).get(reverse("my_work")))
        assert "Withdraw" not in page
        assert "Final: your result is recorded." in page
        answer = client_of(world.ada).post(
            reverse("annotate", args=[asked.public_id]), {"action": "undo"}, follow=True
        )
        assert "result of Entry test is final" in text(answer)
        assert Assignment.objects.filter(batch=asked, state="submitted").count() == 3

    def test_is_one_figure_on_every_page(self, world: World) -> None:
        asked = entry_test(world, gold_feedback=True)
        sit(world, asked, "ada", "extraction")
        skipped = world.take(asked, "ada")
        assert skipped is not None
        assignments.skip(assignment=skipped, reason="unclear", now=NOON)
        sit(world, asked, "ada", "extraction")
        row = Qualification.objects.get(person=world.ada)
        assert (row.right, row.judged) == (2, 3)
        manager = client_of(world.mara)

        assert "2 of 3, 66 %" in text(manager.get(reverse("batch_people", args=[asked.public_id])))
        assert "Ada 2 3 66 %" in text(manager.get(reverse("gold", args=[asked.public_id])))
        assert "66 % 20.8 to 93.9 %; n = 3" in text(
            manager.get(reverse("batch_quality", args=[asked.public_id]))
        )
        assert "2 of 3" in text(client_of(world.ada).get(reverse("gold_feedback", args=[asked.public_id])))
        assert "2 of 3" in text(client_of(world.ada).get(reverse("annotate", args=[asked.public_id])))


class TestAQualificationThatIsNotOpen:
    def test_the_manager_is_warned_before_and_after_opening(self, world: World) -> None:
        asked = entry_test(world, open=False)
        work = world.batch(name="Real work", size=2, requires=asked, open=False)
        manager = client_of(world.mara)
        warning = "Real work requires Entry test, which is not open"

        assert warning in text(manager.get(reverse("open_batch", args=[work.public_id])))
        opened = manager.post(reverse("open_batch", args=[work.public_id]), follow=True)
        assert warning in text(opened)
        assert warning in text(manager.get(reverse("batch", args=[work.public_id])))
        batches.open_batch(batch=asked, by=world.mara, now=NOON)
        assert warning not in text(manager.get(reverse("batch", args=[work.public_id])))

    def test_the_manager_is_warned_when_several_are_opened(self, world: World) -> None:
        asked = entry_test(world, open=False)
        work = world.batch(name="Real work", size=2, requires=asked, open=False)

        answer = client_of(world.mara).post(
            reverse("act_on_batches", args=["films"]),
            {"action": "open", "batches": [work.public_id], "confirmed": "yes"},
            follow=True,
        )

        assert "Real work requires Entry test, which is not open" in text(answer)

    def test_annotators_see_what_comes_first(self, world: World) -> None:
        asked = entry_test(world, open=False)
        work = world.batch(name="Real work", size=2, requires=asked)
        client = client_of(world.ada)

        for address in (reverse("home"), reverse("project", args=["films"])):
            page = client.get(address)
            assert "after Entry test" in text(page), address
            assert reverse("annotate", args=[work.public_id]) not in page.content.decode(), address
        page = client.get(reverse("annotate", args=[work.public_id]), follow=True)
        assert "Real work requires the qualification Entry test, which is not open yet" in text(page)
        assert "No item of this batch is left" not in text(page)

    def test_one_that_is_open_comes_first_as_well(self, world: World) -> None:
        asked = entry_test(world, open=False)
        work = world.batch(name="Real work", size=2, requires=asked)
        batches.open_batch(batch=asked, by=world.mara, now=NOON)
        client = client_of(world.ada)

        page = client.get(reverse("home"))

        assert "after Entry test" in text(page)
        assert f'class="button primary" autofocus href="{reverse("annotate", args=[asked.public_id])}"' in (
            page.content.decode()
        )
        sit(world, asked, "ada", "extraction", "extraction", "extraction")
        page = client.get(reverse("home"))
        assert "after Entry test" not in text(page)
        assert reverse("annotate", args=[work.public_id]) in page.content.decode()
