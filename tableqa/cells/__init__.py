"""What a cell means: a view of its text, never a replacement for it.

A cell is a string and stays one. These functions read it: a number with its sign and unit, a date as precise as
written, a time, and the format, to compare an edit with its column. A text that can be read in two ways has two
readings, or none: nothing is guessed.
"""

from .dates import Date, Time, dates_of, has_months_first, time_of
from .folding import fold, fold_all, visible, without_details, without_notes
from .numbers import Number, number_of
from .text_formats import ColumnFormats, Format, format_of, model_for, same_format
from .views import View, view
