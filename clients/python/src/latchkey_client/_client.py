"""The client, as programs use it."""

from __future__ import annotations

import functools
import json
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Callable, TypeVar

from ._answers import Failure, Machine, Received, Result, other_form, send_with_urllib
from ._background import Background
from ._entitlement import Trust, read_public_keys, time_problem
from ._explain import explain
from ._json import encode_base64url, format_time, get, hash_text
from ._kept import release_after
from ._license_key import read_key
from ._machine import read_fingerprint, read_machine
from ._session import LICENSES, Session
from ._state import State

_LIMITS = ("activation_limit_reached", "move_limit_reached")  # after which the user chooses a machine to free
_LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")
_ANSWER = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}", re.ASCII)
_IGNORED = re.compile(r"[\s>\u200b\ufeff]")  # blanks, quotation marks of mail, and characters that are not seen
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 2.0, 15.0

_Method = TypeVar("_Method", bound=Callable[..., Result])


def _call(method: _Method) -> _Method:
    """Lets a method run after all other calls, and turns what it raises into its result."""

    @functools.wraps(method)
    def run(self: Latchkey, *args: Any, **options: Any) -> Result:
        with self._calls:
            if self._is_calling:  # A part of another call.
                return method(self, *args, **options)
            self._is_calling = True
            try:
                result = self._guard(lambda: method(self, *args, **options))
            finally:
                self._is_calling = False
        self._background.notice(result)
        self._notify()
        return result

    return run  # type: ignore[return-value]


