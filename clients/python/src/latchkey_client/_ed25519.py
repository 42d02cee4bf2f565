"""Verification of Ed25519 signatures (RFC 8032, section 5.1), because the standard library has none.

Only public values are computed with, so that no time reveals a secret. Points are in extended coordinates (X, Y, Z, T).
"""

from __future__ import annotations

import hashlib

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
_ROOT_OF_MINUS_ONE = pow(2, (_PRIME - 1) // 4, _PRIME)

_Point = tuple[int, int, int, int]


def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Verifies a signature. S must be below the order, and the public key of no small order."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    point, s = _decode_point(public_key), int.from_bytes(signature[32:], "little")
    if point is None or _has_small_order(point) or s >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    k = int.from_bytes(digest, "little") % _ORDER
    return _encode_point(_combine(s, k, point)) == signature[:32]


def _combine(s: int, k: int, point: _Point) -> _Point:
    """Returns s times the base point, less k times a point."""
    x, y, _, t = point
    negative = (-x % _PRIME, y, 1, -t % _PRIME)
    table = (_NEUTRAL, _BASE, negative, _add(_BASE, negative))
    total = _NEUTRAL
    for bit in range(252, -1, -1):
        total = _add(total, total)
        index = (s >> bit & 1) + 2 * (k >> bit & 1)
        if index != 0:
            total = _add(total, table[index])
    return total


def _add(one: _Point, other: _Point) -> _Point:
    """Adds points, also equal ones."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a = (y1 - x1) * (y2 - x2) % _PRIME
    b = (y1 + x1) * (y2 + x2) % _PRIME
    c = 2 * t1 * t2 % _PRIME * _D % _PRIME
    d = 2 * z1 * z2 % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _has_small_order(point: _Point) -> bool:
    """Whether eight times the point is the neutral one: a signature of such a key would fit every message."""
    for _ in range(3):
        point = _add(point, point)
    x, y, z, _ = point
    return x == 0 and y == z


def _decode_point(data: bytes) -> _Point | None:
    """Returns None for an encoding that is not canonical, and without a point."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _PRIME) % _PRIME
    x = pow(square, (_PRIME + 3) // 8, _PRIME)
    if x * x % _PRIME != square:
        x = x * _ROOT_OF_MINUS_ONE % _PRIME
    if y >= _PRIME or x * x % _PRIME != square:
        return None
    if x & 1 != sign:
        x = -x % _PRIME
    return x, y, 1, x * y % _PRIME


def _encode_point(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, _PRIME)
    affine_x, affine_y = x * inverse % _PRIME, y * inverse % _PRIME
    return (affine_y | (affine_x & 1) << 255).to_bytes(32, "little")


_NEUTRAL = (0, 1, 1, 0)
_BASE = _decode_point(b"\x58" + b"\x66" * 31) or _NEUTRAL  # y = 4/5, x even
