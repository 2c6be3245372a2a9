# Written by scripts/generate-schemas.ts from the schemas of the messages. Changes belong there.
"""Pydantic models of the A2A messages. Times and ids keep their received text, so that signatures stay valid."""

from typing import Annotated, Any, Dict, List, Literal, Optional, Union

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints

from .records import Message, Record
from .rules import base64, date_time, not_null, uri, whole


class AuthenticationTag(Record):
    """Who signed this message, when, and the signature."""

    agent_id: Annotated[str, StringConstraints(min_length=3, max_length=128)]
    timestamp: Annotated[str, AfterValidator(date_time)]
    nonce: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    signature: Annotated[str, AfterValidator(base64)]
    public_key_fingerprint: Annotated[Optional[str], BeforeValidator(not_null)] = None


class BaseMessage(Message):
    message_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]
    message_type: Literal["request", "response", "handshake", "handshake_ack", "error", "discover_agents", "agent_announcement", "goodbye"]
    sender_id: Annotated[str, StringConstraints(min_length=3, max_length=128, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$")]
    recipient_id: Annotated[str, StringConstraints(pattern=r"^(?:\*|[a-zA-Z0-9][a-zA-Z0-9-]{1,126}[a-zA-Z0-9])$")]
    timestamp: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z$"), AfterValidator(date_time)]
    payload: Dict[str, Any]
    correlation_id: Optional[Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]] = None
    auth: Annotated[Optional[AuthenticationTag], BeforeValidator(not_null)] = None


class RequestPayload(Record):
    method: Annotated[str, StringConstraints(min_length=1, max_length=128)]
    parameters: Annotated[Optional[Dict[str, Any]], BeforeValidator(not_null)] = None


class RequestMessage(BaseMessage):
    message_type: Literal["request"]
    correlation_id: None = None
    payload: RequestPayload


class SuccessPayload(Record):
    status: Literal["success"]
    data: Dict[str, Any]


class ErrorPayloadError(Record):
    model_config = ConfigDict(extra="allow", strict=True)

    code: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*[A-Z0-9]$")]
    message: Annotated[str, StringConstraints(min_length=1)]
    details: Annotated[Optional[Dict[str, Any]], BeforeValidator(not_null)] = None
    retry_after: Annotated[Optional[Annotated[int, BeforeValidator(whole), Field(ge=0)]], BeforeValidator(not_null)] = None
    documentation_url: Annotated[Optional[Annotated[str, AfterValidator(uri)]], BeforeValidator(not_null)] = None


class ErrorPayload(Record):
    status: Literal["error"]
    error: ErrorPayloadError


class ResponseMessage(BaseMessage):
    message_type: Literal["response"]
    correlation_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]
    payload: Union[SuccessPayload, ErrorPayload]


class AgentCard(Record):
    agent_id: Annotated[str, StringConstraints(min_length=3, max_length=128, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$")]
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
    description: Annotated[str, StringConstraints(max_length=500)]
    capabilities: Annotated[List[str], Field(min_length=1, max_length=50)]
    supported_protocols: Annotated[List[str], Field(min_length=1)]
    schema_versions: Annotated[Optional[List[Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]]], BeforeValidator(not_null)] = None
    metadata: Annotated[Optional[Dict[str, Any]], BeforeValidator(not_null)] = None


class HandshakePayload(Record):
    agent_card: AgentCard


class HandshakeMessage(BaseMessage):
    message_type: Literal["handshake"]
    correlation_id: None = None
    payload: HandshakePayload


class HandshakeAckPayload(Record):
    agent_card: AgentCard
    negotiated_protocol: Annotated[Optional[str], BeforeValidator(not_null)] = None
    negotiated_schema_version: Annotated[Optional[Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]], BeforeValidator(not_null)] = None
    session_id: Annotated[Optional[Annotated[str, StringConstraints(min_length=1, max_length=128)]], BeforeValidator(not_null)] = None
    accepted: Annotated[Optional[bool], BeforeValidator(not_null)] = None
    reason: Annotated[Optional[Annotated[str, StringConstraints(max_length=500)]], BeforeValidator(not_null)] = None


class HandshakeAckMessage(BaseMessage):
    message_type: Literal["handshake_ack"]
    correlation_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]
    payload: HandshakeAckPayload


class ErrorMessagePayloadError(Record):
    code: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*[A-Z0-9]$")]
    message: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    details: Annotated[Optional[Dict[str, Any]], BeforeValidator(not_null)] = None
    retry_after: Annotated[Optional[Annotated[int, BeforeValidator(whole), Field(ge=0)]], BeforeValidator(not_null)] = None
    documentation_url: Annotated[Optional[Annotated[str, AfterValidator(uri)]], BeforeValidator(not_null)] = None


class ErrorMessagePayload(Record):
    error: ErrorMessagePayloadError


class ErrorMessage(BaseMessage):
    message_type: Literal["error"]
    correlation_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]
    payload: ErrorMessagePayload


class DiscoverAgentsPayloadFilters(Record):
    status: Annotated[Optional[Literal["healthy", "unhealthy", "all"]], BeforeValidator(not_null)] = None
    max_results: Annotated[Optional[Annotated[int, BeforeValidator(whole), Field(ge=1, le=100)]], BeforeValidator(not_null)] = None


class DiscoverAgentsPayload(Record):
    capabilities: Annotated[Optional[List[str]], BeforeValidator(not_null)] = None
    filters: Annotated[Optional[DiscoverAgentsPayloadFilters], BeforeValidator(not_null)] = None


class DiscoverAgentsMessage(BaseMessage):
    message_type: Literal["discover_agents"]
    recipient_id: Literal["registry"]
    correlation_id: None = None
    payload: DiscoverAgentsPayload


class AgentInfo(Record):
    model_config = ConfigDict(extra="allow", strict=True)

    agent_id: str
    name: str
    capabilities: List[str]
    status: Literal["healthy", "unhealthy"]
    endpoint: Annotated[str, AfterValidator(uri)]
    last_heartbeat: Annotated[Optional[Annotated[str, AfterValidator(date_time)]], BeforeValidator(not_null)] = None


class AgentAnnouncementPayload(Record):
    agents: List[AgentInfo]
    total_count: Annotated[int, BeforeValidator(whole), Field(ge=0)]
    query_time_ms: Annotated[Optional[Annotated[float, Field(ge=0)]], BeforeValidator(not_null)] = None


class AgentAnnouncementMessage(BaseMessage):
    message_type: Literal["agent_announcement"]
    sender_id: Literal["registry"]
    correlation_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")]
    payload: AgentAnnouncementPayload


class GoodbyePayload(Record):
    reason: Annotated[Optional[Annotated[str, StringConstraints(max_length=500)]], BeforeValidator(not_null)] = None


class GoodbyeMessage(BaseMessage):
    message_type: Literal["goodbye"]
    correlation_id: None = None
    payload: GoodbyePayload


A2AMessage = Annotated[
    Union[
        RequestMessage,
        ResponseMessage,
        HandshakeMessage,
        HandshakeAckMessage,
        ErrorMessage,
        DiscoverAgentsMessage,
        AgentAnnouncementMessage,
        GoodbyeMessage,
    ],
    Field(discriminator="message_type"),
]
"""Any message, distinguished by ``message_type``."""
