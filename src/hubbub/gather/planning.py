"""Making a plan: the query with its noise, the servers' keys, the times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.gather.homomorphic import HomomorphicScheme
from hubbub.gather.homomorphic import keys as homomorphic_keys
from hubbub.gather.plan import Plan
from hubbub.gather.prio3 import Circuit
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.gather.query import Query
from hubbub.gather.server_keys import PublicKeys, ServerKeys


def planned(
    name: str,
    circuit: Circuit[Any, Any],
    *,
    opens: datetime,
    every: timedelta,
    ticks: int = 1,
    grace: timedelta = timedelta(days=1),
    labels: Sequence[str] = (),
    scheme: str = Prio3Scheme.name,
    issuer: Sequence[str] = (),
    leader_keys: str | None = None,
    helper_keys: str | None = None,
    **asked: Any,
) -> tuple[Plan, dict[str, ServerKeys]]:
    """A plan, and the keys that were made for it: of `leader` and `helper`, or of one if the other's were given."""
    made = {
        who: ServerKeys.make() for who, given in (("leader", leader_keys), ("helper", helper_keys)) if given is None
    }
    if not made:
        raise InvalidParameter(
            "A plan is made by one of its servers: give the other's public keys alone.", "Leave one of them out."
        )
    publics = [
        made[who].public if given is None else PublicKeys.of(given)
        for who, given in (("leader", leader_keys), ("helper", helper_keys))
    ]
    shared = None
    if scheme == Prio3Scheme.name:
        ours = made.get("leader") or made["helper"]
        shared = ours.shared_with(publics[1] if "leader" in made else publics[0], "verify")
    query = Query.plan(name, circuit, verify_key=shared, **asked)
    public = b""
    if scheme == HomomorphicScheme.name:
        if "helper" not in made:
            raise InvalidParameter(
                "Under the homomorphic scheme the second server makes keys for this very query.",
                "Plan where the key server is, with --leader-keys.",
            )
        public, secret = homomorphic_keys(query)
        made["helper"] = replace(made["helper"], secret=secret)
    names = tuple(labels) or tuple(str(at) for at in range(circuit.output_length))
    plan = Plan(query, scheme, (publics[0], publics[1]), opens, every, ticks, grace, names, public, tuple(issuer))
    if scheme == Prio3Scheme.name:
        Prio3Scheme(plan.query_of(ticks - 1))  # sums that might not fit are refused here
    return plan, made
