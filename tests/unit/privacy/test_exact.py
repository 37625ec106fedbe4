"""Numbers are taken exactly or refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from hubbub.errors import InvalidParameter
from hubbub.exact import exact, positive, whole


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/20", Fraction(1, 20)),
        (" 1e-9 ", Fraction(1, 10**9)),
        (Decimal("0.3"), Fraction(3, 10)),
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (3, Fraction(3)),
        (Fraction(2, 6), Fraction(1, 3)),
        (-1, Fraction(-1)),
        (0, Fraction(0)),
        ("1e300", Fraction(10**300)),
    ],
)
def test_taken(given: str, taken: Fraction) -> None:
    assert exact(given, "x") == taken


@pytest.mark.parametrize("given", [None, True, False, [1], 1j, b"1"])
def test_not_a_number(given: object) -> None:
    with pytest.raises(InvalidParameter, match="`x` must be a number; got"):
        exact(given, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Decimal("Infinity")])
def test_not_finite(given: float) -> None:
    with pytest.raises(InvalidParameter, match="finite"):
        exact(given, "x")


@pytest.mark.parametrize("given", ["", "abc", "1/0", "1e", "nan", "inf", "1/2/3"])
def test_unreadable(given: str) -> None:
    with pytest.raises(InvalidParameter, match="such as"):
        exact(given, "x")


@pytest.mark.parametrize(
    "given", ["1e301", "1e-301", "1e999999999999", Decimal("1e999999"), 10**301, Fraction(1, 10**301), 5e-324, "-1e400"]
)
def test_beyond_measure(given: str) -> None:
    # 1e999999999999 must be refused before anybody computes it.
    with pytest.raises(InvalidParameter, match="1e-300 and 1e300"):
        exact(given, "x")


@pytest.mark.parametrize("given", [0, -1, "-1/3", 0.0])
def test_positive(given: float) -> None:
    with pytest.raises(InvalidParameter, match="`x` must be above 0"):
        positive(given, "x")
    assert positive("1/3", "x") == Fraction(1, 3)


@pytest.mark.parametrize("given", [0, -1, 1.0, True, "1", None])
def test_whole(given: int) -> None:
    with pytest.raises(InvalidParameter, match="whole number from 1 on") as refused:
        whole(given, "x", "a hint")
    assert refused.value.hint == "a hint"
    assert whole(1, "x") == 1
