"""10,000 faults of the network: nothing is raised, no state changes, nobody is locked out."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import unittest
from typing import Any, Callable
from urllib.error import URLError

from latchkey_client import Received

from .support import KEY, SIGNER, Opened, Signer, activated, answer_json, answer_page, answer_problem, validated

FAULTS = 10_000


def fail(error: BaseException) -> Callable[[], Received]:
    def answer() -> Received:
        raise error

    return answer


def text(body: bytes, status: int = 200) -> Callable[[], Received]:
    return lambda: Received(status, {"content-type": "application/json"}, body)


FOREIGN = Signer("a service that pretends to be the real one").sign_token()
OTHER_PRODUCT, ENDED = SIGNER.sign_token(aud="other"), SIGNER.sign_token(exp=1)

ANSWERS: tuple[tuple[str, Callable[[], Received]], ...] = (
    ("connection", fail(URLError(ConnectionRefusedError("refused")))),
    ("connection", fail(ConnectionResetError("reset"))),
    ("connection", fail(http.client.RemoteDisconnected("closed"))),
    ("connection", fail(http.client.IncompleteRead(b"{"))),
    ("connection", fail(RuntimeError("odd"))),
    ("connection", fail(ValueError("invalid literal for int()"))),
    ("dns", fail(URLError(socket.gaierror(-2, "Name or service not known")))),
    ("timeout", fail(URLError(socket.timeout("timed out")))),
    ("timeout", fail(TimeoutError("timed out"))),
    ("tls", fail(URLError(ssl.SSLCertVerificationError("self-signed certificate")))),
    ("proxy", fail(URLError(OSError("Tunnel connection failed: 407 Proxy Authentication Required")))),
    ("proxy", lambda: answer_page(407)),
    ("portal", lambda: answer_page()),
    ("portal", lambda: answer_page(403)),
    ("portal", lambda: answer_page(404)),
    ("portal", lambda: answer_page(302)),
    ("portal", text(b"", 204)),
    ("portal", text(b"")),
    ("portal", text(b'{"valid":true,"entitlem')),
    ("portal", text(b"[{}]")),
    ("portal", text(b"null")),
    ("portal", text(b"NaN")),
    ("portal", text(b"\xff\xfe")),
    ("portal", text(b"[" * 50_000)),
    ("portal", text(b'{"valid":false,"reason":1}')),
    ("portal", text(b"x" * 1_000_001)),
    ("portal", lambda: answer_json({"valid": True})),
    ("portal", lambda: answer_json({"valid": True, "entitlement": "a.b.c"})),
    ("portal", lambda: answer_json({"valid": True, "entitlement": FOREIGN})),
    ("portal", lambda: answer_json({"valid": True, "entitlement": OTHER_PRODUCT})),
    ("portal", lambda: answer_json({"valid": True, "entitlement": ENDED})),
    ("portal", lambda: answer_json({"error": "blocked by policy"}, 403)),
    ("portal", lambda: answer_json({"code": "license_revoked", "status": 200}, 403)),
    ("busy", lambda: answer_problem(429, "rate_limited")),
    ("busy", lambda: answer_problem(500, "internal_error")),
    ("busy", lambda: answer_page(502)),
    ("busy", lambda: answer_problem(503, "license_revoked")),
)


class FaultsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.unhandled: list[Any] = []
        before = threading.excepthook
        threading.excepthook = self.unhandled.append
        self.addCleanup(setattr, threading, "excepthook", before)

    def test_10_000_faults_change_nothing(self) -> None:
        opened = Opened().activate()
        client, file = opened.client, opened.file.read_bytes()
        before = client.state._replace(source="kept")
        calls: tuple[Callable[[], Any], ...] = (
            lambda: client.check("scheduled"),
            lambda: client.activate(KEY),
            client.machines,
            lambda: client.move_here("any"),
        )
        for fault in range(FAULTS):
            cause, answer = ANSWERS[fault % len(ANSWERS)]
            opened.service.answer = lambda path, body, answer=answer: answer()
            result = calls[fault % len(calls)]()
            self.assertEqual((result.ok, result.code, result.cause), (False, "no_answer", cause), fault)
        self.assertEqual(client.state, before)
        self.assertEqual(json.loads(opened.file.read_bytes()), json.loads(file))
        opened.service.answer = lambda path, body: validated()
        self.assertTrue(client.check())
        self.assertEqual((opened.problems, self.unhandled), ([], []))

    def test_a_first_activation_works_after_every_fault(self) -> None:
        opened = Opened()
        for _, answer in ANSWERS:
            opened.service.answer = lambda path, body, answer=answer: answer()
            self.assertFalse(opened.client.activate(KEY))
            self.assertEqual(opened.client.state.reason, "not_activated")
        opened.service.answer = lambda path, body: activated()
        self.assertTrue(opened.client.activate(KEY))


if __name__ == "__main__":
    unittest.main()
