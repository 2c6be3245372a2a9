"""Verifies callbacks by Standard Webhooks: ``v1`` (HMAC-SHA256, ``whsec_…``) and ``v1a`` (Ed25519, ``whpk_…``)."""

import base64
import hashlib
import hmac
import time
from typing import Mapping, Optional


def verify_webhook(
    headers: Mapping[str, str], body: bytes, key: str, now: Optional[float] = None, tolerance_seconds: int = 300
) -> bool:
    """Whether the body was signed by this key, at most ``tolerance_seconds`` ago. ``v1a`` needs ``cryptography``."""
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp = fields["webhook-id"], fields["webhook-timestamp"]
        signatures = [one.partition(",") for one in fields["webhook-signature"].split(" ")]
        age = (time.time() if now is None else now) - int(timestamp)
    except (KeyError, ValueError):
        return False
    if abs(age) > tolerance_seconds:
        return False
    content = f"{message_id}.{timestamp}.".encode("utf-8") + body
    version = "v1a" if key.startswith("whpk_") else "v1"
    return any(_holds(key, content, signature) for name, _, signature in signatures if name == version)


def _holds(key: str, content: bytes, signature: str) -> bool:
    try:
        given = base64.b64decode(signature, validate=True)
        raw = base64.b64decode(key.split("_", 1)[-1], validate=True)
    except ValueError:
        return False
    if not key.startswith("whpk_"):
        return hmac.compare_digest(given, hmac.new(raw, content, hashlib.sha256).digest())
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(given, content)
        return True
    except (InvalidSignature, ValueError):
        return False
