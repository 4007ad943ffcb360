"""What several kinds of annotation share: modules that a kind may import, and templates that it may include.

`columns` for the kinds that perturb whole columns, `renaming` for those that give them other names, `scales` for scores.
A kind imports nothing else of `tasks/` but this and `tasks.contract`.
"""
