"""Too little noise on sums is found from outside as well; an honest mechanism fails once in ten million runs."""

import pytest
from tests.support.broken_maps import CELLS, GRID, LOUD

from hubbub.checks import CheckFailed, Subject, check_releaser
from hubbub.spatial import Quadtree, Roads

AUDIT = ["guarantee_survives_an_audit"]


@pytest.mark.parametrize(("honest", "keys"), [(Roads, CELLS), (Quadtree, GRID)])
def test_an_audit_finds_nothing(honest, keys):
    assert check_releaser(Subject(honest, keys=keys), only=AUDIT) == AUDIT


@pytest.mark.parametrize(("loud", "keys"), LOUD)
def test_the_control_is_found(loud, keys):
    with pytest.raises(CheckFailed):
        check_releaser(Subject(loud, keys=keys), only=AUDIT)
