"""A study as a file: read and checked, compared with what a project has, applied, and written back.

`yaml_file` and `schema` read `study.yaml`; `study` has its parts as frozen dataclasses and the checks that need no database;
`standing` reads the same parts from a project; `planning` compares the two; `applying` goes the way through the journeys;
`writing` gives a project back as a file; `missing` says what a release made now would lack.
"""
