"""Automatic perturbations of the papers: each pure, seeded, with the contract that it keeps.

    PERTURBATIONS["row_shuffle"](example, seed=33) -> PerturbationResult(example, operations, is_noop, reason)

    for instance in instances(example, ["row_shuffle", "transpose"], seeds=SEEDS): ...

`instances` also checks each against its contract. A perturbation that leaves the table as it was is a no-op, says why,
and is never a perturbed example: of the published target shifts of FREB-TQA more than a quarter equal their input. The
definitions are the papers', not those of their released code, which swaps where the paper re-inserts and is off by one
at the borders of its regions.

| key | what it does | paper |
|---|---|---|
| row_shuffle, col_shuffle | all rows, all columns in a random order | FREB-TQA 3.3 |
| target_row_random, _front, _middle, _bottom | rows of the answer to a random place, of that third | FREB-TQA 3.3 |
| target_col_random, _front, _back | columns of the answer to a random place, of that half | FREB-TQA 3.3 |
| transpose | rows become columns, the header turns with them | FREB-TQA 3.3 |
| mask_cell | the relevant cells are emptied | FREB-TQA 3.4 |
| escape_table | one cell "None" instead of the table | FREB-TQA 3.4 |
| relevant_row_shuffle | the rows of the relevant cells to random places | FREB-TQA 3.4 |
| row, column | like the shuffles, without questions that ask for a position | RobuT 3.1 |
| torr_row_swap, torr_column_swap | two rows, two columns change places | ToRR |
| torr_transpose | turned with the columns' numbers as header, as a data frame prints it | ToRR |
| torr_empty_rows | two empty rows at random places | ToRR |
"""

from tableqa.perturbations.catalogue import PERTURBATIONS, Perturbation, PerturbationResult
from tableqa.perturbations.instances import SEEDS, Counts, Instance, count, discount, instances
