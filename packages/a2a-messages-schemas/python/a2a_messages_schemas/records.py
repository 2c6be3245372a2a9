"""What every model has in common."""

from typing import Any, Dict

from pydantic import BaseModel, ConfigDict, model_validator

from .rules import faults_in


class Record(BaseModel):
    """Closed and strict: what the schema does not name is refused, and nothing is turned into what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def to_json(self) -> Dict[str, Any]:
        """The record as it came: what was left out stays out."""
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
