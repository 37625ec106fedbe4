"""The whole way from what brokers hold to what is released: neighbours cannot be told apart.

`test_sources.py` does the same for sources on files.
"""

from __future__ import annotations

import pytest
from tests.support.broker_worlds import KafkaWorld, NatsHouse
from tests.support.whole_way import UNITS, pairs


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = NatsHouse(tmp_path_factory.mktemp("nats"))
    yield made
    made.close()


@pytest.mark.parametrize("which", range(len(UNITS)))
def test_nats(house, which):
    unit, stay = UNITS[which]
    found = list(pairs(house.world, unit, stay, range(2), people=2))
    assert len(found) >= 8
    assert [pair for pair in found if pair[2]] == []


@pytest.mark.parametrize("which", [0, 1])
def test_kafka(which):
    unit, stay = UNITS[which]
    found = list(pairs(KafkaWorld, unit, stay, range(2), people=2))
    assert len(found) >= 8
    assert [pair for pair in found if pair[2]] == []
