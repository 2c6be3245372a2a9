"""What every model has in common."""

from datetime import datetime, timezone
from typing import Any, Dict
from uuid import UUID

from pydantic import BaseModel, ConfigDict, model_validator

from .rules import faults_in


class Record(BaseModel):
    """Closed and strict: what the schema does not name is refused, and nothing is turned into what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _takes_objects(cls, value: Any) -> Any:
        """UUID and datetime objects become the texts that the schema has."""
        return {key: _as_text(one) for key, one in value.items()} if isinstance(value, dict) else value

    def to_json(self) -> Dict[str, Any]:
        """The record as received: fields that were left out stay absent."""
        return self.model_dump(exclude_unset=True)


class Message(Record):
    """What holds of a message as a whole."""

    @model_validator(mode="before")
    @classmethod
    def _keeps_the_rules(cls, value: Any) -> Any:
        faults = faults_in(value) if isinstance(value, dict) else []
        if faults:
            raise ValueError("; ".join(faults))
        return value


def _as_text(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError("a datetime needs a time zone, such as datetime.now(timezone.utc)")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
