"""The promises of mechanisms that need the whole series, and controls that break each."""

import pytest

from hubbub.checks import CheckFailed, check_offline
from hubbub.methods import METHODS
from hubbub.release import Dft
from hubbub.released import Cost


@pytest.mark.parametrize("method", [name for name, one in METHODS.items() if not one.traits.online])
def test_every_offline_method_keeps_every_promise(method):
    check_offline(METHODS[method])


class Unstated(Dft):
    pass


class PromisesLess(Dft):
    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, type(guarantee).pure(guarantee.unit, "1/2"), source=source)


class ChargesAfter(Dft):
    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._account.charge = lambda *_: None


class CostsLess(Dft):
    @property
    def cost(self):
        return Cost(epsilon=super().cost.epsilon / 2)


class Twice(Dft):
    def _estimate(self, ticks, measurement):
        self._next = 0
        self._account.check = lambda *_: 0
        return super()._estimate(ticks, measurement)


class TakesAnything(Dft):
    def __init__(self, keys, guarantee, *, source=None):
        super().__init__(keys, guarantee, source=source)
        self._check_keys = lambda *_: None


class Tells(Dft):
    _seen = ""

    def _measure(self, series, cost):
        self._seen = str(series[0].values.reveal().tolist())
        return super()._measure(series, cost)

    def __repr__(self):
        return self._seen


class Crashes(Dft):
    def _check_keys(self, keys):
        if keys != self.keys:
            raise KeyError("keys")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Unstated, "docstring of its own"),
        (PromisesLess, "promises something else"),
        (ChargesAfter, "was charged"),
        (CostsLess, "was charged"),
        (Twice, "second series was released"),
        (TakesAnything, "other keys was accepted"),
        (Crashes, "KeyError instead of UnknownKey"),
        (Tells, "confidential count"),
    ],
)
def test_a_broken_one_is_caught(broken, words):
    if broken is not Unstated:  # made here, so that nobody takes the borrowed docstring for a doctest
        broken = type(broken.__name__, (broken,), {"__doc__": Dft.__doc__, "__module__": __name__})
    with pytest.raises(CheckFailed, match=words):
        check_offline(broken)
