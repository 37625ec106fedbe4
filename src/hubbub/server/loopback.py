"""The Lab is for this machine: it holds series that nobody else may see."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub.errors import InvalidParameter
from hubbub.loopback import is_loopback

_PASSED_ON = (
    "cdn-loop", "cf-connecting-ip", "client-ip", "fastly-client-ip", "forwarded", "true-client-ip", "via",
    "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address", "x-forwarded", "x-original-forwarded-for",
    "x-original-host", "x-originating-ip", "x-proxyuser-ip", "x-real-ip", "x-remote-addr", "x-remote-ip",
)  # fmt: skip
"""What proxies write into a request that they hand on, in small letters; `x-forwarded-…` besides."""


def host_of(header: str) -> str:
    """The name in a `Host` header, without the port.

    >>> host_of("127.0.0.1:8080"), host_of("[::1]:80"), host_of("localhost")
    ('127.0.0.1', '::1', 'localhost')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def is_passed_on(headers: Iterable[str]) -> bool:
    """Whether one of these names of headers says that a proxy handed the request on: whoever asked is elsewhere.

    >>> is_passed_on(["host", "X-Forwarded-For"]), is_passed_on(["host", "accept"])
    (True, False)
    """
    return any(name in _PASSED_ON or name.startswith("x-forwarded-") for name in map(str.lower, headers))


def require_loopback(host: str) -> None:
    """Refuse to open the Lab to a network."""
    if not is_loopback(host):
        raise InvalidParameter(
            f"The Lab holds confidential data, so it is not served on {host}, which other machines can reach.",
            "Use --host 127.0.0.1; or, if you are sure that only the right people can reach it, add --lab-anywhere.",
        )
