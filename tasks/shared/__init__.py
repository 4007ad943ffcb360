"""What several kinds of annotation share: modules that a kind may import, and templates that it may include.

`column_edits` for the kinds that perturb whole columns, `header_renaming` for those that give them other names,
`declared_types` for labels and scores. A kind imports nothing else of `tasks/` but this and `tasks.contract`.
"""
