"""The contract between a task type and everything else.

A task type is a folder below `tasks/` (or a package that announces itself in the entry-point group `askew.task_types`) whose
`task.py` binds one `TaskType` instance to the name `task`. It states everything that pages, API, agreement and releases need
to know about it. `TaskType` is what all task types have; each trait is a class in its own module.
"""

from tasks.contract.decisions import DecisionMethods
from tasks.contract.figures import Measure, ReleaseRecord, Report, ReportedResponse, split_by_decision
from tasks.contract.generation import GenerationRequest, ProposedResponse, ProposingTask
from tasks.contract.items import SHOWN, Context, Item, PreparedInputs, Surroundings
from tasks.contract.judgements import AnsweringTask, JudgingTask
from tasks.contract.model_in_the_loop import ModelInTheLoop
from tasks.contract.perturbed_responses import CONTRACT_SETTING, FormEdit, MakingTask
from tasks.contract.preparation import ModelQuery, PreparingTask
from tasks.contract.registry import ENTRY_POINT_GROUP, HERE, UnknownTaskType, task_type, task_types
from tasks.contract.resolutions import (
    Acceptance,
    Nature,
    NeedsAdjudication,
    NeedsResponse,
    Outcome,
    Resolution,
    Undecidable,
)
from tasks.contract.responses import (
    LINE_END,
    Field,
    InvalidResponse,
    PerturbedExample,
    Problem,
    as_lines,
    from_lines,
    response_data,
)
from tasks.contract.suggestions import SuggestingTask
from tasks.contract.task_type import STEPS, Step, TaskType
