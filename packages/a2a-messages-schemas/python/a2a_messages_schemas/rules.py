"""What JSON Schema cannot say, or Python would read otherwise: used by the models and by the validator alike."""

import re
from datetime import datetime
from typing import Any, Dict, List

_TIME = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_FORBIDDEN = ("__proto__", "constructor", "prototype")


def is_date_time(text: str) -> bool:
    """RFC 3339, on a day the calendar has."""
    if _TIME.fullmatch(text) is None:
        return False
    try:
        # Python has no year 0; every fourth century is like it.
        datetime(int(text[:4]) or 400, int(text[5:7]), int(text[8:10]))
    except ValueError:
        return False
    return True


def is_uri(text: str) -> bool:
    """An absolute URI of RFC 3986; one with an authority has a host in it."""
    if _URI.fullmatch(text) is None:
        return False
    scheme, _, rest = text.partition(":")
    if scheme.lower() not in ("http", "https", "ws", "wss"):
        return True
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0] if rest.startswith("//") else rest
    host, _, port = authority.rpartition("@")[2].partition(":") if "[" not in authority else (authority, "", "")
    return host != "" and (port == "" or (port.isdecimal() and int(port) < 65536))


def is_base64(text: str) -> bool:
    """Standard, padded Base64 in its one spelling: no white space, no stray bits behind the last byte."""
    if text == "" or len(text) % 4 != 0 or _BASE64.fullmatch(text) is None:
        return False
    if text.endswith("=="):
        return text[-3] in "AQgw"
    if text.endswith("="):
        return text[-2] in "AEIMQUYcgkosw048"
    return True


def faults_in(message: Dict[str, Any]) -> List[str]:
    """What is wrong beyond the schema: who signed, how the signature is written, names that no record may have."""
    faults = []
    auth, payload = message.get("auth"), message.get("payload")
    if isinstance(auth, dict):
        agent, sender, signature = auth.get("agent_id"), message.get("sender_id"), auth.get("signature")
        if isinstance(agent, str) and isinstance(sender, str) and agent != sender:
            faults.append(f"/auth/agent_id: must be the sender_id, {sender!r}; got {agent!r}")
        if isinstance(signature, str) and not is_base64(signature):
            faults.append("/auth/signature: must be standard, padded Base64")
    if isinstance(payload, dict):
        faults += forbidden_in(payload.get("error"), "/payload/error")
        agents = payload.get("agents")
        for index, agent in enumerate(agents if isinstance(agents, list) else []):
            faults += forbidden_in(agent, f"/payload/agents/{index}")
    return faults


def forbidden_in(record: Any, pointer: str) -> List[str]:
    """Names that reach a prototype where code in another language is careless."""
    if not isinstance(record, dict):
        return []
    return [f"{pointer}/{name}: must not be the name of a field" for name in _FORBIDDEN if name in record]


def date_time(text: str) -> str:
    return _checked(text, is_date_time(text), "must be an RFC 3339 time on a day the calendar has")


def uri(text: str) -> str:
    return _checked(text, is_uri(text), "must be an absolute URI")


def base64(text: str) -> str:
    return _checked(text, is_base64(text), "must be standard, padded Base64")


def not_null(value: Any) -> Any:
    return _checked(value, value is not None, "must be left out rather than null")


def whole(value: Any) -> Any:
    """In JSON, 60.0 is an integer too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _checked(value: Any, is_good: bool, problem: str) -> Any:
    if not is_good:
        raise ValueError(problem)
    return value
