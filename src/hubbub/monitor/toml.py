"""A TOML file checked against a model; what is wrong is named with its file and line before anything starts."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from hubbub.errors import InvalidInput
from hubbub.masking import without_secrets

Model = TypeVar("Model", bound=BaseModel)

SAMPLE = "`hubbub init` writes a commented sample."


def read_toml(path: Path, model: type[Model], sample: str = SAMPLE) -> Model:
    """The file as a `model`, or one error that says where and what to do about the first mistake.

    `sample` says where a good file is found.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"There is no settings file {path}.", sample) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The settings file {path} cannot be read: {error}.") from None
    try:
        facts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise InvalidInput(
            f"{path}, line {line[1] if line else '?'}: {str(error).split(' (at')[0]}.",
            "Strings are in quotes, tables in [brackets].",
        ) from None
    try:
        return model.model_validate(facts)
    except ValidationError as error:
        raise _wrong_setting(path, text, facts, model, error, sample) from None


def _wrong_setting(
    path: Path, text: str, facts: dict[str, Any], model: type[BaseModel], error: ValidationError, sample: str
) -> InvalidInput:
    # A misspelt name is also a missing one: tell of the spelling first.
    errors = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    place = _in_file(facts, first["loc"])
    name, line = ".".join(place) or "the file", line_of(text, place)
    more = f" ({error.error_count() - 1} more after it.)" if error.error_count() > 1 else ""
    where = f"{path}, line {line}: " if line else f"{path}: "
    if first["type"] == "extra_forbidden":
        known = _names(model, place[:-1])
        close = difflib.get_close_matches(place[-1], known, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"Known here: {', '.join(sorted(known))}."
        return InvalidInput(f"{where}there is no setting `{name}`.{more}", hint)
    if first["type"] == "missing":
        return InvalidInput(f"{where}the setting `{name}` is missing.{more}", sample)
    what = first["msg"].removeprefix("Value error, ")
    return InvalidInput(
        f"{where}`{name}`: {what[0].lower()}{what[1:]}.{more}", "`docs/settings.md` tells each setting."
    )


def _in_file(facts: Any, place: tuple[int | str, ...]) -> tuple[str, ...]:
    """`place` as the file has it: the checker also names the chosen kind of a table, which no file does."""
    path: list[str] = []
    for part in place:
        if isinstance(facts, dict) and part not in facts and facts.get("kind") == part:
            continue
        path.append(str(part))
        facts = facts.get(part) if isinstance(facts, dict) else None
    return tuple(path)


def _names(model: type[BaseModel], place: tuple[str, ...]) -> list[str]:
    """The settings that exist at `place`, following nested models."""
    for part in place:
        field = model.model_fields.get(part)
        inner = _table(field.annotation) if field is not None else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return list(model.model_fields)


def _table(annotation: Any) -> Any:
    """A table that may be left out is still that table."""
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else annotation


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """The line where the setting at `place` stands, or its table's; found by reading the file, tables and dotted names.

    >>> line_of('[privacy]\\nepsilon = 0', ("privacy", "epsilon"))
    2
    """
    table: tuple[str, ...] = ()
    best: tuple[int, int] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        header = re.fullmatch(r"\[+\s*([^\]]+?)\s*\]+", line)
        setting = re.match(r"([A-Za-z0-9_.\"' -]+?)\s*=", line)
        if header:
            table = _parts(header[1])
            here = table
        elif setting:
            here = table + _parts(setting[1])
        else:
            continue
        if place[: len(here)] == here and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def to_plain(model: BaseModel) -> dict[str, Any]:
    """The settings as plain JSON types, for `--json` and the log: without passwords, wherever they stand."""
    plain: dict[str, Any] = without_secrets(model.model_dump(mode="json"))
    return plain