class Latchkey:
    """The license of a program on this machine."""

    def __init__(
        self,
        *,
        service: str,
        issuer: str,
        products: Sequence[str],
        public_keys: Sequence[Mapping[str, Any]],
        folder: str | os.PathLike[str],
        app_version: str,
        machine: Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] = read_machine,
        transport: Callable[[str, bytes | None, float], Received] = send_with_urllib,
        timeout: float = 10.0,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        on_problem: Callable[[str, str], object] = lambda code, message: None,
    ) -> None:
        """Reads what is kept, and sends no request. Raises ValueError if an argument is wrong.

        service: its address.
        issuer: its LATCHKEY_PUBLIC_URL, which its entitlements name.
        products: the ids of your products in its catalogue.
        public_keys: the list `keys` of its /.well-known/jwks.json.
        folder: one of your program and this user, for license.json.
        machine: the identity of the machine, with a `machine_id`, or how to read it.
        transport: sends a request; it gets URL, body and timeout.
        timeout: that of a request as a whole, in seconds.
        now: the clock of the device, in milliseconds since 1970.
        on_problem: receives code and message of a failure that the client works around.
        """
        url, keys = urllib.parse.urlsplit(service), read_public_keys(list(public_keys))
        rules = {
            "service must be an http or https URL": url.scheme in ("http", "https") and bool(url.hostname),
            "products must list texts": not isinstance(products, str) and len(products) > 0,
            "public_keys must list Ed25519 keys": len(keys) == len(public_keys),
            "machine must have a machine_id": callable(machine) or read_fingerprint(machine) is not None,
            "timeout must be positive": timeout > 0,
        }
        if not all(rules.values()):
            raise ValueError("; ".join(rule for rule, holds in rules.items() if not holds))
        self._session = Session(
            service=service.rstrip("/"),
            can_fetch_keys=url.scheme == "https" or _LOOPBACK.fullmatch(url.hostname or "") is not None,
            trust=Trust(keys, issuer, tuple(products), ""),
            folder=os.fspath(folder),
            app_version=app_version,
            transport=transport,
            timeout=timeout,
            now=now,
            on_problem=on_problem,
        )
        self._calls, self._is_calling = threading.RLock(), False
        self._wanted_key: str | None = None  # refused, because no machine is free
        self._listeners: list[Callable[[State], object]] = []
        self._background = Background(self.check, self._notify, lambda: self._session.is_unread, now)
        self._session.load()
        self._identify(machine)

    def _identify(self, machine: Any) -> None:
        """Reads the machine; a reading that is kept counts until then, so that the program starts at once."""
        is_known = callable(machine) and self._session.kept["machine"] is not None
        if not is_known:
            self._session.adopt_machine(machine)
        self._shown = self.state
        if is_known:
            threading.Thread(target=self._read_again, args=(machine,), name="latchkey machine", daemon=True).start()

    def _read_again(self, machine: Any) -> None:
        with self._calls:
            self._session.adopt_machine(machine)
        self._notify()

    @property
    def state(self) -> State:
        """What the program may do now. It is computed at each access, and needs no network."""
        return self._session.state

    def has(self, feature: str) -> bool:
        """Whether the program may run, with this feature."""
        return feature in self.state.features

    def on_change(self, listener: Callable[[State], object]) -> None:
        """Calls a function whenever the state changes, in the thread of the call or of the background checks."""
        self._listeners.append(listener)

    @_call
    def activate(self, key: str) -> Result:
        """Activates this machine with a key, as a person typed or pasted it."""
        to_send, verdict = read_key(key)
        if verdict == "mistyped" or not to_send:
            return Result(False, "key_mistyped")
        try:
            answer, date_ms = self._session.ask(
                f"{LICENSES}/activate", {"license_key": to_send, **self._session.identity}
            )
            self._session.accept_activation(answer, date_ms, to_send)
        except Failure as failure:
            if failure.result.code in _LIMITS:
                self._wanted_key = to_send
            raise
        self._wanted_key = None
        return Result(True)

    @_call
    def start_trial(self) -> Result:
        """Starts the trial of this machine. Without an answer, `keep_checking` starts it later."""
        if self.state.kind == "licensed":
            return Result(False, "already_licensed")
        try:
            self._ask_for_trial()
        except Failure as failure:
            # Any other exception, as at the end of the program, is no result: a trial that waits keeps waiting.
            is_wanted = failure.is_no_answer and self._session.kept["key"] is None
            if is_wanted != self._session.kept["trial_wanted"]:
                self._session.change(trial_wanted=is_wanted)
            raise
        return Result(True)

    def _ask_for_trial(self) -> None:
        answer, date_ms = self._session.ask("/api/v1/trial/start", self._session.identity)
        if get(answer, "activation_id", str) is not None and answer.get("entitlement", "") is None:
            code = "trial_expired" if answer.get("status") == "expired" else "trial_unavailable"
            raise Failure(Result(False, code), status=200)
        self._session.accept_activation(answer, date_ms, get(answer, "license_key", str))

    @_call
    def check(self, trigger: str = "manual") -> Result:
        """Asks the service whether this machine may run. Call it on your own only without `keep_checking`."""
        self._session.release_machine()
        activation, kept = self._session.activation, self._session.kept
        if activation is None:
            return self.start_trial() if kept["trial_wanted"] else self._session.refuse_unactivated()
        consent = {"install_id": kept["install_id"], "usage_sharing": kept["sharing"]}
        known = {name: value for name, value in consent.items() if value is not None}
        try:
            answer, date_ms = self._session.ask(f"{LICENSES}/validate", {**activation, "trigger": trigger, **known})
        except Failure as failure:
            if not failure.is_about_license:
                raise
            return self._session.accept_refusal(failure.result.code or "", failure.service_ms)
        return self._accept_validation(answer, date_ms)

    def _accept_validation(self, answer: Any, date_ms: int | None) -> Result:
        is_valid, reason = get(answer, "valid", bool), get(answer, "reason", str)
        if is_valid is False and reason is not None:
            return self._session.accept_refusal(reason, date_ms)
        if is_valid is not True:
            raise other_form()
        changes = self._session.grant(answer, date_ms)
        self._session.note_answer(True)
        self._session.change(**changes)
        return Result(True)

    @_call
    def deactivate(self) -> Result:
        """Frees this machine. Without an answer it continues to run, and the next check frees it."""
        activation = self._session.activation
        if activation is None:
            return self._session.refuse_unactivated()
        key = activation.pop("license_key")
        self._session.change(release={"key": key, **activation})
        self._session.release_machine()
        return Result(True)

    @_call
    def machines(self) -> Result:
        """Lists the machines of the license, or of the key that was just refused because none is free."""
        _, listed = self._list_machines()
        return Result(True, machines=tuple(map(self._describe_machine, listed)))

    def _describe_machine(self, listed: Any) -> Machine:
        activation_id, machine_id = self._session.kept["activation_id"], self._session.kept["machine"]["machine_id"]
        is_this = listed["activation_id"] == activation_id or listed["machine_id"] == machine_id
        details = ("os_version", "app_version", "activated_at", "last_validated_at")
        texts = (get(listed, name, str) for name in details)
        return Machine(listed["activation_id"], listed["is_active"], is_this, *texts)

    def _list_machines(self) -> tuple[str, list[Any]]:
        """Returns the key whose machines matter now, and these."""
        key = self._wanted_key or self._session.kept["key"]
        if key is None:
            raise Failure(self._session.refuse_unactivated())
        listed, _ = self._session.ask(f"{LICENSES}/{urllib.parse.quote(key, safe='')}/activations")
        fields = {"activation_id": str, "machine_id": str, "is_active": bool}.items()
        if type(listed) is not list or any(get(each, *field) is None for each in listed for field in fields):
            raise other_form()
        self._session.note_answer(True)
        return key, listed

    @_call
    def move_here(self, activation_id: str) -> Result:
        """Frees another machine of the license, and activates this one."""
        key, listed = self._list_machines()
        machine = next((each for each in listed if each["activation_id"] == activation_id), None)
        if machine is None:
            return Result(False, "activation_not_found")
        if machine["is_active"]:
            activation = {"activation_id": activation_id, "machine_id": machine["machine_id"]}
            self._session.deactivate({"license_key": key, **activation})
        return self.activate(key)

    def after_purchase(
        self, transaction_id: str, *, cancel: threading.Event | None = None, timeout: float = 600.0
    ) -> Result:
        """Waits for the license of a checkout at your payment provider, and activates it. It blocks until then."""
        cancel, pause_s = cancel or threading.Event(), _FIRST_PAUSE_S
        deadline = time.monotonic() + timeout
        while not cancel.is_set():
            result = self._activate_purchase(transaction_id)
            if result.code not in ("no_answer", "purchase_pending") or time.monotonic() >= deadline:
                return result
            cancel.wait(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 1.3)
        return Result(False, "aborted")

    @_call
    def _activate_purchase(self, transaction_id: str) -> Result:
        answer, _ = self._session.ask(f"{LICENSES}/check/{urllib.parse.quote(transaction_id, safe='')}")
        status = get(answer, "status", str)
        if status is None:
            raise other_form()
        self._session.note_answer(True)
        licenses = (answer, *(get(answer, "licenses", list) or ()))
        key = next(filter(None, (get(each, "license_key", str) for each in licenses)), None)
        if key is not None:
            return self.activate(key)
        return Result(False, "purchase_pending" if status == "pending" else "key_not_shown")

    @_call
    def offline_request(self, product: str, name: str | None = None) -> Result:
        """Creates the text of a machine without a connection, for the page for buyers."""
        request = self._session.kept["request"]
        if request is None:
            nonce = encode_base64url(os.urandom(16))
            request = {"nonce": nonce, "created_at": format_time(self._session.present_ms)}
            self._session.change(request=request)
        fingerprint = self._session.identity["machine_fingerprint"]
        content = {"product": product, "machine_fingerprint": fingerprint, "nonce": request["nonce"], "name": name}
        text = "LKR1." + encode_base64url(json.dumps(content).encode())
        return Result(True, request=f"{text}.{hash_text(text)[:10]}")

    @_call
    def accept_offline(self, text: str) -> Result:
        """Accepts the answer to the last request, with any text around it."""
        match, kept = _ANSWER.search(_IGNORED.sub("", text)), self._session.kept
        if match is None:
            return Result(False, "entitlement_malformed")
        verdict, claims = self._session.verify(match[0], kept)
        if claims is None:
            return Result(False, f"entitlement_{verdict}")
        problem = time_problem(claims, self._session.present_ms)
        if problem is None and get(claims, "nonce", str) != get(kept["request"], "nonce", str):
            problem = "nonce"
        if problem is not None or kept["request"] is None:
            return Result(False, f"entitlement_{problem or 'nonce'}")
        activation_id = get(claims, "activation_id", str)
        key = kept["key"] if activation_id == kept["activation_id"] else None
        changes = {"entitlement": match[0], "activation_id": activation_id, "key": key}
        release = release_after(kept, activation_id)
        self._session.change(**changes, refused=None, request=None, trial_wanted=False, release=release)
        return Result(True)

    def keep_checking(self) -> None:
        """Checks now and from now on: daily, after sleep, and when the network returns."""
        self._background.start()

    def notice_focus(self) -> None:
        """Call it when the program comes to the front: a check follows, at most one a minute."""
        self._background.notice_focus()

    def explain(self) -> str:
        """Describes the license for support, without key, token and machine id."""
        with self._calls:
            return explain(self._session)

    def close(self) -> None:
        """Ends the background checks, and waits for a call that runs."""
        self._background.stop()
        with self._calls:
            self._listeners.clear()

    def _guard(self, work: Callable[[], Result]) -> Result:
        """Returns the result of a call, whatever it raises. A file that could not be read is read again first."""
        try:
            self._session.load()
            return work()
        except Failure as failure:
            if failure.is_no_answer or failure.status != 0:
                self._session.note_answer(not failure.is_no_answer, failure.detail or "refused")
            return failure.result
        except Exception as error:
            self._session.report("unexpected", error)
            return Result(False, "unexpected")

    def _notify(self) -> None:
        """Calls the listeners if the state changed; who answered last, and when, is no change."""
        state, shown = self.state, self._shown
        if state == shown._replace(source=state.source, last_answer_at=state.last_answer_at):
            return
        self._shown = state
        for listener in list(self._listeners):
            try:
                listener(state)
            except Exception as error:
                self._session.report("listener", error)
