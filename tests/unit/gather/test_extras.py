"""Without the packages of an extra one is told which to install; without the heavy one clients still work."""

from __future__ import annotations

import subprocess
import sys

ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from hubbub.errors import MissingExtra
from hubbub.gather import Prio3Scheme, Query
from hubbub.gather.homomorphic import keys
from hubbub.gather.prio3 import Count
query = Query.plan("q", Count(), clients=9, minimum=3, epsilon=1)
for what in (lambda: Prio3Scheme(query).encode(1), lambda: keys(query)):
    try:
        print(type(what()).__name__)
    except MissingExtra as error:
        print(error.hint)
"""


def said_without(*names: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", ABSENT.format(names=names)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_is_missing_is_told():
    assert said_without("Crypto", "tenseal") == ["pip install 'hubbub[gather-client]'", "pip install 'hubbub[gather]'"]


def test_clients_of_prio3_need_no_heavy_package():
    assert said_without("tenseal") == ["tuple", "pip install 'hubbub[gather]'"]
