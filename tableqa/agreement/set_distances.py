"""How far two sets of labels are apart, from what they have in common: the distances of Jaccard and of MASI.

Both need only the sizes of the two sets and of their intersection. So cells of a table, edits and several labels of one
item share this definition.

Sources:
  Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11(2), 37-50.
  Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation. LREC.
"""

from typing import Literal, get_args

Distance = Literal["jaccard", "masi"]


def check_distance(distance: str) -> None:
    """Raise ValueError for what is no distance."""
    if distance not in get_args(Distance):
        raise ValueError(f"distance is {distance!r}; it must be one of {', '.join(get_args(Distance))}.")


def distance_of_sizes(common: int, first: int, second: int, distance: Distance) -> float:
    """The distance of two sets with `first` and `second` members, of which `common` are in both; from 0 to 1.

    jaccard   one minus the members in common over the members in either
    masi      the same with the members in common weighted: 1 for equal sets, 2/3 where one holds the other, 1/3 where they
              merely overlap

    Two empty sets are equal. Sizes are taken at their word: `common` is at most the smaller of the two.
    """
    union = first + second - common
    if not union:
        return 0.0
    if distance == "jaccard" or common == union:
        return 1 - common / union
    return 1 - common / union * (2 / 3 if common == min(first, second) else 1 / 3)
