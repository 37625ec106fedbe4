"""The Lab is for this machine: it holds series that nobody else may see."""

from __future__ import annotations

import ipaddress

from hubbub.errors import InvalidParameter


def is_loopback(host: str) -> bool:
    """Does this name mean the machine itself, and nothing else?

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The name in a `Host` header, without the port.

    >>> host_of("127.0.0.1:8080"), host_of("[::1]:80"), host_of("localhost")
    ('127.0.0.1', '::1', 'localhost')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def require_loopback(host: str) -> None:
    """Refuse to open the Lab to a network."""
    if not is_loopback(host):
        raise InvalidParameter(
            f"The Lab holds confidential data, so it is not served on {host}, which other machines can reach.",
            "Use --host 127.0.0.1; or, if you are sure that only the right people can reach it, add --lab-anywhere.",
        )
