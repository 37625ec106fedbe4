"""The default knows where no filter helps."""

import pytest

from hubbub.methods import METHODS, usual_method
from hubbub.privacy import Event, Guarantee, Session, User, Window


@pytest.mark.parametrize(
    ("guarantee", "keys", "wanted"),
    [
        (Guarantee.pure(User(horizon=10), 1), 1, "adaptive"),
        (Guarantee.pure(User(max_ticks=2, horizon=10), 10), 5, "adaptive"),
        (Guarantee.pure(Event(), "0.5"), 1, "lpa"),
        (Guarantee.pure(Event(), "0.4"), 1, "adaptive"),
        (Guarantee.pure(Event(), "0.4"), 2, "navigation"),
        (Guarantee.pure(Event(), 1), 9, "lpa"),
        (Guarantee.pure(Session(max_ticks=20), 1), 1, "adaptive"),
        (Guarantee.pure(Session(max_ticks=2), 1), 3, "lpa"),
        (Guarantee.pure(Window(7), 1), None, "navigation"),
        (Guarantee.zcdp(Event(), "1/16"), 1, "lpa"),  # a standard deviation of 2.83, as Laplace noise of scale 2 has
        (Guarantee.zcdp(Event(), "1/17"), 1, "adaptive"),
    ],
)
def test_the_promise_decides(guarantee, keys, wanted):
    assert usual_method(guarantee, keys) == wanted
    assert wanted in METHODS
