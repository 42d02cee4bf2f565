"""The time: that of the device, corrected by that of the service."""

from __future__ import annotations

import email.utils
from datetime import timezone
from typing import NamedTuple

_TOLERANCE_MS = 5 * 60_000
_WENT_BACK_MS = 60 * 60_000
_LATEST_AFTER_ISSUE_MS = 65 * 60_000


class Clock(NamedTuple):
    """What is known of the service's time, in milliseconds."""

    offset_ms: int = 0
    latest_ms: int = 0

    def read(self, device_ms: int) -> tuple[int, bool]:
        """Returns the present time, and whether the clock of the device went back."""
        corrected_ms = device_ms + self.offset_ms
        return max(corrected_ms, self.latest_ms), corrected_ms < self.latest_ms - _WENT_BACK_MS

    def learn(self, device_ms: int, service_ms: int) -> Clock:
        difference_ms = service_ms - device_ms
        offset_ms = 0 if abs(difference_ms) < _TOLERANCE_MS else difference_ms
        return Clock(offset_ms, max(self.latest_ms, service_ms))


def choose_service_time(date_ms: int | None, issued_ms: int) -> int:
    """Returns the time of an answer: its header Date, which no signature protects, if that fits the entitlement."""
    if date_ms is not None and issued_ms <= date_ms <= issued_ms + _LATEST_AFTER_ISSUE_MS:
        return date_ms
    return issued_ms


def parse_date(text: str) -> int | None:
    """Returns the milliseconds of a header Date."""
    try:
        return int(email.utils.parsedate_to_datetime(text).replace(tzinfo=timezone.utc).timestamp()) * 1000
    except (TypeError, ValueError, OverflowError):
        return None
