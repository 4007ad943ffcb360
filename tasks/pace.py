"""How long an annotation takes: a guess for the day before any person has made one, and the least that it can take."""

from tasks.contract import TaskType

READING = 20
"""Seconds for reading a question and its table."""


def usual_seconds(task: TaskType) -> float:
    """What an annotation of such a form takes, as a rough guess for the day before any person has made one.

    Reading a question and its table: 20 s. Each input of the form adds to it: a choice 5, a cell marked or a list typed
    20, a text 60, an edit of the table 90 seconds. Kinds that edit then are between 80 and 290 s; RobuT's people cost 30 to
    100 USD for 100 examples at 10 to 12 USD an hour, which is between 90 and 360 s each.
    """
    each = {
        "choice": 5,
        "choices": 10,
        "flag": 2,
        "cells": 20,
        "lines": 20,
        "numbers": 20,
        "json": 30,
        "text": 60,
        "operations": 90,
    }
    optional = {"text": 10} if not task.making else {}
    return READING + sum({**each, **optional}[field.kind] for field in task.fields)


def least_seconds(task: TaskType) -> float:
    """Below this the question cannot have been read and answered: a tenth of the usual time of the form.

    Of the 20 s for question and table 2 remain. People read silently about 240 words a minute, and above some 500 they
    skim (Rayner et al., Psychological Science in the Public Interest 17, 2016; Brysbaert, Journal of Memory and Language
    109, 2019). A question of WikiTableQuestions has about ten words: 1.2 s at that pace, without a look at the table. The
    inputs count a tenth, too: half a second for a choice, 2 for cells or a list, 9 for an edit. It is meant to be too
    little for any person, so that an expert who knows the tables is not flagged.
    """
    return usual_seconds(task) / 10
