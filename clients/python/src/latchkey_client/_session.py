"""What a client knows while it is open, and how it learns from the service."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import uuid
from collections import deque
from collections.abc import Mapping
from typing import Any, Callable

from ._answers import Failure, Result, Transport, exchange, no_answer, other_form
from ._clock import Clock, choose_service_time
from ._entitlement import Trust, read_public_keys, time_problem, verify
from ._json import format_time, get, parse_json
from ._kept import (
    NO_LICENSE,
    choose_machine,
    is_activated,
    join_run,
    read_file,
    read_kept,
    release_after,
    remove_old_temporaries,
    write_file,
)
from ._machine import read_fingerprint
from ._state import State, derive_state

LICENSES = "/api/v1/licenses"

_MAX_KEYS = 20  # More than a service publishes at once.


class Session:
    """What is kept, and the claims of its entitlement. Only one thread at a time changes it; any may read `state`."""

    def __init__(
        self,
        *,
        service: str,
        can_fetch_keys: bool,
        trust: Trust,
        folder: str,
        app_version: str,
        transport: Transport,
        timeout: float,
        now: Callable[[], int],
        on_problem: Callable[[str, str], object],
    ) -> None:
        self.service, self.now = service, now
        self.versions = {"app_version": app_version, "os_version": platform.release()}
        self.problems: deque[str] = deque(maxlen=5)
        self.last_question = "answered, or none"
        self._can_fetch_keys, self._trust = can_fetch_keys, trust
        self._path, self._on_problem = os.path.join(folder, "license.json"), on_problem
        self._transport, self._timeout = transport, timeout
        self.is_unread = True  # There may be a license that could not be read yet.
        # Whether this run activated a license, apart from a trial, or removed it again, before the file could be read.
        self._has_own_license = False
        self._verified: tuple[Any, tuple[str, dict[str, Any] | None]] = (None, ("", None))
        self._snapshot: tuple[dict[str, Any], dict[str, Any] | None, bool] = (read_kept({}), None, False)

    @property
    def kept(self) -> dict[str, Any]:
        return self._snapshot[0]

    @property
    def state(self) -> State:
        return derive_state(*self._snapshot, self.now())

    @property
    def present_ms(self) -> int:
        """The time of the device, corrected by that of the service."""
        return Clock(**self.kept["clock"]).read(self.now())[0]

    @property
    def identity(self) -> dict[str, Any]:
        """What an activation or a trial sends."""
        kept = self.kept
        install = {} if kept["install_id"] is None else {"install_id": kept["install_id"]}
        return {"machine_fingerprint": {**kept["machine"], **self.versions}, **install}

    @property
    def activation(self) -> dict[str, str] | None:
        """What a check or a deactivation sends; None without a license that the service knows."""
        kept = self.kept
        if kept["key"] is None or kept["activation_id"] is None:
            return None
        machine_id = kept["machine"]["machine_id"]
        return {"license_key": kept["key"], "activation_id": kept["activation_id"], "machine_id": machine_id}

    def refuse_unactivated(self) -> Result:
        """Refuses a call that needs a license: there is none, or it could not be read."""
        return Result(False, "folder_unreadable" if self.is_unread else "not_activated")

    def load(self) -> None:
        """Reads what is kept unless it was read before, and joins what this run changed until then."""
        if not self.is_unread:
            return
        with contextlib.suppress(OSError):  # Nothing is lost if they stay.
            remove_old_temporaries(os.path.dirname(self._path))
        try:
            data = read_file(self._path)
        except OSError as error:
            return self.report("folder_unreadable", error)
        content = {} if data is None else parse_json(data)
        if not isinstance(content, dict):
            self._set_aside()
            content = {}
        file = read_kept(content)
        self._adopt(join_run(file, self.kept, self._has_own_license))
        self.is_unread = False
        if self.kept != file:
            self._write()

    def _set_aside(self) -> None:
        self.report("file_damaged", "what was kept is renamed to license.json.damaged")
        try:
            os.replace(self._path, self._path + ".damaged")
        except OSError as error:
            self.report("folder_unwritable", error)

    def change(self, **changes: Any) -> None:
        """Changes what is kept, and writes it, but never over a license that could not be read."""
        self._adopt({**self.kept, **changes})
        if not self.is_unread:
            return self._write()
        is_trial = get(self._snapshot[1], "trial", bool) is True
        self._has_own_license |= is_activated(self.kept) and not is_trial
        self.load()
        if self.is_unread:
            self.report("folder_unwritable", "license.json is not replaced, because it was not read")

    def _write(self) -> None:
        try:
            write_file(self._path, json.dumps(self.kept) + "\n")
        except OSError as error:
            self.report("folder_unwritable", error)

    def _adopt(self, kept: dict[str, Any]) -> None:
        entitlement = kept["entitlement"]
        claims = None if entitlement is None else self.verify(entitlement, kept)[1]
        # As a whole, so that no state is derived from the old one and the new one.
        self._snapshot = (kept, claims, self._snapshot[2])

    def note_answer(self, is_answered: bool, question: str = "answered, or none") -> None:
        """Notes whether the service answered the last question."""
        self._snapshot = (*self._snapshot[:2], is_answered)
        self.last_question = question

    def report(self, code: str, error: object) -> None:
        """Reports a problem that the client continues without."""
        message = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error)
        self.problems.append(f"{code}: {message}")
        try:
            self._on_problem(code, message)
        except Exception:
            return  # The function of the program failed; a client raises nothing into it.

    def adopt_machine(self, machine: Any) -> None:
        """Keeps a new reading, else the last good one, else a random identity, which stays while a license uses it."""
        chosen = choose_machine(self.kept, self._read_machine(machine)) or {"machine_id": f"generated-{uuid.uuid4()}"}
        if chosen != self.kept["machine"]:
            self.change(machine=chosen)

    def _read_machine(self, machine: Any) -> dict[str, Any] | None:
        try:
            reading = read_fingerprint(machine() if callable(machine) else machine)
        except Exception:
            reading = None  # The same as a reading that failed.
        if reading is None:
            self.report("machine_unreadable", "the last good reading is used, or a random identity")
        return reading

    def ask(self, path: str, content: Mapping[str, Any] | None = None) -> tuple[Any, int | None]:
        """Sends one request. Returns the JSON of the answer, and the service's time. Raises Failure."""
        body = None if content is None else json.dumps(content).encode()
        return exchange(self._transport, self.service + path, body, self._timeout)

    def verify(self, token: str, kept: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """Verifies an entitlement apart from its times. Remembers the last verdict, which took milliseconds."""
        machine_id = "" if kept["machine"] is None else kept["machine"]["machine_id"]
        trust = self._trust._replace(keys=[*self._trust.keys, *kept["keys"]], machine_id=machine_id)
        if self._verified[0] != (token, trust):
            self._verified = ((token, trust), verify(token, trust))
        return self._verified[1]

    def grant(self, answer: Any, date_ms: int | None) -> dict[str, Any]:
        """Returns what a positive answer changes. Raises Failure: without a genuine entitlement it is no answer."""
        token = get(answer, "entitlement", str)
        if token is None:
            raise other_form()
        keys = self.kept["keys"]
        verdict, claims = self.verify(token, self.kept)
        if verdict == "unknown_key" and self._can_fetch_keys:
            keys = self._fetch_keys()
            verdict, claims = self.verify(token, {**self.kept, "keys": keys})
        if claims is None:
            raise no_answer("portal", f"the entitlement is not accepted: {verdict}")
        changes = {"keys": keys, "entitlement": token, "refused": None}
        return {**changes, **self._learn_time(claims, date_ms)}

    def _learn_time(self, claims: dict[str, Any], date_ms: int | None) -> dict[str, Any]:
        device_ms = self.now()
        service_ms = choose_service_time(date_ms, claims["iat"] * 1000)
        clock = Clock(**self.kept["clock"]).learn(device_ms, service_ms)
        # With the new time, so that a machine whose clock stands in 1970 can be activated.
        problem = time_problem(claims, clock.read(device_ms)[0])
        if problem is not None:
            raise no_answer("portal", f"the entitlement is not accepted: {problem}")
        return {"clock": clock._asdict(), "last_answer_at": format_time(service_ms)}

    def _fetch_keys(self) -> list[dict[str, Any]]:
        try:
            answer, _ = self.ask("/.well-known/jwks.json")
        except Failure:
            return []  # The entitlement stays unverified.
        return read_public_keys(get(answer, "keys", list))[:_MAX_KEYS]

    def accept_activation(self, answer: Any, date_ms: int | None, key: str | None) -> None:
        activation_id = get(answer, "activation_id", str)
        if activation_id is None or key is None:
            raise other_form()
        changes = {**NO_LICENSE, **self.grant(answer, date_ms), "release": release_after(self.kept, activation_id)}
        self.note_answer(True)
        self.change(**{**changes, "key": key, "activation_id": activation_id})

    def accept_refusal(self, reason: str, date_ms: int | None) -> Result:
        at = format_time(self.present_ms if date_ms is None else date_ms)
        self.note_answer(True)
        self.change(refused={"reason": reason, "at": at}, last_answer_at=at)
        return Result(False, reason)

    def release_machine(self) -> None:
        """Frees the machine that waits for it. Raises Failure; what the service does not know is free, too."""
        release = self.kept["release"]
        if release is None:
            return
        question = {name: release[name] for name in ("activation_id", "machine_id")}
        try:
            self.deactivate({"license_key": release["key"], **question})
        except Failure as failure:
            if not failure.is_about_license:
                if not failure.is_no_answer:
                    self.change(release=None)
                raise
        is_own = release["activation_id"] == self.kept["activation_id"]
        self.note_answer(True)
        self.change(**(NO_LICENSE if is_own else {"release": None}))

    def deactivate(self, question: Mapping[str, Any]) -> None:
        answer, _ = self.ask(f"{LICENSES}/deactivate", question)
        if get(answer, "success", bool) is not True:
            raise other_form()
