"""A service that answers as a test wants, entitlements with keys of the test, and clients of both."""

from __future__ import annotations

import atexit
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit

from latchkey_client import Latchkey, Received
from latchkey_client import _ed25519 as ed25519
from latchkey_client._json import encode_base64url, hash_text

ISSUER = "https://license.example.com"
MACHINE_ID = "4c4c4544-0044"
NOW_MS = 1_800_000_000_000  # 2027-01-15T08:00:00Z
DAY_MS = 86_400_000
KEY = "LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WV94"
ACTIVATION_ID = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d"
VECTORS = Path(__file__).parents[2] / "conformance" / "vectors"


def read_vectors(name: str) -> list[dict[str, Any]]:
    return json.loads((VECTORS / f"{name}.json").read_text("utf-8"))


class Signer:
    """A key of a service (RFC 8032, sections 5.1.5 and 5.1.6)."""

    def __init__(self, seed: str) -> None:
        digest = hashlib.sha512(seed.encode()).digest()
        self._secret = (int.from_bytes(digest[:32], "little") & (1 << 254) - 8) | 1 << 254
        self._prefix = digest[32:]
        self._public = self._multiply(self._secret)
        x = encode_base64url(self._public)
        self.public_key = {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": hash_text(x)}

    def sign(self, message: bytes) -> bytes:
        nonce = self._read(self._prefix + message)
        first = self._multiply(nonce)
        challenge = self._read(first + self._public + message)
        return first + ((nonce + challenge * self._secret) % ed25519._ORDER).to_bytes(32, "little")

    def sign_token(self, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """Returns an entitlement of 14 days with changed claims."""
        seconds = NOW_MS // 1000
        claims = {
            "iss": ISSUER,
            "aud": "personal",
            "iat": seconds,
            "nbf": seconds,
            "exp": seconds + 14 * 86_400,
            "activation_id": ACTIVATION_ID,
            "machine": hash_text(MACHINE_ID),
            "tier": "personal",
            "features": ["history", "gpu"],
            "license_expires_at": None,
            "trial": False,
            **changes,
        }
        header = header or {"alg": "EdDSA", "kid": self.public_key["kid"], "typ": "entitlement+jwt"}
        text = ".".join(encode_base64url(json.dumps(part).encode()) for part in (header, claims))
        return f"{text}.{encode_base64url(self.sign(text.encode()))}"

    @staticmethod
    def _multiply(scalar: int) -> bytes:
        return ed25519._encode_point(ed25519._combine(scalar % ed25519._ORDER, 0, ed25519._BASE))

    @staticmethod
    def _read(data: bytes) -> int:
        return int.from_bytes(hashlib.sha512(data).digest(), "little") % ed25519._ORDER


SIGNER = Signer("the signer of the tests")
TOKEN = SIGNER.sign_token()

Answer = Callable[[str, Any], Received]


def answer_json(content: Any, status: int = 200, content_type: str = "application/json") -> Received:
    return Received(status, {"content-type": content_type}, json.dumps(content).encode())


def answer_problem(status: int, code: str, **content: Any) -> Received:
    return answer_json({"status": status, "code": code, **content}, status, "application/problem+json")


def answer_page(status: int = 200) -> Received:
    return Received(status, {"content-type": "text/html"}, b"<html>Please sign in</html>")


def activated(token: str = TOKEN) -> Received:
    return answer_json({"activation_id": ACTIVATION_ID, "entitlement": token})


def validated(token: str = TOKEN) -> Received:
    return answer_json({"valid": True, "entitlement": token})


class Service:
    """Stands for the network: `answer` gets path and body of each request; by default nothing listens."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.answer: Answer = self.refuse

    def send(self, url: str, body: bytes | None, timeout: float) -> Received:
        request = (urlsplit(url).path, None if body is None else json.loads(body))
        self.requests.append(request)
        return self.answer(*request)

    @staticmethod
    def refuse(path: str, body: Any) -> Received:
        raise ConnectionRefusedError("nothing listens")


_FOLDERS = tempfile.TemporaryDirectory(prefix="latchkey-test-")
atexit.register(_FOLDERS.cleanup)


class Opened:
    """A client in a folder of its own, with its service, its clock and the problems that it reported."""

    def __init__(self, **options: Any) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=_FOLDERS.name)) / "program"
        self.service, self.now_ms, self.problems = Service(), NOW_MS, list[str]()
        self.client = self.open(**options)

    def open(self, **options: Any) -> Latchkey:
        """Opens another client on the same folder."""
        usual: dict[str, Any] = {
            "service": ISSUER,
            "issuer": ISSUER,
            "products": ["personal"],
            "public_keys": [SIGNER.public_key],
            "folder": self.folder,
            "app_version": "2.4.0",
            "machine": {"machine_id": MACHINE_ID},
            "transport": self.service.send,
            "now": lambda: self.now_ms,
            "on_problem": lambda code, message: self.problems.append(code),
        }
        return Latchkey(**{**usual, **options})

    def activate(self) -> Opened:
        self.service.answer = lambda path, body: activated()
        assert self.client.activate(KEY)
        self.service.requests.clear()
        return self

    @property
    def file(self) -> Path:
        return self.folder / "license.json"

    def read_kept(self) -> dict[str, Any]:
        return json.loads(self.file.read_text("utf-8"))
