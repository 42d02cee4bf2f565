"""What a program may do, derived from what is kept and from the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ._clock import Clock
from ._entitlement import time_problem
from ._json import format_time, get

_DAY_MS = 86_400_000


class State(NamedTuple):
    """What the program may do now, and why. Times are RFC 3339 in UTC."""

    may_run: bool
    kind: str  # licensed, trial, none, ended or refused
    reason: str | None  # why it may not run: a code
    tier: str | None
    features: tuple[str, ...]  # empty unless the program may run
    until: str | None  # the end of the entitlement
    days_left: int | None  # whole days until then, rounded up
    source: str  # service if the last question since the start was answered, else kept
    last_answer_at: str | None
    clock_went_back: bool  # ask the user to correct the clock; nothing is locked


def derive_state(kept: Mapping[str, Any], claims: Any, is_answered: bool, device_ms: int) -> State:
    """Derives the state. The claims are those of the kept entitlement, or None if it is not genuine."""
    now_ms, went_back = Clock(**kept["clock"]).read(device_ms)
    source = "service" if is_answered else "kept"
    none = State(False, "none", "not_activated", None, (), None, None, source, kept["last_answer_at"], went_back)
    if kept["key"] is None and kept["entitlement"] is None:
        return none
    if kept["refused"] is not None:
        return none._replace(kind="refused", reason=kept["refused"]["reason"])
    problem = "early" if claims is None else time_problem(claims, now_ms)
    if problem == "early":
        return none._replace(reason="entitlement_invalid")
    end_ms = claims["exp"] * 1000
    days_left = max(0, -((now_ms - end_ms) // _DAY_MS))
    terms = none._replace(tier=get(claims, "tier", str), until=format_time(end_ms), days_left=days_left)
    if problem == "late":
        return terms._replace(kind="ended", reason=_name_end(claims, now_ms))
    features = tuple(each for each in get(claims, "features", list) or () if isinstance(each, str))
    kind = "trial" if claims.get("trial") is True else "licensed"
    return terms._replace(may_run=True, kind=kind, reason=None, features=features)


def _name_end(claims: Mapping[str, Any], now_ms: int) -> str:
    license_end = get(claims, "license_expires_at", int)
    has_expired = license_end is not None and license_end * 1000 <= now_ms
    return "license_expired" if has_expired else "entitlement_expired"
