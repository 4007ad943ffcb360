"""Every database table of Askew, by what it is about."""

from annotation.models.attempts import Attempts
from annotation.models.crowd_entry import CrowdEntry, CrowdLink, ListedParticipant
from annotation.models.events import Event
from annotation.models.item_actions import ItemAction, ItemChange
from annotation.models.jobs import Job, Upload
from annotation.models.notices import Notice
from annotation.models.outcomes import (
    Adjudication,
    AdjudicationRequest,
    Correction,
    Decision,
    Outcome,
    Release,
)
from annotation.models.people import ApiToken, Invitation, Membership, Person, Project
from annotation.models.predictions import Try, Verdict
from annotation.models.proposals import (
    Proposal,
    ProposalImpression,
    ProposalReaction,
    Provenance,
    Reply,
    Trial,
)
from annotation.models.saved_views import SavedView
from annotation.models.search_index import IndexedColumn, IndexedItem, IndexedValue, ResponseFact, SearchIndex
from annotation.models.sources import Example, ModelAnswer, PerturbationRun, Source, StoredTable
from annotation.models.spending import ModelRequest, ModelTotal
from annotation.models.studies import (
    Consent,
    ConsentText,
    Gold,
    Inquiry,
    PinnedExample,
    PracticeResult,
    Qualification,
    Reading,
    ReviewEntry,
    ReviewSample,
    RevisionRequest,
    Snapshot,
)
from annotation.models.task_types import TaskTypeDefinition
from annotation.models.work import (
    Annotation,
    Assignment,
    Batch,
    Draft,
    Exclusion,
    Flag,
    Guidelines,
    Item,
    LabelImport,
    LedgerEntry,
    PersonBatchCounts,
    Slot,
    StagedAnnotator,
    StagedLabel,
)
