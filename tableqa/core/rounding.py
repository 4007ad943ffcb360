"""How many decimals a figure and the ends of its interval need, so that no interval looks empty.

decimals(0.0163, 0.0161, 0.0172, 2)   # 3, 3: 0.016 (0.016 to 0.017)
"""

MOST = 9
"""Decimals at most."""


def decimals(value: float, low: float, high: float, least: int) -> tuple[int, int]:
    """Decimals of the value and of both ends, at least `least`: the ends differ as they are written, unless they are equal.

    The value has as many as its ends where it would otherwise be outside of them.
    """
    if low == high:
        return least, least
    of_ends = next(
        (digits for digits in range(least, MOST) if round(low, digits) != round(high, digits)), MOST
    )
    is_inside = round(low, of_ends) <= round(value, least) <= round(high, of_ends)
    return (least if is_inside else of_ends), of_ends
