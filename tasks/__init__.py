"""The kinds of annotation: one folder each, one contract (`tasks.contract`). No database here."""
