"""Signs and verifies A2A messages. Needs the package ``cryptography`` (extra ``signing``)."""

import base64
import json
import secrets
from datetime import datetime, timezone
from typing import Any, Dict, Optional


def canonical_json(value: Any) -> str:
    """The RFC 8785 text of a JSON value: keys by their UTF-16 units, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(key)}:{canonical_json(value[key])}" for key in keys) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        if abs(value) >= 2**1024 or int(float(value)) != value:
            raise ValueError("an integer that has no exact double: send it as a string")
        return _number(float(value))
    if isinstance(value, float):
        return _number(value)
    return _text(value)


def signed_content(message: Dict[str, Any]) -> bytes:
    """The bytes a signature covers: the message without ``auth.signature``; an absent ``correlation_id`` is signed as null."""
    auth = {key: value for key, value in message["auth"].items() if key != "signature"}
    content = {**message, "correlation_id": message.get("correlation_id"), "auth": auth}
    return canonical_json(content).encode("utf-8")


def sign_message(message: Dict[str, Any], private_key: Any, now: Optional[datetime] = None) -> Dict[str, Any]:
    """The message with ``auth``, signed by an Ed25519 private key of ``cryptography``."""
    time = (now or datetime.now(timezone.utc)).astimezone(timezone.utc)
    auth = {
        "agent_id": message["sender_id"],
        "timestamp": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "nonce": secrets.token_hex(16),
    }
    signature = private_key.sign(signed_content({**message, "auth": auth}))
    return {**message, "auth": {**auth, "signature": base64.b64encode(signature).decode("ascii")}}


def verify_message(message: Dict[str, Any], public_key: Any) -> bool:
    """Whether an Ed25519 public key of ``cryptography`` signed the message. Check its freshness, too."""
    from cryptography.exceptions import InvalidSignature

    try:
        signature = base64.b64decode(message["auth"]["signature"], validate=True)
        public_key.verify(signature, signed_content(message))
        return True
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not a JSON value: {value!r}")
    value.encode("utf-8")  # A lone surrogate has no canonical form.
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("only finite numbers are JSON")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= 1 + len(fraction) - len(fraction.lstrip("0"))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = "." + digits[1:] if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
