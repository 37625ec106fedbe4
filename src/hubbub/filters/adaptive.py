"""A filter that trusts its model until the measurements say otherwise, key by key.

Three hypotheses a key, after the interacting multiple models of Blom & Bar-Shalom 1988:

| hypothesis | says |
|---|---|
| calm | the model is right; unexplained inflow changes by a hair a tick |
| onset | at this tick something happened: level and inflow may have jumped, by however much |
| following | something happened a while ago; inflow is being learned afresh |

They are weighed by the likelihood of the noisy values, under the noise as it is. Two things differ from the textbook.
First, how probable an onset is beforehand is not a setting but a price: following a false alarm costs about the scale
of the noise, so the chance is taken as `premium` times the filter's own error over that scale, and false alarms cost
about the same small part of the error on every key, at every epsilon. Second, hypotheses of little weight are not
blended into the calm one: a blend would let every unlikely story leak into the estimate at each tick.

Besides, one number for the whole site (`scale`) says how far arrivals everywhere are above what the model expects. Its
error is carried along as one shared direction through all keys (`response`; Friedland 1969), so that a million keys,
each too small to tell, can tell together.

What none of this notices, because the noise hides it, is left to `hubbub.filters.wary`: it widens the interval that is
told, and moves no estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hubbub.filters import wary
from hubbub.filters.belief import Belief, believe
from hubbub.filters.diagonal import Links
from hubbub.filters.habits import Habits
from hubbub.filters.noises import Noise
from hubbub.filters.track import Track
from hubbub.filters.wary import Wary

Array = NDArray[np.float64]
_LEAST, _MOST = 1e-7, 0.02
_TINY = 1e-12
_SHARPNESS, _GATE = 3, 5
_TRUST = np.array([[1.0], [0.05], [1.0]])
"""An onset rests on one measurement, and the noise alone makes such a one now and then: it is believed in full once a
second one bears it out (it is then called following), or when it is overwhelming."""


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveState:
    """What the filter believes. `where` lists the keys under suspicion; row 0 of `others` is their onset track and
    row 1 their following track, while every key has its `calm` track. `weights` has one row a hypothesis.

    `level` and `variance` are what the hypotheses amount to, for every key, apart from the error of the site's scale.
    """

    calm: Track
    where: NDArray[np.intp]
    weights: Array
    others: Track
    level: Array
    variance: Array
    chance: Array
    response: Array
    scale: float
    scale_variance: float
    wary: Wary


def begin(
    level: Array, variance: Array, drift_variance: Array, scale_variance: float, habits: Habits, arriving: float = 0.0
) -> AdaptiveState:
    """The belief before anything was measured. With `arriving`, that part of each count is what arrives in a tick, so
    that whoever learns the one learns the other."""
    size = len(level)
    calm = Track.still(level, np.maximum(variance, habits.least_variance), drift_variance)
    if arriving:
        calm = replace(calm, drift=arriving * level, covariance=arriving * calm.level_variance)
    where = np.arange(size if habits.adaptive and size <= habits.watched else 0)
    weights = np.full((3, len(where)), _TINY)
    weights[0] = 1.0
    watched = calm.at(where)
    return AdaptiveState(
        calm, where, weights, watched.stacked(watched), calm.level, calm.level_variance, np.full(size, _LEAST),
        level.copy(), 1.0, scale_variance, Wary(calm.level, calm.level_variance),
    )  # fmt: skip


def predict(
    state: AdaptiveState,
    links: Links,
    arrivals: Array,
    noise_scale: float,
    habits: Habits,
    extra: Array | None = None,
    signed: bool = False,
) -> AdaptiveState:
    """One step in time; a tick without a measurement is this and nothing else. `extra` is known inflow of this tick.

    `signed` lets beliefs go below zero: where all is learned from noisy values, cutting them would make every small key
    seem larger.
    """
    people = np.maximum(state.level, 0.0)
    inflow = links.matrix @ (state.level if signed else people)
    response = links.matrix @ state.response
    response += arrivals
    inflow += state.scale * (arrivals if extra is None else arrivals + extra)
    if not signed:
        np.maximum(inflow, 0.0, out=inflow)
    # diag(M x + a) - M diag(x) M' and M P M' both need the squares of M, so one product does for both.
    base = links.squares @ (state.variance - people)
    base += inflow
    base += habits.churn * people + habits.least_variance
    np.maximum(base, habits.least_variance, out=base)
    chance = np.clip(habits.premium * (base / noise_scale**2) ** 0.75, _LEAST, _MOST)
    moves = np.maximum(people, 1.0) ** 2

    calm, where, weights, others = state.calm, state.where, state.weights, state.others
    step = _Step(links.own, state.level, state.variance, inflow, base, habits.memory)
    if len(where):
        mixed, weights = _mix(state, chance[where], habits)
        calm = calm.with_at(where, mixed.row(0))
        # The jump of an onset is added when it is measured: its size is what the measurement shows.
        others = step.at(where).move(mixed.row(slice(1, 3)), habits.following**2 * moves[where])
    calm = step.move(calm, habits.calm**2 * moves)
    return _settle(
        replace(
            state, calm=calm, weights=weights, others=others, chance=chance, response=response,
            scale=1.0 + habits.scale_memory * (state.scale - 1.0),
            scale_variance=habits.scale_memory**2 * state.scale_variance + habits.scale_drift**2,
            wary=state.wary.moved(base, noise_scale, habits),
        )
    )  # fmt: skip


def correct(state: AdaptiveState, measured: Array, noise: Noise, habits: Habits) -> tuple[AdaptiveState, Belief]:
    """The belief after noisy values of all keys, and what to tell people of it."""
    before = state.calm
    seen = noise.observe(before.level, before.level_variance, measured)
    calm = before.corrected(seen)
    where, weights, others = state.where, state.weights, state.others
    if habits.adaptive:
        # As wide as what was just seen: an onset has no typical size, only a least one that noise does not hide.
        jump = np.maximum(abs(measured - before.level), habits.reach * noise.scale) ** 2
        if len(where) < len(measured):
            where, weights, others = _suspect(state, measured, seen.log_density, jump, noise, habits)
    response = state.response * (1.0 - before.level_variance * seen.grip)
    trust = np.ones(len(measured))
    prior = others
    if len(where):
        prior = others.jumped(jump[where])
        seen_others = noise.at(where).observe(prior.level, prior.level_variance, measured[where])
        weights = _weigh(weights, np.vstack([seen.log_density[where][None], seen_others.log_density]))
        others = prior.corrected(seen_others)
        trust[where] = weights[0]
    # The site's scale: one step of scoring on the pulls of all keys that are calm (Laplace noise bounds each pull).
    firm = np.maximum(seen.grip, 1.0 / (before.level_variance + noise.variance))
    push = float(np.dot(trust, state.response * seen.pull))
    information = float(np.dot(trust, state.response**2 * firm)) + _TINY
    spread = state.scale_variance
    # Has the scale moved further than it drifts? The same price as for a key: a false alarm costs 1/sqrt(information),
    # to be held against a twentieth, which is how far a count is off in calm times anyway.
    chance = min(habits.premium * (0.0025 * information) ** 0.75, _MOST)
    surprise = (push / information) ** 2 / (spread + 1.0 / information)
    if habits.adaptive and surprise > 4.0 - 2.0 * np.log(chance + 1e-30):
        spread = (push / information) ** 2
    kept = spread / (1.0 + spread * information)
    shift = max(kept * push, -0.9 * state.scale)
    calm = replace(calm, level=calm.level + response * shift)
    if len(where):
        reply = state.response[where] * (1.0 - prior.level_variance * seen_others.grip)
        others = replace(others, level=others.level + reply * shift)
    after = _settle(
        replace(
            state, calm=calm, where=where, weights=weights, others=others, response=response,
            scale=state.scale + shift, scale_variance=kept,
        )
    )  # fmt: skip
    belief = believe(after.level, before, calm, prior, where, weights, measured, noise, response, shift, kept)
    if habits.adaptive:
        now, belief = wary.correct(state.wary, measured, noise, belief, after.level, habits)
        after = replace(after, wary=now)
    if len(measured) > habits.watched and len(where):
        keep = weights[0] < 1.0 - habits.reason
        after = replace(after, where=where[keep], weights=weights[:, keep], others=others.at(keep))
    return after, belief


def expect(state: AdaptiveState, habits: Habits) -> Belief:
    """What to tell people of a tick without a measurement."""
    shared = state.response**2 * state.scale_variance
    belief = Belief.gaussian(state.level, state.variance + shared)
    return state.wary.widened(belief, *state.wary.ends()) if habits.adaptive else belief


@dataclass(frozen=True, slots=True)
class _Step:
    """x' = M x + a + drift' + w for one key's track, where the other keys enter through `inflow` and `base`."""

    own: Array
    level: Array
    variance: Array
    inflow: Array
    base: Array
    memory: float

    def at(self, where: NDArray[np.intp]) -> _Step:
        return _Step(
            self.own[where], self.level[where], self.variance[where], self.inflow[where], self.base[where], self.memory
        )  # fmt: skip

    def move(self, track: Track, drift_noise: Array) -> Track:
        drift = self.memory * track.drift
        drift_variance = self.memory**2 * track.drift_variance + drift_noise
        shared = self.memory * self.own * track.covariance
        variance = self.base + self.own**2 * (track.level_variance - self.variance) + 2.0 * shared + drift_variance
        return Track(
            self.inflow + self.own * (track.level - self.level) + drift,
            drift,
            np.maximum(variance, _TINY),
            shared + drift_variance,
            drift_variance,
        )


