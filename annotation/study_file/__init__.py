"""A study as a file: read and checked, compared with what a project has, applied, and written back.

`yaml_file` and `json_schema` read `study.yaml`; `schema` has its parts as frozen dataclasses and the checks that need no
database; `current_state` reads the same parts from a project; `plan` compares the two; `apply` applies it through the
workflow; `project_export` gives a project back as a file; `release_gaps` says what a release made now would lack.
"""
