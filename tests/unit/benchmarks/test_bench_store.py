"""What the benchmark of the store measures is a true ledger: it is written past the curator, and the layout changes."""

from benchmarks.bench_store import fill

from hubbub.store import Store


def test_the_long_ledger_that_it_opens_is_one_that_verifies(tmp_path):
    with Store.open(fill(tmp_path / "50.db", 50)) as store:
        found = store.verify("site")
    assert found.ok, found.faults
    assert found.settled == 50
