"""Eight questions that a small network can learn by heart: cells, several cells, and numbers that are in no cell."""

from __future__ import annotations

from tableqa import Example, Table

CITIES = Table(
    header=["City", "People", "Year"],
    rows=[["Oslo", "7", "1991"], ["Rome", "28", "1950"], ["Bergen", "3", "1972"], ["York", "15", "1963"]],
)
ANIMALS = Table(header=["Animal", "Color"], rows=[["cow", "red"], ["hen", "white"], ["cat", "grey"]])
TEAMS = Table(header=["Team", "Points"], rows=[["Reds", "2"], ["Blues", "51"], ["Greens", "1"]])


def eight() -> list[Example]:
    """The questions and their answers."""
    questions = [
        (CITIES, "which city has the most people?", ["Rome"]),
        (CITIES, "which city is from 1972?", ["Bergen"]),
        (CITIES, "how many people live in york?", ["15"]),
        (CITIES, "which city is not in italy?", ["York"]),
        (CITIES, "which cities have fewer than ten people?", ["Oslo", "Bergen"]),
        (TEAMS, "which team is last?", ["Greens"]),
        (ANIMALS, "how many animals are there?", ["3"]),
        (TEAMS, "points of the blues?", ["51"]),
    ]
    return [
        Example(id=f"eight-{number}", question=question, table=table, answers=answers)
        for number, (table, question, answers) in enumerate(questions)
    ]


def spare() -> Example:
    """A question on another table, to validate on."""
    table = Table(header=["Town", "Area"], rows=[["Lund", "26"], ["Visby", "12"]])
    return Example(id="spare", question="which town is first?", table=table, answers=["Lund"])
