"""A study as a file: read and checked, compared with what a project has, applied, and written back.

`yaml_file` and `json_schema` read `study.yaml`; `schema` has its parts as dataclasses, `parser` makes them from a file and
`project_export` writes them back; `current_state` reads the same parts from a project. `plan` compares the two:
`project_changes`, `batch_examples` and `batch_changes` say what changes, `costs` what the work costs. `apply` applies a plan
through the workflow. `release_gaps` says what a release made now would lack.
"""
