"""Addresses and settings without what opens doors, for the owner's terminal and log."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"

_SAFE = {
    "application_name", "connect_timeout", "gssencmode", "keepalives", "mode", "sslmode", "target_session_attrs", "uri",
}  # fmt: skip
"""What an address may ask for without telling a secret. The value of every other parameter is masked."""

# Who logs in, and with what: all up to the last @ of the line, since a password may hold nearly any sign.
_LOGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*://)[^\n]*@")
_PARAMETER = re.compile(r"([?&])([^=&\s]*)=([^&\s]*)")
_PARAMETER_OF_ADDRESS = re.compile(r"([?&])([^=&]*)=([^&]*)")
# libpq's other way of writing an address, and what drivers say of it: host=… password='…'.
_KEYWORD = re.compile(
    r"(?i)\b((?:ssl)?pass(?:word|wd|file|phrase)?|pwd|secret|token|credentials?|jwt|nkey|api[_-]?key)(\s*=\s*)"
    r"('(?:[^'\\\n]|\\.)*'?|\"(?:[^\"\\\n]|\\.)*\"?|[^\s&]+)"
)


def masked(text: str) -> str:
    """`text` with every login, password and unknown parameter of an address replaced.

    It would rather hide too much than too little: these words are for whoever knows the address anyway.

    >>> masked("The store postgresql://ann:s3cret@db.example/site does not answer.")
    'The store postgresql://***@db.example/site does not answer.'
    >>> masked("postgresql:///site?host=db.example&password=s3cret&sslmode=require")
    'postgresql:///site?host=***&password=***&sslmode=require'
    >>> masked("host=db.example password='my s3cret' dbname=site")
    'host=db.example password=*** dbname=site'
    """
    return _masked(text, _PARAMETER)


def _masked(text: str, parameter: re.Pattern[str]) -> str:
    text = _LOGIN.sub(rf"\1{MASK}@", text)
    if "://" in text:
        text = parameter.sub(_without_value, text)
    return _KEYWORD.sub(rf"\1\2{MASK}", text)


def without_secrets(facts: Any) -> Any:
    """Plain JSON types with every text masked, wherever it stands: what is printed of settings goes through here.

    >>> without_secrets({"servers": ["nats://t0ken@127.0.0.1:4222"], "tick": 10})
    {'servers': ['nats://***@127.0.0.1:4222'], 'tick': 10}
    """
    if isinstance(facts, str):
        # A whole setting: no sentence goes on behind an address, so a value ends with its parameter.
        return _masked(facts, _PARAMETER_OF_ADDRESS)
    if isinstance(facts, dict):
        return {name: without_secrets(value) for name, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [without_secrets(value) for value in facts]
    return facts


def _without_value(match: re.Match[str]) -> str:
    return match[0] if match[2].lower() in _SAFE else f"{match[1]}{match[2]}={MASK}"
