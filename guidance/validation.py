"""What is wrong with a policy that somebody wrote, every fault with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guidance.core.policy import Policy, PolicyError, load_policy
from guidance.time_zones import find_zone
from guidance.yaml_documents import Keys, Place, YamlDocument, YamlError, parse_yaml

# Of the names that people give: what is said of a value names all that it stands in.
KEY_LIMIT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`loc` are the keys that lead to the value; `place` is where YAML has it."""

    loc: Keys
    message: str
    place: Place | None = None

    def to_json(self) -> dict[str, Any]:
        line, column = self.place or (None, None)
        where = {"line": line, "column": column} if self.place else {}
        return {"loc": list(self.loc), "message": self.message, **where}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A document that may be published if it has no faults."""

    document: Mapping[str, Any]
    faults: tuple[Fault, ...]


def check_yaml(text: str) -> Checked:
    try:
        parsed = parse_yaml(text)
    except YamlError as error:
        fault = Fault(loc=(), message=str(error), place=error.place)
        return Checked(document={}, faults=(fault,))
    return _check(parsed.document, yaml=parsed)


def check_document(document: Any) -> Checked:
    return _check(document, yaml=None)


def _check(document: Any, *, yaml: YamlDocument | None) -> Checked:
    def build_fault(loc: Keys, message: str) -> Fault:
        place = yaml.find_place(loc) if yaml else None
        return Fault(loc=loc, message=message, place=place)

    above = _find_long_key(document)
    if above is not None:
        message = f"a key here is longer than {KEY_LIMIT:,} characters"
        return Checked(document={}, faults=(build_fault(above, message),))
    try:
        policy = load_policy(document)
        _check_zone(policy)
        _check_schemas(policy)
    except PolicyError as error:
        faults = tuple(
            build_fault(split_path(path, document), why) for path, why in error.errors
        )
        kept = document if isinstance(document, Mapping) else {}
        return Checked(document=kept, faults=faults)
    return Checked(document=document, faults=())


def _find_long_key(document: Any) -> Keys | None:
    """Find what holds a key that is too long."""
    waiting: list[tuple[Keys, Any]] = [((), document)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, Mapping):
            if any(len(str(key)) > KEY_LIMIT for key in value):
                return keys
            waiting += [((*keys, key), part) for key, part in value.items()]
        elif isinstance(value, list):
            waiting += [((*keys, index), part) for index, part in enumerate(value)]
    return None


def _check_zone(policy: Policy) -> None:
    """The core reads no files, and does not know which zones there are."""
    zone = policy.reviews.working_hours.zone
    if find_zone(zone) is None:
        problem = f"there is no time zone {zone}; name one such as Europe/Berlin"
        raise PolicyError((("reviews.working_hours.zone", problem),))


def _check_schemas(policy: Policy) -> None:
    """Refuse schemas that cost too much: those already stored are read all the same."""
    schemas = {f"tools.schemas.{t}": s.schema for t, s in policy.tools.schemas.items()}
    for index, kind in enumerate(policy.loop.kinds.values()):
        schemas[f"loop.kinds.{index}.parameters"] = kind.schema
    faults = tuple(
        (".".join((path, *map(str, schema.excess.keys))), str(schema.excess))
        for path, schema in schemas.items()
        if schema.excess is not None
    )
    if faults:
        raise PolicyError(faults)


def split_path(path: str, document: Any) -> Keys:
    """Split a dotted path into its keys; the document tells which of them hold a dot."""
    keys: list[str | int] = []
    while path:
        key: str | int
        key, rest = _split_first(path, document)
        if isinstance(document, list) and key.isdigit():
            key = int(key)
            document = document[key] if key < len(document) else None
        else:
            document = document.get(key) if isinstance(document, Mapping) else None
        keys.append(key)
        path = rest
    return tuple(keys)


def _split_first(path: str, document: Any) -> tuple[str, str]:
    """Split off the longest key that the path begins with."""
    end = len(path)
    while isinstance(document, Mapping) and end > 0:
        if path[:end] in document:
            return path[:end], path[end + 1 :]
        end = path.rfind(".", 0, end)
    key, _, rest = path.partition(".")
    return key, rest
