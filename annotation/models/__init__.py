"""Every database table of Askew, by what it is about."""

from annotation.models.events import Event
from annotation.models.jobs import Job, Upload
from annotation.models.outcomes import Adjudication, Decision, Outcome, Release
from annotation.models.people import ApiToken, Invitation, Membership, Person, Project
from annotation.models.predictions import Try, Verdict
from annotation.models.proposals import Handling, Proposal, Provenance, Reply, Telling, Trial
from annotation.models.sources import Example, ModelAnswer, PerturbationRun, Source, StoredTable
from annotation.models.work import (
    Annotation,
    Assignment,
    Batch,
    Draft,
    Exclusion,
    Flag,
    Guidelines,
    Item,
    Place,
    Tally,
)

__all__ = [
    "Adjudication",
    "Annotation",
    "ApiToken",
    "Assignment",
    "Batch",
    "Decision",
    "Draft",
    "Event",
    "Example",
    "Exclusion",
    "Flag",
    "Guidelines",
    "Handling",
    "Invitation",
    "Item",
    "Job",
    "Membership",
    "ModelAnswer",
    "Outcome",
    "Person",
    "PerturbationRun",
    "Place",
    "Project",
    "Proposal",
    "Provenance",
    "Release",
    "Reply",
    "Source",
    "StoredTable",
    "Tally",
    "Telling",
    "Trial",
    "Try",
    "Upload",
    "Verdict",
]
