"""Answers the commands of the conformance run, one JSON line each, with this client."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "src"))

from latchkey_client import Latchkey, Result, __version__
from latchkey_client._clock import Clock
from latchkey_client._entitlement import Trust, read_public_keys, time_problem, verify
from latchkey_client._license_key import read_key
from latchkey_client._machine import find_machine_id

_REPORTED = ("file_damaged", "folder_unwritable")
_LIMITS = ("code", "cause", "max", "current", "available_at")


class Driver:
    """The commands, by name, of one client, which `open` opens."""

    def __init__(self) -> None:
        self.client: Latchkey | None = None
        self.now_ms: int | None = None
        self.problems: list[str] = []

    def hello(self) -> dict[str, Any]:
        names = [name for name in vars(Driver) if not name.startswith("_") and name != "hello"]
        return {"client": "python", "version": __version__, "supports": names}

    def open(self, now_ms: int | None, timeout_ms: int, public_keys: list[Any], **options: Any) -> dict[str, Any]:
        self.now_ms = now_ms
        self.client = Latchkey(
            public_keys=read_public_keys(public_keys),
            timeout=timeout_ms / 1000,
            now=lambda: time.time_ns() // 1_000_000 if self.now_ms is None else self.now_ms,
            on_problem=self._report,
            **options,
        )
        return self.state()

    def clock(self, now_ms: int | None) -> dict[str, Any]:
        self.now_ms = now_ms
        return self.state()

    def state(self) -> dict[str, Any]:
        problems, self.problems = self.problems, []
        return {"state": self._opened.state._asdict(), **({"problems": problems} if problems else {})}

    def activate(self, key: str) -> dict[str, Any]:
        return self._answer(self._opened.activate(key))

    def trial(self) -> dict[str, Any]:
        return self._answer(self._opened.start_trial())

    def check(self, trigger: str) -> dict[str, Any]:
        return self._answer(self._opened.check(trigger))

    def deactivate(self) -> dict[str, Any]:
        return self._answer(self._opened.deactivate())

    def move_here(self, activation_id: str) -> dict[str, Any]:
        return self._answer(self._opened.move_here(activation_id))

    def machines(self) -> dict[str, Any]:
        result = self._opened.machines()
        names = ("activation_id", "is_active", "is_this")
        machines = [{name: getattr(machine, name) for name in names} for machine in result.machines]
        return self._answer(result, **({"machines": machines} if result else {}))

    def offline_request(self, product: str, name: str | None) -> dict[str, Any]:
        result = self._opened.offline_request(product, name)
        return self._answer(result, **({"request": result.request} if result else {}))

    def accept_offline(self, text: str) -> dict[str, Any]:
        return self._answer(self._opened.accept_offline(text))

    def explain(self) -> dict[str, Any]:
        return {"text": self._opened.explain()}

    def verify(
        self, token: str, public_keys: list[Any], now_ms: int, nonce: str | None, **trust: Any
    ) -> dict[str, Any]:
        verdict, claims = verify(token, Trust(keys=read_public_keys(public_keys), **trust))
        if claims is not None:
            verdict = time_problem(claims, now_ms) or verdict
            if verdict == "ok" and nonce is not None and claims.get("nonce") != nonce:
                verdict = "nonce"
        return {"verdict": verdict}

    def key(self, text: str) -> dict[str, Any]:
        key, verdict = read_key(text)
        return {"key": None if verdict == "mistyped" else key, "verdict": verdict}

    def clock_steps(self, steps: list[dict[str, Any]]) -> dict[str, Any]:
        clock, readings = Clock(), []
        for step in steps:
            if step["service_ms"] is not None:
                clock = clock.learn(step["device_ms"], step["service_ms"])
            now_ms, went_back = clock.read(step["device_ms"])
            readings.append({"now_ms": now_ms, "clock_went_back": went_back})
        return {"steps": readings}

    def fingerprint(self, source: str, text: str) -> dict[str, Any]:
        return {"machine_id": find_machine_id(source, text)}

    def close(self) -> dict[str, Any]:
        if self.client is not None:
            self.client.close()
        return {}

    @property
    def _opened(self) -> Latchkey:
        if self.client is None:
            raise RuntimeError("the first command must be open")
        return self.client

    def _answer(self, result: Result, **content: Any) -> dict[str, Any]:
        failure = {name: getattr(result, name) for name in _LIMITS if getattr(result, name) is not None}
        return {"result": {"ok": result.ok, **failure, **content}, **self.state()}

    def _report(self, code: str, message: str) -> None:
        print(f"{code}: {message}", file=sys.stderr)
        if code in _REPORTED:
            self.problems.append(code)


def main() -> None:
    driver = Driver()
    for line in sys.stdin:
        command = json.loads(line)
        name = command.pop("do")
        run = None if name.startswith("_") else getattr(driver, name, None)
        print(json.dumps({"unsupported": True} if run is None else run(**command)), flush=True)
        if name == "close":
            return


main()
