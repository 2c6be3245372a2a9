"""The code of an error: one of the standard ones, or a peer's own of the same form."""

from typing import Annotated

from pydantic import StringConstraints

ErrorCode = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*[A-Z0-9]$")]
