"""The options by which commands are told what is protected, and how strongly: the same words everywhere.

Counts that come ready-made are taken to be about people over the whole series (`user`), unless another unit is named:
that promise needs no bound that somebody must have enforced, beyond one key per tick. A live stream has no end that a
person's budget could last for; there, and in audits of such mechanisms, the unit is the session.
"""

from __future__ import annotations

from typing import Annotated

import typer

UnitName = Annotated[str, typer.Option("--unit", help="What is protected: event, session, trip, user or window.")]
MaxTicks = Annotated[
    int | None, typer.Option("--max-ticks", help="In how many ticks one unit counts at most (a window's width).")
]
MaxItems = Annotated[int, typer.Option("--max-items", help="Under how many keys one unit counts at most in a tick.")]
Horizon = Annotated[
    int | None,
    typer.Option("--horizon", help="For a user: over how many ticks the budget must last; left out, this series."),
]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", help="The privacy budget of one unit over the whole series, e.g. 1 or 1/10.")
]
Delta = Annotated[
    str | None, typer.Option("--delta", help="Promise epsilon with this delta (Gaussian noise), e.g. 1e-9.")
]
Rho = Annotated[
    str | None, typer.Option("--rho", help="Promise zCDP with this rho (Gaussian noise) instead of an epsilon.")
]
