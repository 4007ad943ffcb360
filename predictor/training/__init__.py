"""Training of the models that Askew makes itself. Needs torch (requirements/models.txt); `./run train` starts it.

supervision   what a question's gold answers say about how they come about: derivations with weights
synthetic     questions generated from tables, whose derivation is known (question_table, *_templates)
corpus        examples with their arrays, made once, on disk
network       the bundled model in torch
loss          the likelihood of the gold answers, summed over derivations
loop          the training loop: resumable, with a curve
export        torch to ONNX, made small
"""


class TrainingError(Exception):
    """Training cannot start; the message says what is missing."""
