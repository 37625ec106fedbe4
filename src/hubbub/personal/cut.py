"""Which node stands for each context when something is asked of a server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter, TooFine
from hubbub.exact import Exact, exact
from hubbub.files import write_file
from hubbub.personal.hierarchy import ContextHierarchy, hierarchy_from
from hubbub.personal.node import Node
from hubbub.personal.prior import Prior
from hubbub.personal.sensitive import Sensitive, Within, as_sensitive

FORMAT = "hubbub-personal-plan"
VERSION = 2
"""Since 2 a plan names the digest of its hierarchy, and a client refuses answers of a server that has another."""

NOT_COVERED = (
    "Somebody who expects other contexts of you than the prior does: belief starts elsewhere and may rise by more.",
    "Contexts that follow one another: how fast you can move, and your habits. `hubbub.contexts` is for those.",
    "Another cut, or another hierarchy, for the same person: what both tell together may be finer than either.",
    "Attributes that hang together, unless the prior says so: what you search for may tell where you are.",
    "Which contexts are sensitive to you: the cut is coarser around them, and it is taken to be known.",
    "What is told elsewhere: your network address, when you ask, which result you click.",
)


class Cut:
    """One node for every context: what a client sends instead of the context itself.

    **Guarantee.** What is protected: for each `Sensitive` thing, that a person is in one of its contexts. Whoever
    holds the prior (all contexts equally likely, unless another one is given), knows the hierarchy and this cut, and
    sees what is sent, however often, while the context stays the same: with at least `leaves` contexts for each
    sensitive one under every node, the belief is afterwards at most 1/leaves, a rise of at most 1/leaves minus what it
    was; with `rise` it is the rise itself that is bounded. What the caller must have enforced: the same cut for
    everything that a person sends (`Client` does). Not covered: `not_covered`. Reference: Goetz 2012, Theorem 2, with
    corrections (docs/errata.md). Proof: docs/proofs/personal.md (proved).

    >>> from hubbub.personal.categories import Categories
    >>> town = Categories.of_grid(8, 8)
    >>> cut = Cut.plan(town, ["3,2"], leaves=10)
    >>> cut.generalise("3,2").name, cut.generalise("7,7").name
    ('0,0 x4', '7,7')
    >>> cut.belief(Sensitive("3,2"), cut.generalise("3,2"))
    (Fraction(1, 64), Fraction(1, 16))
    """

    def __init__(
        self,
        hierarchy: ContextHierarchy,
        stops: Sequence[str] = (),
        *,
        finest: int | None = None,
        sensitive: Sequence[Sensitive] = (),
        bounds: Sequence[Fraction] = (),
        prior: Prior | None = None,
    ) -> None:
        self.hierarchy, self.finest = hierarchy, finest
        self.stops = frozenset(hierarchy.named(name).name for name in stops)
        self.sensitive, self.bounds = tuple(sensitive), tuple(bounds)
        self.prior = Prior(hierarchy) if prior is None else prior

    @classmethod
    def plan(
        cls,
        hierarchy: ContextHierarchy,
        sensitive: Sequence[Sensitive | str | Mapping[str, str]],
        *,
        leaves: int | None = None,
        rise: Exact | None = None,
        prior: Prior | None = None,
        finest: int | None = None,
    ) -> Cut:
        """The finest cut that protects all sensitive things.

        `leaves`: at least so many contexts for each sensitive one under every node (Goetz 2012, Theorem 2). `rise`: by
        at most so much may belief rise, for who holds `prior`. Both may be given. `finest`: no node below this depth,
        whatever is sensitive; the top has 0.
        """
        if leaves is None and rise is None:
            raise InvalidParameter("A cut needs `leaves`, or `rise`.", "leaves=10 lets nobody be surer than 1 in 10.")
        if leaves is not None and (isinstance(leaves, bool) or not isinstance(leaves, int) or leaves < 1):
            raise InvalidParameter(f"`leaves` is a whole number from 1 on; got {leaves!r}.")
        if finest is not None and (isinstance(finest, bool) or not isinstance(finest, int) or finest < 0):
            raise InvalidParameter(f"`finest` is a depth from 0 on; got {finest!r}.", "0 is the top: nothing is told.")
        most = None if rise is None else exact(rise, "rise")
        if most is not None and not 0 <= most <= 1:
            raise InvalidParameter(f"`rise` must lie between 0 and 1; got {rise}.", "0.1 is ten points of a hundred.")
        things = as_sensitive(sensitive)
        belief = Prior(hierarchy) if prior is None else prior
        if belief.hierarchy != hierarchy:
            raise InvalidParameter("The prior is about another hierarchy.", "Make it with this one.")
        withins = [thing.within(hierarchy) for thing in things]
        befores = [belief.of_sensitive(within) for within in withins]
        limits = [None if most is None else before + most for before in befores]

        def safe(node: Node) -> bool:
            return all(
                _enough(within, node, leaves) and _unsure(belief, within, node, limit)
                for within, limit in zip(withins, limits, strict=True)
            )

        if not safe(hierarchy.root):
            raise _unmet(hierarchy, withins, leaves)
        stops = _stops(hierarchy, withins, safe, finest)
        uniform = belief.is_uniform
        bounds = [
            min(
                Fraction(1) if leaves is None or not uniform else Fraction(1, leaves),
                Fraction(1) if limit is None else min(Fraction(1), limit),
            )
            for limit in limits
        ]
        return cls(hierarchy, stops, finest=finest, sensitive=things, bounds=bounds, prior=belief)

    def generalise(self, context: Any) -> Node:
        """The node that stands for a context."""
        return self._chosen(self.hierarchy.path(context))

    def node_of(self, leaf: int) -> Node:
        """The same by the context's number."""
        return self._chosen(self.hierarchy.way(leaf))

    def _chosen(self, path: Sequence[Node]) -> Node:
        for node in path:
            if node.name in self.stops or node.depth == self.finest:
                return node
        return path[-1]

    def check(self, name: str) -> Node:
        """The node of that name, or one that it lies in is on the cut; `TooFine` where it would tell more.

        >>> from hubbub.personal.categories import Categories
        >>> Cut.plan(Categories.of_grid(8, 8), ["3,2"], leaves=10).check("2,2 x2")
        Traceback (most recent call last):
        ...
        hubbub.errors.TooFine: This request would tell more than the cut allows. Send what `generalise` returns.
        """
        node = self.hierarchy.named(name)
        chosen = self.node_of(node.first)
        if node.depth > chosen.depth:
            raise TooFine("This request would tell more than the cut allows.", "Send what `generalise` returns.")
        return node

    def belief(self, sensitive: Sensitive, seen: Node) -> tuple[Fraction, Fraction]:
        """How much somebody believes in a sensitive thing, before and after having seen a node."""
        within = sensitive.within(self.hierarchy)
        mass = self.prior.mass(seen)
        if not mass:
            raise InvalidParameter("By the prior nobody can be there.", "Leave `unseen` above 0.")
        return self.prior.of_sensitive(within), self.prior.mass_within(within, seen) / mass

    @cached_property
    def words(self) -> str:
        """The promise in sentences."""
        who = "holds all contexts for equally likely" if self.prior.is_uniform else "holds the given prior"
        lines = []
        for thing, bound in zip(self.sensitive, self.bounds, strict=True):
            before = self.prior.of_sensitive(thing.within(self.hierarchy))
            up = max(Fraction(0), bound - before)
            lines.append(f"{thing}: at most {_points(bound)} afterwards, {_points(up)} more than before")
        if not lines:
            return "Nothing is called sensitive, so nothing is promised."
        return (
            f"Whoever {who}, knows this cut and sees what is sent while you stay where you are, believes of each of "
            f"these, in points of a hundred: {'; '.join(lines)}."
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return NOT_COVERED

    # ── the plan that a client carries ───────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Any]:
        """The plan as a text inside, so that its digest is of the very bytes that are read."""
        plan = {"hierarchy": self.hierarchy.to_dict(), "finest": self.finest, "stops": sorted(self.stops)}
        text = json.dumps({**plan, "tree": self.hierarchy.digest, "promise": self.words}, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"format": FORMAT, "version": VERSION, "digest": digest, "plan": text}

    def to_bytes(self) -> bytes:
        return (json.dumps(self.to_dict(), ensure_ascii=False) + "\n").encode()

    def save(self, path: str | Path) -> None:
        """Write what a client needs. It shows where things are sensitive to a person: it belongs to that person."""
        write_file(Path(path), self.to_bytes(), 0o600)

    @classmethod
    def load(cls, path: str | Path) -> Cut:
        """A saved plan, without what was called sensitive: it can generalise, and promises nothing by itself."""
        try:
            file = json.loads(Path(path).read_text(encoding="utf-8"))
            if file["format"] != FORMAT or file["version"] != VERSION:
                raise KeyError
            if hashlib.sha256(file["plan"].encode()).hexdigest() != file["digest"]:
                raise KeyError
            facts = json.loads(file["plan"])
            hierarchy = hierarchy_from(facts["hierarchy"])
            if facts["tree"] != hierarchy.digest:
                raise KeyError
            return cls(hierarchy, facts["stops"], finest=facts["finest"])
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a plan.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InvalidInput(
                f"{path} is not a whole plan of version {VERSION}.", "Write it with `hubbub select plan` or `cut.save`."
            ) from None

    def __repr__(self) -> str:
        return f"Cut({self.hierarchy!r}, {len(self.stops)} coarser nodes)"


def _stops(
    hierarchy: ContextHierarchy, withins: Sequence[Within], safe: Callable[[Node], bool], finest: int | None
) -> list[str]:
    """Nodes that cannot be divided further. A node with an unsafe child must stay whole: whatever a part of it is
    divided into, some part of it is as unsafe."""
    stops, waiting = [], [hierarchy.root]
    while waiting:
        node = waiting.pop()
        if node.depth == finest or hierarchy.is_context(node):
            continue
        touched = [child for child in hierarchy.children(node) if any(within.inside(child) for within in withins)]
        if all(safe(child) for child in touched):
            waiting.extend(touched)
        else:
            stops.append(node.name)
    return stops


def _enough(within: Within, node: Node, leaves: int | None) -> bool:
    return leaves is None or within.inside(node) * leaves <= node.leaves


def _unsure(prior: Prior, within: Within, node: Node, limit: Fraction | None) -> bool:
    if limit is None or limit >= 1:
        return True
    mass = prior.mass(node)
    if not mass:  # who goes where nobody was expected is seen there: no prior bounds what that tells
        return not within.inside(node)
    return prior.mass_within(within, node) <= limit * mass


def _unmet(hierarchy: ContextHierarchy, withins: Sequence[Within], leaves: int | None) -> InvalidParameter:
    most = min(hierarchy.contexts // within.inside(hierarchy.root) for within in withins)
    wanted = leaves if leaves is None or leaves <= 2**53 else "more than 2^53"
    return InvalidParameter(
        f"No cut has {wanted} contexts for each sensitive one: there are {hierarchy.contexts:,} in all.",
        f"Use leaves={most} or fewer, or call fewer contexts sensitive.",
    )


def _points(part: Fraction) -> str:
    # Rounded up: a promise never says less than it is.
    tenths = -(-1000 * part.numerator // part.denominator)
    return f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
