"""What a mechanism is like, so that nobody has to look at its class to find out."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.errors import InvalidParameter
from hubbub.privacy import Guarantee
from hubbub.released import Cost


@dataclass(frozen=True, slots=True)
class Traits:
    """Declared once by every mechanism, as its class variable `traits`.

    | trait | meaning |
    |---|---|
    | `even_cost` | every measured tick costs the same, whatever was seen before |
    | `online` | it releases tick by tick; otherwise it needs the whole series at once |
    | `guarantees` | the kinds of promise that it can give |
    | `needs_horizon` | the unit must say how many ticks there will be |
    | `independent_keys` | the noise of one key tells nothing about the noise of another |
    | `independent_ticks` | the noise of one tick tells nothing about the noise of another |
    | `exact_intervals` | its intervals follow from the noise alone; otherwise they hold as far as its model does |
    | `plain` | it measures counts plus noise and nothing else, so a measurement from elsewhere will do |
    | `slips` | it has a threshold, and charges a delta for what may slip through it |
    | `finds_keys` | nobody lists its keys: each release has those that it found, which are then those of the stream |

    >>> Traits(guarantees=("pure",)).sentences
    ('promises pure', 'every tick costs the same', 'intervals rest on a model', 'can go on with other keys', ...)
    """

    even_cost: bool = True
    online: bool = True
    guarantees: tuple[str, ...] = ("pure", "zcdp", "approximate")
    needs_horizon: bool = False
    independent_keys: bool = True
    independent_ticks: bool = True
    plain: bool = True
    slips: bool = False
    exact_intervals: bool = False
    finds_keys: bool = False

    def expect(self, name: str, guarantee: Guarantee) -> None:
        """Refuse a promise that the mechanism `name` cannot give."""
        if guarantee.kind not in self.guarantees:
            raise InvalidParameter(
                f"`{name}` cannot promise {guarantee.kind}; it can promise {', '.join(self.guarantees)}.",
                "Use another kind of guarantee, or another method.",
            )
        if self.needs_horizon and guarantee.unit.horizon is None:
            raise InvalidParameter(
                f"`{name}` must know how many ticks there will be, and {guarantee.unit.one} has no horizon.",
                "Use a unit with a horizon: User(horizon=…).",
            )

        if self.slips and not guarantee.slips:
            raise InvalidParameter(
                f"`{name}` has a threshold, through which something may slip, and the promise ({guarantee.short}) has "
                "nothing set aside for that.",
                "Make a promise with a delta for slips: Guarantee.zcdp(…, delta=…) or "
                "Guarantee.approximate(…, aside=…). Of a grant draw some: grant.part(share, slips=…).",
            )

    def expect_declared(self, name: str, cost: Cost) -> None:
        """Refuse a delta that the mechanism `name` does not declare."""
        if not self.slips and cost.slips:
            raise InvalidParameter(
                f"`{name}` would charge {cost!r}, and does not declare that something may slip.",
                "Whoever wrote it must declare it, so that all can know: traits = Traits(slips=True).",
            )

    @property
    def changes_domain(self) -> bool:
        """Whether it can go on with other keys: what it draws and pays next must not rest on what it did before."""
        return self.online and self.even_cost and self.independent_ticks

    @property
    def sentences(self) -> tuple[str, ...]:
        """The traits in a few words each, for documents."""
        said = [f"promises {', '.join(self.guarantees)}"]
        said.append("every tick costs the same" if self.even_cost else "ticks cost differently")
        if not self.online:
            said.append("needs the whole series at once")
        if self.needs_horizon:
            said.append("needs a horizon")
        if not self.independent_keys:
            said.append("errors of different keys go together")
        if not self.independent_ticks:
            said.append("errors of different ticks go together")
        if self.slips:
            said.append("has a threshold, and needs a promise with slips")
        if self.finds_keys:
            said.append("finds its keys")
        said.append(f"intervals {'follow from the noise alone' if self.exact_intervals else 'rest on a model'}")
        if self.changes_domain:
            said.append("can go on with other keys")
        said.append("takes measurements from elsewhere" if self.plain else "takes no measurements from elsewhere")
        return tuple(said)
