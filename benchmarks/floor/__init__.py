"""The floor: the least Django that hands out an item, stores an answer and hands out the next. Nothing is checked."""
