"""A2A messages: Pydantic 2 models, a JSON Schema validator, freshness and version negotiation."""

import json
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from .freshness import check_freshness
from .models import (
    A2AMessage,
    AgentAnnouncementMessage,
    AgentCard,
    AgentInfo,
    AuthenticationTag,
    DiscoverAgentsMessage,
    ErrorMessage,
    GoodbyeMessage,
    HandshakeAckMessage,
    HandshakeMessage,
    RequestMessage,
    ResponseMessage,
)
from .negotiation import Negotiated, negotiate
from .validator import SchemaValidator

MANIFEST = json.loads(files(__package__).joinpath("schemas", "manifest.json").read_text(encoding="utf-8"))
SCHEMA_VERSION: str = MANIFEST["version"]
"""The version of the schemas, which is not the version of this package."""

_MESSAGES: TypeAdapter = TypeAdapter(A2AMessage)


def parse_message(message: Any) -> A2AMessage:
    """The model of a message, by its ``message_type``. Raises ``pydantic.ValidationError`` with every problem."""
    return _MESSAGES.validate_python(message)


__all__ = [
    "A2AMessage",
    "AgentAnnouncementMessage",
    "AgentCard",
    "AgentInfo",
    "AuthenticationTag",
    "DiscoverAgentsMessage",
    "ErrorMessage",
    "GoodbyeMessage",
    "HandshakeAckMessage",
    "HandshakeMessage",
    "MANIFEST",
    "Negotiated",
    "RequestMessage",
    "ResponseMessage",
    "SCHEMA_VERSION",
    "SchemaValidator",
    "check_freshness",
    "negotiate",
    "parse_message",
]
