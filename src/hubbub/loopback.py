"""Which addresses mean this machine itself: what travels nowhere else may travel in the clear."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Does this name mean the machine itself, and nothing else?

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None)  # how a socket for both kinds names a peer of the older one
    return (inner or address).is_loopback
