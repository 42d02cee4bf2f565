"""JSON, base64url and times, in the forms of the service."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import datetime, timedelta
from typing import Any


def get(value: Any, name: str, kind: type) -> Any:
    """Returns a field of a JSON object; None if it is of another type."""
    field = value.get(name) if isinstance(value, dict) else None
    return field if type(field) is kind else None


def parse_json(data: bytes) -> Any:
    """Returns None for what is not JSON in UTF-8."""
    try:
        return json.loads(data.decode(), parse_int=_parse_integer, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return None


def _parse_integer(digits: str) -> float:
    """Converts a long number to a float: to an integer, it takes quadratic time."""
    return int(digits) if len(digits) < 20 else float(digits)


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    """Returns no bytes unless the text is what encoding them results in."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        return b""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if encode_base64url(data) == text else b""


def hash_text(text: str) -> str:
    """Returns the base64url SHA-256 of a text in UTF-8."""
    return encode_base64url(hashlib.sha256(text.encode("utf-8", "replace")).digest())


_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999


def format_time(ms: int) -> str:
    """Formats milliseconds since 1970 in RFC 3339, in UTC."""
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=min(max(ms, _FIRST_MS), _LAST_MS))
    return moment.isoformat(timespec="milliseconds") + "Z"
