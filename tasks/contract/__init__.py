"""The contract between a task type and everything else.

A task type is a folder below `tasks/` (or a package that announces itself in the entry-point group `askew.task_types`) whose
`task.py` binds one `TaskType` instance to the name `task`. It states everything that pages, API, agreement and releases need
to know about it. `TaskType` is what all task types have; each trait is a class in a module of its own.
"""

from tasks.contract.deciding import Deciding as Deciding
from tasks.contract.figures import Answered as Answered
from tasks.contract.figures import Exported as Exported
from tasks.contract.figures import Measure as Measure
from tasks.contract.figures import Report as Report
from tasks.contract.figures import by_decision as by_decision
from tasks.contract.items import SHOWN as SHOWN
from tasks.contract.items import Context as Context
from tasks.contract.items import Item as Item
from tasks.contract.items import Prepared as Prepared
from tasks.contract.items import Surroundings as Surroundings
from tasks.contract.judging import Answering as Answering
from tasks.contract.judging import Judging as Judging
from tasks.contract.making import CONTRACT_SETTING as CONTRACT_SETTING
from tasks.contract.making import FormEdit as FormEdit
from tasks.contract.making import Making as Making
from tasks.contract.model_in_the_loop import ModelInTheLoop as ModelInTheLoop
from tasks.contract.preparing import Ask as Ask
from tasks.contract.preparing import Preparing as Preparing
from tasks.contract.proposing import Proposed as Proposed
from tasks.contract.proposing import Proposing as Proposing
from tasks.contract.proposing import Wanted as Wanted
from tasks.contract.registry import ENTRY_POINT_GROUP as ENTRY_POINT_GROUP
from tasks.contract.registry import HERE as HERE
from tasks.contract.registry import UnknownTaskType as UnknownTaskType
from tasks.contract.registry import task_type as task_type
from tasks.contract.registry import task_types as task_types
from tasks.contract.responses import LINE_END as LINE_END
from tasks.contract.responses import Field as Field
from tasks.contract.responses import Invalid as Invalid
from tasks.contract.responses import Perturbed as Perturbed
from tasks.contract.responses import Problem as Problem
from tasks.contract.responses import as_lines as as_lines
from tasks.contract.responses import from_lines as from_lines
from tasks.contract.responses import response_data as response_data
from tasks.contract.suggesting import Suggesting as Suggesting
from tasks.contract.task_type import STEPS as STEPS
from tasks.contract.task_type import Step as Step
from tasks.contract.task_type import TaskType as TaskType
from tasks.resolving import Accepted as Accepted
from tasks.resolving import Adjudicate as Adjudicate
from tasks.resolving import Nature as Nature
from tasks.resolving import OneMore as OneMore
from tasks.resolving import Outcome as Outcome
from tasks.resolving import Resolution as Resolution
