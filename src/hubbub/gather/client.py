"""A client: one answer becomes one sealed report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hubbub.errors import BudgetExceeded, InvalidInput, InvalidParameter, QueryMismatch
from hubbub.exact import Exact, positive
from hubbub.gather.homomorphic import HomomorphicScheme
from hubbub.gather.messages import Announcement, SealedReport
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.gather.scheme import FIRST, SECOND, Scheme
from hubbub.gather.sealing import seal
from hubbub.privacy.guarantee import WEAKEST_EPSILON
from hubbub.privacy.rounding import at_most


class Client:
    """Makes reports for one query. It remembers nothing: that it answers once is its owner's to see to.

    Guarantee
        Protected: the answer, from everybody but both servers together; from each server as the query's promise says.
        Proof: docs/proofs/gather.md, sections 1 to 3.

    >>> from hubbub.gather import Prio3Scheme, Query, SealKey
    >>> from hubbub.gather.prio3 import Count
    >>> query = Query.plan("yes", Count(), clients=100, minimum=10, epsilon=1)
    >>> client = Client(Prio3Scheme(query), [SealKey.make().public, SealKey.make().public])
    >>> len(client.report(1).encode())
    237
    """

    def __init__(self, scheme: Scheme, servers: Sequence[bytes]) -> None:
        if len(servers) != 2 or servers[FIRST] == servers[SECOND]:
            raise InvalidParameter(
                "A report has two parts, for two servers with a key each.", "One server alone would see the answer."
            )
        self.scheme = scheme
        self._servers = tuple(servers)

    @classmethod
    def of(cls, announcement: Announcement, epsilon: Exact = WEAKEST_EPSILON) -> Client:
        """A client for what servers have announced, if that promises an epsilon of at most `epsilon`.

        That its noise covers what this circuit lets a client change was checked when the query was read.
        """
        query = announcement.query
        if query.noise.strength > positive(epsilon, "epsilon"):
            raise BudgetExceeded(
                f"{query.name!r} promises an epsilon of {at_most(query.noise.strength)}; this client answers up to "
                f"{epsilon}.",
                "Do not answer, or allow more.",
            )
        scheme: Scheme
        if announcement.scheme == Prio3Scheme.name:
            if not query.key_digest:
                raise QueryMismatch(
                    "The servers are not bound to a key of theirs: they could choose one that tells them more.",
                    "Do not answer. Query.plan takes the key that both servers have.",
                )
            scheme = Prio3Scheme(query)
        elif announcement.scheme == HomomorphicScheme.name:
            scheme = HomomorphicScheme(query, public=announcement.public)
        else:
            raise InvalidInput(f"This client knows no scheme {announcement.scheme!r}.", "Update it.")
        return cls(scheme, announcement.servers)

    def report(self, answer: Any) -> SealedReport:
        """Sealed for both servers, to be sent to the first."""
        query = self.scheme.query.digest
        parts = self.scheme.encode(answer)
        nonce = parts[FIRST].nonce
        sealed = [seal(self._servers[k], parts[k].body, k, query, nonce) for k in (FIRST, SECOND)]
        return SealedReport(query, nonce, *sealed)
