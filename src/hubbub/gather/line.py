"""HTTP to one server, by the standard library alone: over TLS, or in the clear on this machine."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from hubbub import errors
from hubbub.errors import GatherUnavailable, HubbubError, InvalidInput, InvalidParameter
from hubbub.loopback import is_loopback

LARGEST_ANSWER = 1 << 26
SECONDS = 60.0
BINARY = "application/octet-stream"
_KNOWN: dict[str, type[HubbubError]] = {
    kind("").code: kind
    for kind in (
        errors.InvalidInput,
        errors.QueryClosed,
        errors.QueryMismatch,
        errors.ReportRejected,
        errors.ReportReplayed,
        errors.TicketRefused,
        errors.TooFewReports,
    )
}
"""Refusals that a server tells by their code, and that are raised here as what they were there."""


class Line:
    """One connection, kept open between requests; for one thread. `authority` is a file of certificates to trust.

    Whatever keeps an answer from coming, or says that it may come later, is `GatherUnavailable`: send again, the same.
    """

    def __init__(self, address: str, *, authority: Path | None = None, seconds: float = SECONDS) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise InvalidParameter(f"{address!r} is no address of a server.", "https://name:port is one.")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise InvalidParameter(
                f"{address} is not on this machine: in the clear, whoever carries the message sees who answers.",
                "Give an https address.",
            )
        self.address = address.rstrip("/")
        self._host, self._port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._seconds = seconds
        self._context: ssl.SSLContext | None = None
        if parts.scheme == "https":
            try:
                self._context = ssl.create_default_context(cafile=None if authority is None else str(authority))
            except (OSError, ssl.SSLError):
                raise InvalidInput(f"{authority} holds no certificates that can be read.", "Give a PEM file.") from None
        self._open: http.client.HTTPConnection | None = None

    def get(self, path: str) -> bytes:
        return self._request("GET", path, None, {})[0]

    def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> tuple[bytes, Mapping[str, str]]:
        """The answer's body, and its headers in small letters."""
        return self._request("POST", path, body, {"content-type": BINARY, **(headers or {})})

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[bytes, Mapping[str, str]]:
        kept = self._open is not None
        try:
            status, data, told = self._once(method, path, body, headers)
        except ssl.SSLCertVerificationError as error:  # waiting does not mend it
            self.close()
            raise InvalidInput(
                f"{self.address} shows a certificate that is not trusted here: {error.verify_message}.",
                "Is it the right server? With certificates of your own, give their authority (--authority).",
            ) from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            # A connection that was kept may have been closed by the other side meanwhile: that says nothing.
            if kept and not isinstance(error, TimeoutError):
                return self._request(method, path, body, headers)
            why = type(error).__name__
            raise GatherUnavailable(f"{self.address} does not answer ({why}).", "Send again later.") from None
        if status == 200:
            return data, told
        raise self._refusal(status, data)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, Mapping[str, str]]:
        if self._open is None:
            if self._context is None:
                self._open = http.client.HTTPConnection(self._host, self._port, timeout=self._seconds)
            else:
                self._open = http.client.HTTPSConnection(
                    self._host, self._port, timeout=self._seconds, context=self._context
                )
        self._open.request(method, path, body, dict(headers))
        answer = self._open.getresponse()
        data = answer.read(LARGEST_ANSWER + 1)
        if len(data) > LARGEST_ANSWER:
            raise http.client.HTTPException
        return answer.status, data, {name.lower(): value for name, value in answer.getheaders()}

    def _refusal(self, status: int, data: bytes) -> HubbubError:
        try:
            told = json.loads(data)["error"]
            code, words = str(told["code"]), (str(told["message"])[:500], str(told["hint"])[:500])
        except (KeyError, TypeError, ValueError):
            code, words = "", ("", "")
        if code in _KNOWN:
            return _KNOWN[code](*words)
        if status in (429, 503) or status >= 500 or not code:
            return GatherUnavailable(f"{self.address} cannot answer now ({code or status}).", "Send again later.")
        return InvalidInput(f"{self.address} refuses ({code}): {words[0]}", words[1])
