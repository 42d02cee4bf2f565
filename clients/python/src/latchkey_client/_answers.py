"""Requests over HTTP, and what counts as an answer of the service."""

from __future__ import annotations

import http.client
import queue
import re
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

from ._clock import parse_date
from ._json import get, parse_json

_MAX_BYTES = 1_000_000
_MAX_WAIT_S = 86_400


class Machine(NamedTuple):
    """A machine of a license. Times are RFC 3339 in UTC."""

    activation_id: str
    is_active: bool
    is_this: bool  # whether the program runs on it
    os_version: str | None
    app_version: str | None
    activated_at: str | None
    last_validated_at: str | None


@dataclass(frozen=True)
class Result:
    """The result of a call; it is true if the call worked.

    code: one of the service, or no_answer, key_mistyped, not_activated, folder_unreadable, already_licensed,
    trial_expired, trial_unavailable, purchase_pending, key_not_shown, aborted, entitlement_…, unexpected.
    """

    ok: bool
    code: str | None = None
    cause: str | None = None  # of no_answer: dns, connection, tls, proxy, timeout, busy or portal
    retry_after: int = 0  # of no_answer: the seconds that the service asked to wait
    max: int | None = None  # of a limit: how many are allowed, …
    current: int | None = None  # … how many there are, …
    available_at: str | None = None  # … and when the next one is possible
    machines: tuple[Machine, ...] = ()
    request: str | None = None

    def __bool__(self) -> bool:
        return self.ok


class Failure(Exception):
    """Ends a call with a result that did not work. The status is 0 unless the service refused."""

    def __init__(self, result: Result, detail: str = "", status: int = 0, service_ms: int | None = None) -> None:
        super().__init__(detail)
        self.result, self.detail, self.status, self.service_ms = result, detail, status, service_ms

    @property
    def is_no_answer(self) -> bool:
        return self.result.code == "no_answer"

    @property
    def is_about_license(self) -> bool:
        """Whether the service refuses the license, and not a path, and not something between."""
        names_it = re.match(r"(license|activation|machine|trial)_", self.result.code or "")
        return self.status in (403, 404) and names_it is not None


def no_answer(cause: str, detail: str, retry_after: int = 0) -> Failure:
    return Failure(Result(False, "no_answer", cause, retry_after), f"{cause}: {detail}")


def other_form() -> Failure:
    return no_answer("portal", "JSON of another form")


class Received(NamedTuple):
    """What arrived over HTTP. Names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Transport = Callable[[str, "bytes | None", float], Received]


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Returns every answer as it is: redirects are not followed, and no status raises an exception."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    def https_response(self, request: Any, response: Any) -> Any:
        return response


def send_with_urllib(url: str, body: bytes | None, timeout: float, context: ssl.SSLContext | None = None) -> Received:
    """Sends a request through the proxy of the system: POST with a body, else GET. Raises the exceptions of urllib."""
    deadline = time.monotonic() + timeout
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(_EveryStatus, urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=timeout) as response:
        data = b""
        while len(data) <= _MAX_BYTES:
            chunk = response.read1(65_536)
            if time.monotonic() > deadline:
                raise TimeoutError("the body was not complete in time")
            if not chunk:
                break
            data += chunk
        headers = {name.lower(): value for name, value in response.headers.items()}
    if len(data) < min(int(headers.get("content-length", 0)), _MAX_BYTES):
        raise http.client.IncompleteRead(data)
    return Received(response.status, headers, data)


def exchange(send: Transport, url: str, body: bytes | None, timeout: float) -> tuple[Any, int | None]:
    """Returns the JSON of an answer, and the service's time. Raises Failure for a refusal, and for everything else.

    A thread sends the request, because urllib limits the time of each step, and that of looking up a name not at all.
    """
    arrived: queue.SimpleQueue[Received | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            arrived.put(send(url, body, timeout))
        except Exception as error:
            arrived.put(error)

    try:
        threading.Thread(target=run, name="latchkey request", daemon=True).start()
    except RuntimeError as error:
        # Python starts no thread while the program ends, or without memory for it.
        raise no_answer("connection", str(error)) from error
    try:
        received = arrived.get(timeout=timeout)
    except queue.Empty:
        raise no_answer("timeout", f"no answer in {timeout} s") from None
    if isinstance(received, Exception):
        raise no_answer(_find_cause(received), f"{type(received).__name__}: {received}")
    return classify(received)


def _find_cause(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    if "tunnel" in str(reason).lower():
        return "proxy"
    kinds = {socket.gaierror: "dns", ssl.SSLError: "tls", socket.timeout: "timeout", TimeoutError: "timeout"}
    return next((cause for kind, cause in kinds.items() if isinstance(reason, kind)), "connection")


def classify(received: Received) -> tuple[Any, int | None]:
    """Returns the JSON of an answer, and the service's time. Raises Failure for everything else."""
    status, headers, body = received
    if status == 429 or status >= 500:
        seconds = re.fullmatch("[0-9]{1,9}", headers.get("retry-after", ""))
        raise no_answer("busy", f"status {status}", min(int(seconds[0]), _MAX_WAIT_S) if seconds else 0)
    if status == 407:
        raise no_answer("proxy", "status 407")
    content = parse_json(body) if len(body) <= _MAX_BYTES else None
    service_ms = parse_date(headers.get("date", ""))
    if status == 200 and content is not None:
        return content, service_ms
    code = get(content, "code", str) if status >= 400 else None
    is_problem = headers.get("content-type", "").lower().startswith("application/problem+json")
    if code is None or not (is_problem or get(content, "status", int) == status):
        raise no_answer("portal", f"status {status}, not an answer of the service")
    limits = {name: get(content, name, int) for name in ("max", "current")}
    available_at = get(content, "available_at", str)
    raise Failure(Result(False, code, available_at=available_at, **limits), "", status, service_ms)
