"""Keys that people type."""

from __future__ import annotations

import re
import unicodedata

_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_LOOK_ALIKES = str.maketrans("OIL", "011")


def read_key(text: str) -> tuple[str, str]:
    """Returns the key to send, and `ok`, `mistyped`, or `foreign`: it was issued elsewhere and is sent as it is."""
    typed = text.strip()
    parts = "".join(" " if unicodedata.category(each) == "Pd" else each for each in typed).split()
    match = re.fullmatch(r"([A-Za-z0-9]{0,8})([A-Za-z0-9]{25})", "".join(parts))
    prefix, symbols = match.groups() if match else ("", "")
    symbols = symbols.upper().translate(_LOOK_ALIKES)
    values = [_SYMBOLS.find(symbol) for symbol in symbols]
    if not values or -1 in values:
        return typed, "foreign"
    is_right = _has_right_checksum(values)
    if not is_right and (not prefix or parts[0] != prefix):
        return typed, "foreign"  # A UUID, or 32 digits of another shop.
    groups = [symbols[start : start + 5] for start in range(0, 25, 5)]
    return "-".join([prefix.upper(), *groups] if prefix else groups), "ok" if is_right else "mistyped"


def _has_right_checksum(values: list[int]) -> bool:
    """Whether the last two symbols are the number of the others modulo 1021."""
    remainder = 0
    for value in values[:23]:
        remainder = (remainder * 32 + value) % 1021
    return values[23] * 32 + values[24] == remainder
