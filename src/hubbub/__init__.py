"""Live statistics about people, with a privacy guarantee that can be proved.

    import hubbub as hb

Everything a user needs hangs on `hb`, and is loaded when it is first asked for: `import hubbub` alone loads nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hubbub import errors
from hubbub.version import __version__

if TYPE_CHECKING:
    from hubbub.errors import *  # noqa: F403
    from hubbub.checks.statistical import audit as audit
    from hubbub.contexts import (
        Adversary as Adversary,
        ContextChain as ContextChain,
        Hybrid as Hybrid,
        Secret as Secret,
    )
    from hubbub.itemlogs import (
        ItemPlan as ItemPlan,
        Published as Published,
        plan_items as plan_items,
        publish_items as publish_items,
        read_published as read_published,
    )
    from hubbub.monitor import Lists as Lists
    from hubbub.monitor import Monitor as Monitor
    from hubbub.planning import Plan as Plan, plan as plan
    from hubbub.privacy import (
        BeliefBound as BeliefBound,
        Event as Event,
        Grant as Grant,
        Guarantee as Guarantee,
        Session as Session,
        Trip as Trip,
        User as User,
        Window as Window,
    )
    from hubbub.privacy.risk import risk as risk
    from hubbub.ranges import Ranges as Ranges
    from hubbub.released import (
        Discovered as Discovered,
        Grid as Grid,
        Hierarchy as Hierarchy,
        Keys as Keys,
        Release as Release,
        Tick as Tick,
        Value as Value,
    )
    from hubbub.series import (
        Alerts as Alerts,
        CountSeries as CountSeries,
        ReleasedSeries as ReleasedSeries,
        detect as detect,
        read_series as read_series,
        release_series as release_series,
    )
    from hubbub.store import Store as Store

_PLACES = {
    "Adversary": "hubbub.contexts",
    "Alerts": "hubbub.series",
    "BeliefBound": "hubbub.privacy",
    "ContextChain": "hubbub.contexts",
    "CountSeries": "hubbub.series",
    "Discovered": "hubbub.released",
    "Event": "hubbub.privacy",
    "Grant": "hubbub.privacy",
    "Grid": "hubbub.released",
    "Guarantee": "hubbub.privacy",
    "Hierarchy": "hubbub.released",
    "Hybrid": "hubbub.contexts",
    "ItemPlan": "hubbub.itemlogs",
    "Keys": "hubbub.released",
    "Lists": "hubbub.monitor",
    "Monitor": "hubbub.monitor",
    "Plan": "hubbub.planning",
    "Published": "hubbub.itemlogs",
    "Ranges": "hubbub.ranges",
    "Release": "hubbub.released",
    "ReleasedSeries": "hubbub.series",
    "Secret": "hubbub.contexts",
    "Session": "hubbub.privacy",
    "Trip": "hubbub.privacy",
    "Store": "hubbub.store",
    "Tick": "hubbub.released",
    "User": "hubbub.privacy",
    "Value": "hubbub.released",
    "Window": "hubbub.privacy",
    "audit": "hubbub.checks.statistical",
    "detect": "hubbub.series",
    "plan": "hubbub.planning",
    "plan_items": "hubbub.itemlogs",
    "publish_items": "hubbub.itemlogs",
    "read_published": "hubbub.itemlogs",
    "read_series": "hubbub.series",
    "release_series": "hubbub.series",
    "risk": "hubbub.privacy.risk",
    **dict.fromkeys(errors.__all__, "hubbub.errors"),
}
"""Where each name lives. A test holds it against the imports above, which are what type checkers and editors read."""

__all__ = [*sorted(_PLACES), "__version__", "errors"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    except ModuleNotFoundError as error:
        from hubbub.extras import missing

        raise missing(error) or error from None
    globals()[name] = value  # asked for once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
