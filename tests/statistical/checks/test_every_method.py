"""The checks that draw many times, on every method; the others are in tests/unit/checks."""

import pytest
from tests.support.methods import ONLINE, STATISTICAL, factory

from hubbub.checks import CHECKS, check_releaser


@pytest.mark.parametrize("check", STATISTICAL)
@pytest.mark.parametrize("method", [name for name in ONLINE if name != "ranges"])
def test_every_method_keeps_every_promise(method, check):
    assert check in CHECKS
    assert check_releaser(factory(method), only=[check]) == [check]
