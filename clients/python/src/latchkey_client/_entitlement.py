"""Verification of entitlements: what the service signed for this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ._ed25519 import is_signed
from ._json import decode_base64url, get, hash_text, parse_json


class Trust(NamedTuple):
    """What an entitlement must fit. Of two keys with the same id, the first one counts."""

    keys: Sequence[Mapping[str, Any]]
    issuer: str
    products: Sequence[str]
    machine_id: str


def read_public_keys(keys: Any) -> list[dict[str, Any]]:
    """Returns the Ed25519 keys of a list (RFC 8037), and ignores its other members."""
    return [key for key in keys if _is_public_key(key)] if isinstance(keys, list) else []


def _is_public_key(key: Any) -> bool:
    is_ed25519 = get(key, "kty", str) == "OKP" and get(key, "crv", str) == "Ed25519"
    return is_ed25519 and get(key, "kid", str) is not None and len(decode_base64url(get(key, "x", str) or "")) == 32


def verify(token: str, trust: Trust) -> tuple[str, dict[str, Any] | None]:
    """Returns the verdict on everything but times and nonce, so that it stays true; and the claims, if it is `ok`."""
    header, claims, signature = _split(token)
    if claims is None:
        return "malformed", None
    if header.get("alg") != "EdDSA":
        return "algorithm", None
    x = next((key["x"] for key in trust.keys if key["kid"] == header["kid"]), None)
    if x is None:
        return "unknown_key", None
    signed, _, _ = token.rpartition(".")
    if not is_signed(decode_base64url(x), signed.encode(), signature):
        return "signature", None
    if claims.get("iss") != trust.issuer:
        return "issuer", None
    if claims.get("aud") not in trust.products:
        return "audience", None
    return ("ok", claims) if claims.get("machine") == hash_text(trust.machine_id) else ("machine", None)


def _split(token: str) -> tuple[dict[str, Any], dict[str, Any] | None, bytes]:
    """Returns header, claims and signature; without claims if the token is malformed."""
    parts = token.split(".")
    head, payload, signature = map(decode_base64url, parts if len(parts) == 3 else ("", "", ""))
    header, claims = parse_json(head), parse_json(payload)
    is_named = get(header, "typ", str) == "entitlement+jwt" and get(header, "kid", str) is not None
    has_times = all(get(claims, name, int) is not None for name in ("iat", "nbf", "exp"))
    if not is_named or "crit" in header or not has_times or not signature:
        return {}, None, b""
    return header, claims, signature


def time_problem(claims: Mapping[str, Any], now_ms: int) -> str | None:
    """Returns what is wrong with the times of a genuine entitlement: `early`, `late` or None."""
    if now_ms < (claims["nbf"] - 300) * 1000:
        return "early"
    return "late" if now_ms >= claims["exp"] * 1000 else None
