"""What two agents speak with each other."""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

_PROTOCOL = re.compile(r"A2A/([0-9]{1,9})\.([0-9]{1,9})")
_SCHEMA_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")


class Negotiated(NamedTuple):
    protocol: str
    schema_version: str


def negotiate(ours: Dict[str, Any], theirs: Dict[str, Any]) -> Optional[Negotiated]:
    """The highest protocol and the highest schema version both cards name; ``None`` when they share none of either."""
    protocol = _highest(_PROTOCOL, ours["supported_protocols"], theirs["supported_protocols"])
    version = _highest(_SCHEMA_VERSION, schema_versions_of(ours), schema_versions_of(theirs))
    return None if protocol is None or version is None else Negotiated(protocol, version)


def schema_versions_of(card: Dict[str, Any]) -> List[str]:
    """A card that names none speaks 1.0.0; those that kept to the closed card of the spec say it under ``metadata``."""
    versions = card.get("schema_versions")
    if versions is None:
        versions = (card.get("metadata") or {}).get("schema_versions")
    return [version for version in versions if isinstance(version, str)] if isinstance(versions, list) else ["1.0.0"]


def _highest(pattern: "re.Pattern[str]", ours: Sequence[str], theirs: Sequence[str]) -> Optional[str]:
    # By number, so that 1.10 is above 1.9. A shared major version is not enough: the messages are closed.
    common = [(match, text) for text in ours if text in theirs and (match := pattern.fullmatch(text))]
    if not common:
        return None
    return max(common, key=lambda found: [int(number) for number in found[0].groups()])[1]
