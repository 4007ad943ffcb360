"""The board of a project: what needs somebody, what is blocked and why, how far the work is, and the picture of its flow."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.access.roles import PERMISSIONS, Permission, Role
from annotation.charts import flow_diagram
from annotation.charts.flow_diagram import Arrow, Box, End
from annotation.web.board import flow, needs
from annotation.web.board.needs import State
from annotation.web.board.stages import Counts, Stage, blockages, root_blockages

MANAGER = PERMISSIONS[Role.MANAGER]


def stage(key: int = 1, **more: Any) -> Stage:
    return Stage(key=key, public_id=f"b{key}", name=f"Batch {key}", title="T", **{"state": "open", **more})


def a_study(**more: Any) -> State:
    """A project with people and one batch that is under way, for a manager."""
    usual = {
        "may": MANAGER,
        "sources": 1,
        "annotators": 2,
        "adjudicators": 1,
        "stages": [stage(counts=Counts(waiting=3))],
    }
    return State(**{**usual, **more})


# -- what needs somebody ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        (a_study(sources=0, stages=[]), "import", "Import examples"),
        (a_study(stages=[]), "batch", "New batch"),
        (a_study(annotators=0), "annotators", "Invite people"),
        (a_study(failed=[("import", 1)]), "failed_import", "1 failed import"),
        (a_study(failed=[("draw_items", 1), ("evaluate", 1)]), "failed_job", "2 failed jobs"),
        (a_study(questions=3), "questions", "3 open questions of annotators"),
        (
            a_study(stages=[stage(state="planned", counts=Counts(waiting=5))]),
            "open",
            "“Batch 1” is ready to open",
        ),
        (
            a_study(stages=[stage(key, state="planned", counts=Counts(waiting=5)) for key in (1, 2)]),
            "open",
            "2 batches are ready to open",
        ),
        (
            a_study(stages=[stage(state="planned", decides=False, lacks_gold=2, counts=Counts(waiting=5))]),
            "gold",
            "2 gold answers missing",
        ),
        (
            a_study(stages=[stage(counts=Counts(accepted=4, excluded=1))], released=4),
            "close",
            "“Batch 1” is ready to close",
        ),
        (
            a_study(stages=[stage(counts=Counts(adjudication=2))], adjudicators=0),
            "adjudicators",
            "Add an adjudicator",
        ),
        (
            a_study(stages=[stage(state="closed", counts=Counts(accepted=4))], unchecked=2, released=4),
            "unchecked",
            "2 unchecked edits before a release",
        ),
        (
            a_study(stages=[stage(state="closed", counts=Counts(accepted=1204))]),
            "release",
            "Create release with 1,204 new items",
        ),
    ],
)
def test_the_most_urgent_need_is_the_primary_action(state: State, kind: str, words: str) -> None:
    first = needs.primary(state)

    assert (first.kind, needs.label(first)) == (kind, words)


@pytest.mark.parametrize(
    "state",
    [
        a_study(),
        a_study(stages=[stage(state="closed", counts=Counts(accepted=4))], released=4),
        a_study(stages=[stage(state="planned", waits_for_model=True, counts=Counts())]),
    ],
)
def test_a_study_in_which_others_are_at_work_needs_nothing(state: State) -> None:
    assert needs.needs(state) == []


def test_work_of_adjudicators_is_the_next_action_of_a_manager_who_has_none() -> None:
    state = a_study(
        stages=[stage(1, counts=Counts(adjudication=2)), stage(2, state="paused", counts=Counts())]
    )

    found = needs.needs(state)

    assert [needs.label(need) for need in found] == ["2 items wait for an adjudicator", "“Batch 2” is paused"]
    assert needs.primary(state) == found[0]
    assert needs.primary(replace(state, questions=1)).kind == "questions"


def test_what_the_person_can_adjudicate_comes_before_questions_and_batches() -> None:
    state = a_study(
        may=MANAGER | PERMISSIONS[Role.ADJUDICATOR],
        mine=1,
        questions=1,
        stages=[stage(1, counts=Counts(adjudication=1)), stage(2, state="planned", counts=Counts(waiting=1))],
    )

    assert [need.kind for need in needs.needs(state)] == ["adjudicate", "questions", "open"]


def test_nobody_is_asked_for_what_they_may_not_do() -> None:
    state = State(may=frozenset({Permission.SEE_PROGRESS}))
    busy = replace(state, questions=3, unchecked=2, stages=[stage(state="planned", counts=Counts(waiting=1))])

    assert needs.needs(state) == needs.needs(busy) == []


def test_where_nothing_waits_the_next_action_is_a_look_at_what_there_is() -> None:
    viewer = State(may=PERMISSIONS[Role.VIEWER])

    assert needs.primary(a_study()).kind == needs.primary(replace(a_study(), may=viewer.may)).kind == "items"
    assert needs.primary(viewer).kind == "sources"


@st.composite
def states(draw: st.DrawFn) -> State:
    """Any project, for any person who sees its progress."""
    few = st.integers(0, 3)
    stages = [
        stage(
            key,
            state=draw(st.sampled_from(["planned", "open", "paused", "closed"])),
            counts=draw(st.none() | st.builds(Counts, *[few] * 6)),
            takes_from=draw(st.sampled_from([None, *range(1, key)])),
            decides=draw(st.booleans()),
            lacks_gold=draw(few),
        )
        for key in range(1, draw(few) + 1)
    ]
    roles = draw(st.sets(st.sampled_from(sorted(set(Role) - {Role.ANNOTATOR}, key=str)), min_size=1))
    return State(
        may=frozenset().union(*(PERMISSIONS[role] for role in roles)),
        stages=stages,
        sources=draw(few),
        annotators=draw(few),
        adjudicators=draw(few),
        mine=draw(few),
        questions=draw(few),
        failed=draw(st.lists(st.tuples(st.sampled_from(["import", "release", "study"]), st.integers(1, 3)))),
        unchecked=draw(few),
        released=draw(st.none() | few),
    )


@given(states())
def test_every_state_has_one_next_action_which_is_the_most_urgent_need(state: State) -> None:
    first, waiting = needs.primary(state), needs.needs(state)

    assert needs.label(first)
    assert first.is_urgent == any(need.is_urgent for need in waiting)
    assert (first in waiting) == bool(waiting)
    assert waiting.count(first) <= 1


@given(st.lists(states(), max_size=4))
def test_a_page_with_projects_has_one_next_action(projects: list[State]) -> None:
    actions = {key: needs.primary(state) for key, state in enumerate(projects)}

    led = needs.leading(actions)

    assert (led is None) == (not projects)
    if led is not None:
        assert actions[led].is_urgent == any(need.is_urgent for need in actions.values())


def test_a_batch_is_not_ready_to_close_while_items_can_come_from_the_start_of_its_chain() -> None:
    chain = [
        stage(1, counts=Counts(waiting=1)),
        stage(2, takes_from=1, counts=Counts(accepted=1)),
        stage(3, takes_from=2, counts=Counts(accepted=1)),
    ]
    finished = [replace(chain[0], state="closed", counts=Counts(accepted=1)), *chain[1:]]

    assert needs.needs(a_study(stages=chain)) == []
    assert [need.kind for need in needs.needs(a_study(stages=finished, released=3))] == ["close"]


@pytest.mark.parametrize(
    ("more", "is_next"),
    [
        (stage(2, counts=Counts(waiting=1)), False),
        (stage(2, counts=None), False),
        (stage(2, state="closed", counts=Counts(adjudication=1)), False),
        (stage(2, state="closed", counts=Counts(waiting=1)), True),
        (stage(2, decides=False, counts=Counts(waiting=1)), True),
    ],
)
def test_a_release_waits_until_everything_is_decided_that_can_be(more: Stage, is_next: bool) -> None:
    state = a_study(stages=[stage(1, state="closed", counts=Counts(accepted=4)), more])

    assert ("release" in [need.kind for need in needs.needs(state)]) is is_next


# -- what is blocked --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stages", "sentence", "cause"),
    [
        (
            [stage(1, counts=Counts(waiting=3)), stage(2, takes_from=1, counts=Counts())],
            "It waits for 3 more decisions in “Batch 1”.",
            1,
        ),
        (
            [stage(1, state="planned", counts=Counts(waiting=3)), stage(2, state="planned", takes_from=1)],
            "It takes items from “Batch 1”, which is not open.",
            1,
        ),
        (
            [
                stage(3, counts=Counts(waiting=3)),
                stage(1, takes_from=3, counts=Counts()),
                stage(2, takes_from=1, counts=Counts()),
            ],
            "It waits for items from “Batch 1”.",
            1,
        ),
        ([stage(1), stage(2, counts=Counts(adjudication=1))], "1 item waits for adjudication.", 2),
        ([stage(1), stage(2, state="paused")], "It is paused.", 2),
        ([stage(1), stage(2, waits_for_model=True)], "The model must answer the questions first.", 2),
        ([stage(1, state="planned"), stage(2, requires=1)], "It requires “Batch 1”, which is not open.", 1),
        ([stage(1, decides=False), stage(2, requires=1)], "No annotator has passed “Batch 1” yet.", 1),
        ([stage(1), stage(2, state="planned", lacks_gold=2)], "2 items have no gold answer.", 2),
    ],
)
def test_a_batch_says_what_blocks_it(stages: list[Stage], sentence: str, cause: int) -> None:
    blockage = blockages(stages)[2]

    assert (blockage.sentence, blockage.cause.key) == (sentence, cause)


@pytest.mark.parametrize(
    "stages",
    [
        [stage(1, counts=Counts(waiting=3)), stage(2, takes_from=1, counts=Counts(waiting=1))],
        [stage(1, decides=False, passed=1), stage(2, requires=1, counts=Counts(waiting=1))],
        [stage(1, counts=None), stage(2, takes_from=1, counts=None)],
        [stage(1), stage(2, state="closed", counts=Counts(waiting=1, accepted=2))],
    ],
)
def test_a_batch_with_work_or_with_hidden_counts_is_not_blocked(stages: list[Stage]) -> None:
    assert 2 not in blockages(stages)


def test_a_batch_that_only_waits_for_a_blocked_one_is_no_root_of_a_blockage() -> None:
    stages = [
        stage(1, counts=Counts(adjudication=3)),
        stage(2, takes_from=1, counts=Counts()),
        stage(3, takes_from=2, counts=Counts()),
    ]

    found = blockages(stages)

    assert list(found) == [1, 2, 3]
    assert [one.stage.key for one in root_blockages(found)] == [1]


# -- the order of flow ------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from(["open", "closed"])), max_size=30
    )
)
def test_every_batch_is_right_of_what_comes_before_it_and_no_two_share_a_place(
    drawn: list[tuple[int, int, str]],
) -> None:
    # Each batch names only batches that were planned before it.
    stages = [
        stage(
            key,
            state=state,
            takes_from=before if before < key else None,
            requires=first if first < key else None,
        )
        for key, (before, first, state) in enumerate(drawn, start=1)
    ]
    stages = [
        replace(one, takes_from=one.takes_from or None, requires=one.requires or None) for one in stages
    ]

    found = flow.arrange(stages, blockages(stages))

    places = list(zip(found.columns.values(), found.rows.values(), strict=True))
    assert len(places) == len(set(places)) == len(stages) - found.left_out
    for one in (one for one in stages if one.key in found.rows):
        for before in (one.takes_from, one.requires):
            assert before is None or found.columns[one.key] > found.columns.get(before, 0)
    assert sorted(set(found.rows.values())) == list(range(len(set(found.rows.values()))))


def test_blocked_chains_come_first_and_finished_ones_last() -> None:
    stages = [
        stage(1, state="closed"),
        stage(2),
        stage(3, counts=Counts(adjudication=1)),
    ]

    found = flow.arrange(stages, blockages(stages))

    assert sorted(found.rows, key=lambda key: found.rows[key]) == [3, 2, 1]


def test_chains_over_the_same_sources_are_beside_one_box_of_sources() -> None:
    stages = [stage(1, sources=("a",)), stage(2, sources=("b",)), stage(3, sources=("a",))]

    found = flow.arrange(stages, {})

    assert found.origins == [(("a",), 0, 1), (("b",), 2, 2)]


def test_a_picture_that_would_be_too_tall_leaves_finished_batches_to_the_table() -> None:
    stages = [stage(key, state="closed" if key < 40 else "open") for key in range(1, 51)]

    found = flow.arrange(stages, {})

    assert len(found.rows) == flow.MOST_ROWS
    assert found.left_out == 50 - flow.MOST_ROWS
    assert {stage.key for stage in stages if stage.state == "open"} <= set(found.rows)


# -- the picture ------------------------------------------------------------------------------------


def drawn(title: str = "Types", **more: Any) -> ElementTree.Element:
    box = Box("1", 1, 0, title, "open · 1 of 2 decided", "/batches/x/", "Types. open", **more)
    after = Box("2", 2, 1, "Edits", "open", "/batches/y/", "Edits")
    ends = [
        End("from", 0, 1, "wtq", "Source", "/sources/", is_start=True),
        End("releases", 0, 1, "Releases", "None yet", "/releases/", is_start=False),
    ]
    arrows = [
        Arrow("from", "1", "2 items", (("1 waiting", "/waiting/"),)),
        Arrow("1", "2"),
        Arrow("2", "releases", "1 accepted"),
    ]
    return ElementTree.fromstring(flow_diagram.draw("flow", title, ends, [box, after], arrows))


@given(st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs", "Cn")), max_size=60))
def test_whatever_a_batch_is_called_it_stays_a_text(name: str) -> None:
    tags = {element.tag for element in drawn(name).iter()}

    assert tags == {"svg", "title", "g", "path", "text", "a", "rect"}


@pytest.mark.parametrize(
    ("source", "releases"), [("wtq", "Veröffentlichungen"), ("Zusammengesetztes", "Releases")]
)
def test_ends_are_as_wide_as_their_longest_word_and_nothing_overlaps(source: str, releases: str) -> None:
    box = Box("1", 1, 0, "Types", "open", "/batches/x/", "Types. open")
    ends = [
        End("from", 0, 0, source, "Source", "/sources/", is_start=True),
        End("releases", 0, 0, releases, "None yet", "/releases/", is_start=False),
    ]

    picture = ElementTree.fromstring(flow_diagram.draw("flow", "Flow", ends, [box], []))

    words = [text.text for text in picture.iter("text")]
    assert source in words
    assert releases in words
    boxes = [box for box in picture.iter("rect") if box.attrib["class"] == "box"]
    places = sorted((float(box.attrib["x"]), float(box.attrib["width"])) for box in boxes)
    assert all(left + width < right for (left, width), (right, _) in pairwise(places))
    assert places[-1][0] + places[-1][1] <= float(picture.attrib["width"])


def test_a_box_is_a_link_that_says_everything_and_arrows_are_for_the_eye() -> None:
    picture = drawn(alert="2 to adjudicate", drop="1 excluded", parts=(("accepted", 0.5),))

    links = {link.attrib.get("aria-label", ""): link.attrib for link in picture.iter("a")}
    hidden = [group for group in picture.iter("g") if group.attrib.get("aria-hidden") == "true"]
    assert links["Types. open"]["href"] == "/batches/x/"
    assert (links[""]["href"], links[""]["tabindex"]) == ("/waiting/", "-1")
    assert {"2 items", "1 waiting", "1 excluded"} <= {
        text.text for group in hidden for text in group.iter("text")
    }
    assert {link.attrib["tabindex"] for group in hidden for link in group.iter("a")} == {"-1"}
    assert not any("style" in element.attrib for element in picture.iter())


def test_boxes_and_arrows_lie_within_the_picture() -> None:
    picture = drawn()
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])

    for rect in picture.iter("rect"):
        x, y, wide, high = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
