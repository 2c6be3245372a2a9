"""A2A messages: Pydantic 2 models, a JSON Schema validator, freshness and version negotiation."""

import json
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from .error_code import ErrorCode
from .freshness import check_freshness
from .models import (
    A2AMessage,
    AgentAnnouncementMessage,
    AgentCard,
    AgentInfo,
    AuthenticationTag,
    BaseMessage,
    DiscoverAgentsMessage,
    ErrorMessage,
    ErrorPayload,
    GoodbyeMessage,
    HandshakeAckMessage,
    HandshakeMessage,
    RequestMessage,
    ResponseMessage,
    SuccessPayload,
)
from .negotiation import Negotiated, negotiate
from .signing import canonical_json, sign_message, signed_content, verify_message
from .validator import SchemaValidator
from .webhooks import verify_webhook

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
    "BaseMessage",
    "DiscoverAgentsMessage",
    "ErrorCode",
    "ErrorMessage",
    "ErrorPayload",
    "GoodbyeMessage",
    "HandshakeAckMessage",
    "HandshakeMessage",
    "MANIFEST",
    "Negotiated",
    "RequestMessage",
    "ResponseMessage",
    "SCHEMA_VERSION",
    "SchemaValidator",
    "SuccessPayload",
    "canonical_json",
    "check_freshness",
    "negotiate",
    "parse_message",
    "sign_message",
    "signed_content",
    "verify_message",
    "verify_webhook",
]
