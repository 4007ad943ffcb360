"""Task types that judge and that reword, without scripts: forms, and what is submitted with them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.annotation.cast import World
from tests.annotation.plain_page import PlainPage, check, fill, value_of, words
from tests.modules.pages import judging

REWORDING = "Your rewording"


def submitted(world: World, client: Client) -> list[Any]:
    return judging.submitted(world, client)


def test_without_scripts_a_paraphrase_is_a_form(world: World, client: Client) -> None:
    page = PlainPage(client, judging.batch(world, client, "question_paraphrase", variant="sentence"))
    question = "//*[contains(@class, 'question')]"
    first = page.text(question)
    assert value_of(page.field(REWORDING)) == [first]
    check(page.field("Simpler"))
    page.press("Submit")
    assert page.status == 422
    assert "question is unchanged" in page.text("//*[@data-notices]")
    fill(page.field(REWORDING), f"tell me: {first}")
    page.press("Submit")
    assert page.text(question) != first
    assert submitted(world, client) == [{"question": f"tell me: {first}", "category": "simplification"}]


def test_without_scripts_two_examples_are_one_table_with_both_texts(world: World, client: Client) -> None:
    page = PlainPage(client, judging.pair(world, client))
    [cell] = page.all("//askew-comparison//td[contains(@class, 'changed')]")
    assert {words(part)[-4:] for part in cell.xpath(".//ins")} == {"1996", "2006"}
    assert sorted(words(part)[-1] for part in cell.xpath(".//*[@class='who']")) == ["L", "R"]
    assert "1995" in words(cell.xpath(".//del")[0])  # as on the page with scripts
    assert page.text("//*[@data-verdict='left']//*[@data-old-answers]") == "1995"
    for name, value in (("left", "5"), ("right", "2"), ("better", "left")):
        check(page.all(f"//input[@name='{name}'][@value='{value}']")[0])
    page.press("Submit")
    assert page.status == 422
    assert "hoose what is wrong" in page.text("//*[@data-notices]")
    [missing] = [
        label
        for label in page.all("//*[@data-verdict='right']//label")
        if words(label).startswith("Something is missing")
    ]
    check(missing.xpath(".//input")[0])
    page.press("Submit")
    assert "All caught up" in page.text()
    assert submitted(world, client)[-1] == {
        "left": 5,
        "right": 2,
        "better": "left",
        "left_errors": [],
        "right_errors": ["missing"],
    }


def test_without_scripts_an_answer_is_two_scales(world: World, client: Client) -> None:
    page = PlainPage(client, judging.batch_over_rated(world, client, "answer_rating", overlap=1))
    question = "//*[contains(@class, 'question')]"
    first = page.text(question)
    assert "Answer number" in page.text("//blockquote")
    scales = page.all("//fieldset[contains(@class, 'scale')]")
    for scale in scales:
        names = [" ".join(label.text_content().split()) for label in scale.xpath(".//label")]
        first, last = scale.xpath(".//*[@class='ends']/span/text()")
        assert (names[0], names[-1]) == (f"1, {first}", f"5, {last}"), "as a screen reader names the ends"
    assert len(scales) == 2
    check(page.all("//input[@name='faithfulness'][@value='5']")[0])
    check(page.all("//input[@name='comprehensiveness'][@value='3']")[0])
    page.press("Submit")
    assert page.text(question) != first
    assert submitted(world, client) == [{"faithfulness": 5, "comprehensiveness": 3}]


def test_without_scripts_the_others_are_forms_too(world: World, client: Client) -> None:
    source = judging.rated(world)

    def opened(kind: str, **terms: Any) -> PlainPage:
        return PlainPage(client, judging.batch(world, client, kind, **terms))

    page = opened("answer_check", of="originals", sources=[source])
    fill(page.field("Your answer"), "Heat\nAlien")
    page.press("Submit")
    page = opened("question_screening", sources=[source])
    check(page.field("Remove"))
    page.press("Submit")
    page = opened("metric_failure", sources=[source])
    assert "BLEU gives it 0." in page.text()
    check(page.field("Answer: length"))
    fill(page.field("Note"), "short")
    page.press("Submit")
    page = opened("question_type", settings={"suggestions": "before"})
    assert "every answer is a cell" in page.text("//askew-said")
    check(page.field("Extraction"))
    page.press("Submit")
    assert submitted(world, client) == [
        {"answers": ["Heat", "Alien"], "unanswerable": False},
        {"label": "remove"},
        {"causes": ["answer_length"], "note": "short"},
        {"label": "extraction"},
    ]
