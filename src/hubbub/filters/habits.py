"""How the adaptive filter adapts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Habits:
    """Settings of `adaptive`. The defaults were chosen on shapes of many kinds (docs/estimation.md).

    | setting | meaning |
    |---|---|
    | `adaptive` | False: believe the model, whatever is measured |
    | `premium` | what false alarms may cost, as a part of the error in calm times (see `adaptive`) |
    | `memory` | what is left of an unexplained inflow one tick later |
    | `calm`, `following` | by how much unexplained inflow moves a tick, as a part of the level |
    | `stay`, `again` | the chance that a following key is still followed, or meets a new onset |
    | `reach` | an onset is looked for with at least this width, in noise scales |
    | `churn` | process variance over level, where no model says it |
    | `least_variance` | a page that training never saw is still visited now and then |
    | `scale_drift`, `scale_memory` | by how much the site's scale moves a tick, and what is left of it a tick later |
    | `watched`, `reason` | with more keys than `watched`, hypotheses of less weight than `reason` are dropped |
    | `wary` | by how much, in noise scales, a count may change each tick without anybody noticing |
    | `leash` | in noise scales: a change of more than this is noticed, and so no interval need allow for it |
    """

    adaptive: bool = True
    premium: float = 0.04
    memory: float = 1.0
    calm: float = 0.002
    following: float = 0.1
    stay: float = 0.9
    again: float = 0.02
    reach: float = 2.0
    churn: float = 0.0
    least_variance: float = 0.05
    scale_drift: float = 0.003
    scale_memory: float = 0.995
    watched: int = 2048
    reason: float = 0.05
    wary: float = 0.2
    leash: float = 2.0
