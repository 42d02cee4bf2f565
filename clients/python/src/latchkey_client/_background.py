"""Checks in the background."""

from __future__ import annotations

import random
import threading
import time
from typing import Callable

from ._answers import Result
from ._machine import describe_network

_TICK_S = 60.0
_WAKE_S = 300.0
_FOREGROUND_MS = 60_000

# Seconds until the next check: after an answer, and after one, two, three and more questions without one.
_WAITS_S = (86_400, 60, 300, 900, 3_600)

# A check runs, or none is planned yet.
_NEVER = float("inf")


class Background:
    """Checks from time to time, in a thread that keeps no program from ending."""

    def __init__(
        self,
        check: Callable[[str], Result],
        notify: Callable[[], None],
        is_unread: Callable[[], bool],
        now: Callable[[], int],
        network: Callable[[], str] = describe_network,
    ) -> None:
        self._ask, self._notify, self._is_unread = check, notify, is_unread
        self._now, self._describe_network = now, network
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._check_in_s, self._failures = _NEVER, 0
        self._last_tick_ms, self._network = 0, ""
        self._focused_ms: int | None = None

    def start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="latchkey", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        self._is_stopped = True
        self._wake.set()

    def notice_focus(self) -> None:
        """The program came to the front; nothing happens more often than once a minute, or before the start."""
        now_ms = self._now()
        is_due = self._focused_ms is None or abs(now_ms - self._focused_ms) >= _FOREGROUND_MS
        if self._thread is not None and is_due:
            self._focused_ms = now_ms
            self._wake.set()

    def notice(self, result: Result) -> None:
        """After a call without an answer, what waits for the service is sent soon, not a day later."""
        with self._lock:
            if result.code == "no_answer" and self._check_in_s != _NEVER:
                self._failures = max(1, self._failures)
                self._check_in_s = min(self._check_in_s, self._choose_wait(result))

    def _run(self) -> None:
        self.begin()
        next_tick = time.monotonic() + _TICK_S
        while not self._is_stopped:
            if self._wake.wait(max(0.0, next_tick - time.monotonic())):
                self._wake.clear()
                if not self._is_stopped:
                    self.check("foreground")
            else:
                next_tick = time.monotonic() + _TICK_S
                self.tick()

    def begin(self) -> None:
        self._last_tick_ms, self._network = self._now(), self._describe_network()
        self.check("startup")

    def tick(self) -> None:
        """Checks if it is time. Called each minute."""
        passed_s = (self._now() - self._last_tick_ms) / 1000
        self._last_tick_ms = self._now()
        with self._lock:
            self._check_in_s -= max(_TICK_S, passed_s)  # A clock that was set back counts as a tick.
        self._notify()
        trigger = self._find_trigger(passed_s)
        if trigger is not None:
            self.check(trigger)

    def _find_trigger(self, passed_s: float) -> str | None:
        before, self._network = self._network, self._describe_network()
        if abs(passed_s) > _WAKE_S:  # The computer slept, or its clock was set, forward or back.
            return "wake"
        if self._failures > 0 and before != self._network:
            return "reconnect"
        return "scheduled" if self._check_in_s <= 0 else None

    def check(self, trigger: str) -> None:
        with self._lock:
            self._check_in_s = _NEVER
        result = self._ask(trigger)
        # While there may be a license that could not be read, the next check comes as soon as after no answer.
        is_failure = result.code == "no_answer" or self._is_unread()
        with self._lock:
            self._failures = self._failures + 1 if is_failure else 0
            self._check_in_s = self._choose_wait(result)

    def _choose_wait(self, result: Result) -> float:
        """Returns seconds, at random so that the machines of a company do not ask at the same time."""
        wait_s = _WAITS_S[min(self._failures, len(_WAITS_S) - 1)]
        return max(result.retry_after, wait_s) * random.uniform(0.9, 1.1)
