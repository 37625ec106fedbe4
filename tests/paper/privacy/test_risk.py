"""Fan 2014 (thesis), Eq. 4.6-4.7: influenza in an emergency room, ten years."""

from __future__ import annotations

from hubbub.privacy.risk import risk_of_rate


def test_influenza() -> None:
    # 42.8 visits a hundred people and year, of which 3.2 % with the diagnosis; the thesis prints 99.9 %.
    risk = risk_of_rate(0.428 * 0.032, periods=10, confidence=0.999)
    assert risk.chosen.bound == 2
    assert round(risk.chosen.kept, 4) == 0.9997
