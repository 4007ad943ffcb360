"""What each format of a release is for, and what it leaves out."""

from django.utils.translation import gettext_noop

DESCRIPTIONS = {
    "askew": gettext_noop("One file per task type, with ids, edits and decisions. Askew imports it again."),
    "freb_tqa": gettext_noop("The files of FREB-TQA (Zhou et al., 2024), for its evaluation program."),
    "robut": gettext_noop("One file per perturbation, as in RobuT (Zhao et al., 2023)."),
    "lftqa": gettext_noop("Answers with human and metric scores, as in LFTQA-Eval (Wang et al., 2024)."),
    "torr": gettext_noop("Records for unitxt, as in the benchmark ToRR (Ashury-Tahan et al., 2025)."),
    "suc": gettext_noop("Tables and prompts, as in “Table Meets LLM” (Sui et al., 2024)."),
    "hf": gettext_noop("Dataset card, JSON Lines and Parquet for load_dataset and the Hugging Face Hub."),
}
"""A sentence for each of `benchmark_files.FORMATS`: the paper or the tool that reads it."""

_NO_STRUCTURE = gettext_noop(
    "Without titles, further header rows, merged cells, context, history and alternative answers."
)
LOSSES = {
    "askew": "",
    "freb_tqa": _NO_STRUCTURE,
    "robut": _NO_STRUCTURE,
    "lftqa": gettext_noop("Without examples that have no rated answer and without alternative answers."),
    "torr": gettext_noop(
        "Without titles, further header rows, merged cells, context, history, decisions and alternative answers."
    ),
    "suc": gettext_noop(
        "Without further header rows, merged cells, history, decisions and alternative answers."
    ),
    "hf": gettext_noop("Without alternative answers."),
}
"""What the files of each format leave out of examples and decisions; "" where nothing. The raw records have all of it."""
