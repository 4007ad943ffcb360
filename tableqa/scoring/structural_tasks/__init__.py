"""What a model can tell of a table's structure (SUC, "Table Meets LLM", Sui et al., WSDM 2024).

    item = STRUCTURAL_TASKS["size_detection"](table, seed=3)
    item.text, item.parts        the prompt, whole and as named parts
    item.accepted                the right answers; item.is_right(answer)

Rows and columns are counted from 0 and several values are joined by "|". `prompt_designs` has the switches of a prompt
against one baseline, `self_augmentation` the two requests of self-augmented prompting.
"""

from tableqa.scoring.structural_tasks.prompt_designs import (
    BASELINE,
    SWITCHES,
    Design,
    Part,
    Prompt,
    SolvedExample,
    build,
    designs,
)
from tableqa.scoring.structural_tasks.questions import (
    STRUCTURAL_TASKS,
    NotApplicable,
    StructuralItem,
    StructuralTask,
)
