"""Executable answers: programs whose denotation on a table is an example's answer.

find_programs(example)       the small programs that yield the gold answer, the likeliest first
run(program, table)          the answers that a program gives on a table, the edited one for instance
describe(program, table)     the program in words, for the person who confirms it
reads(program, table)        the cells that its answers rest on
rows_of(rows, table)         the rows that a choice of rows within a program takes
from_dict(data), .to_dict()  its JSON, which is what `Example.program` holds
"""

from tableqa.programs.derivations import from_derivation
from tableqa.programs.descriptions import describe
from tableqa.programs.logical_forms import from_logical_form, program_of
from tableqa.programs.search import SearchResult, find_programs
from tableqa.programs.semantics import attempt, follows_order, reads, rows_of, run
from tableqa.programs.syntax import NODES, Program, ProgramError, from_dict