def _mix(state: AdaptiveState, chance: Array, habits: Habits) -> tuple[Track, Array]:
    """Hypotheses turn into each other: calm -> onset -> following -> calm, and an onset may follow anything."""
    calm, onset, following = np.maximum(state.weights, _TINY)
    nothing = np.zeros_like(calm)
    ends = 1.0 - habits.stay - habits.again
    into = np.array(
        [
            [calm * (1.0 - chance), nothing, following * ends],
            [calm * chance, onset * 0.1, following * habits.again],
            [nothing, onset * 0.9, following * habits.stay],
        ]
    )
    weights = into.sum(1)
    share = into / weights[:, None]
    share[0] **= _GATE
    share[0] /= share[0].sum(0)
    tracks = state.calm.at(state.where).stacked_on(state.others)
    mixed = [tracks.merged(share[h]) for h in range(3)]
    return mixed[0].stacked(*mixed[1:]), weights / weights.sum(0)


def _weigh(weights: Array, log_density: Array) -> Array:
    likely: Array = weights * np.exp(log_density - log_density.max(0))
    likely /= likely.sum(0)
    return likely


def _suspect(
    state: AdaptiveState, measured: Array, log_density: Array, jump: Array, noise: Noise, habits: Habits
) -> tuple[NDArray[np.intp], Array, Track]:
    """Add the keys whose measurement an onset explains well enough to be worth watching."""
    before = state.calm
    total = jump + before.level_variance + noise.variance
    away = measured - before.level
    gain = -0.5 * (away * away / total + np.log(2.0 * np.pi * total)) - log_density
    reason = gain > np.log(habits.reason / state.chance)
    reason[state.where] = False
    new = np.flatnonzero(reason)
    if not len(new):
        return state.where, state.weights, state.others
    chance = state.chance[new]
    track = before.at(new)
    joined = state.others.beside(track.stacked(track))
    weights = np.hstack([state.weights, np.array([1.0 - chance, chance, np.full(len(new), _TINY)])])
    return np.concatenate([state.where, new]), weights, joined


def _settle(state: AdaptiveState) -> AdaptiveState:
    """What the hypotheses amount to. Weights are sharpened: a story believed at a tenth should not move a count."""
    if not len(state.where):
        return replace(state, level=state.calm.level, variance=state.calm.level_variance)
    sharp = (state.weights * _TRUST) ** _SHARPNESS
    sharp /= sharp.sum(0)
    merged = state.calm.at(state.where).stacked_on(state.others).merged(sharp)
    if len(state.where) == len(state.level):
        return replace(state, level=merged.level, variance=merged.level_variance)
    level, variance = state.calm.level.copy(), state.calm.level_variance.copy()
    level[state.where], variance[state.where] = merged.level, merged.level_variance
    return replace(state, level=level, variance=variance)
