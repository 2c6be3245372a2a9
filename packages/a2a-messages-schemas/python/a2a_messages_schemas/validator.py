"""Validates messages against the JSON Schemas, and reports every error."""

import json
import re
from importlib.resources import files
from typing import Any, Dict, Iterator, List, Tuple

from jsonschema import Draft7Validator, FormatChecker, ValidationError, validators
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from .rules import faults_in, is_date_time, is_uri


class SchemaValidator:
    """Compiles the schemas once. Time is no part of it: a stored message stays valid. See ``check_freshness``."""

    def __init__(self) -> None:
        schemas = list(_schemas())
        registry: Registry = Registry().with_resources(
            [(schema["$id"], Resource(contents=schema, specification=DRAFT7)) for schema in schemas]
        )
        self._by_type: Dict[str, Any] = {}
        for schema in schemas:
            for part in schema.get("allOf", []):
                # File names have hyphens and types underscores, so the type is read from the schema itself.
                kind = part.get("properties", {}).get("message_type", {}).get("const")
                if kind is not None:
                    self._by_type[kind] = _Validator(schema, registry=registry, format_checker=_FORMATS)

    def validate(self, message: Any) -> Tuple[bool, List[str]]:
        """Whether it is a valid message, and every problem as ``/pointer: what is wrong``."""
        if not isinstance(message, dict):
            return False, [": must be an object"]
        kind = message.get("message_type")
        validator = self._by_type.get(kind) if isinstance(kind, str) else None
        if validator is None:
            return False, [f"/message_type: must be one of {', '.join(sorted(self._by_type))}; got {kind!r}"]
        problems = [f"{_pointer(error)}: {error.message}" for error in validator.iter_errors(message)]
        problems += faults_in(message)
        return not problems, problems


def _schemas() -> Iterator[Dict[str, Any]]:
    for file in files(__package__).joinpath("schemas").iterdir():
        if file.name == "manifest.json":
            continue
        schema = json.loads(file.read_text(encoding="utf-8"))
        # A schema that names its draft is checked by the library's own validator of it, and that one is laxer than ours.
        del schema["$schema"]
        yield schema


def _pointer(error: ValidationError) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.absolute_path)


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    # In Python `$` also matches before a last line break, and `\d` any digit of any script.
    strict = re.sub(r"\$$", r"\\Z", pattern)
    if isinstance(instance, str) and re.search(strict, instance, re.ASCII) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


_Validator = validators.extend(Draft7Validator, {"pattern": _pattern})
_FORMATS = FormatChecker(formats=())
_FORMATS.checks("date-time")(lambda value: not isinstance(value, str) or is_date_time(value))
_FORMATS.checks("uri")(lambda value: not isinstance(value, str) or is_uri(value))
