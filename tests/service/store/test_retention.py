"""Old numbers are let go in PostgreSQL as in SQLite."""

from tests.unit.store.test_retention import filled

from hubbub.store import Store


def test_numbers_go_and_the_ledger_is_verified_as_before(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        filled(store, 30)
        assert store.forget("site", before=20) == 20
        assert [release.tick.index for release in store.releases("site")] == list(range(20, 30))
        found = store.verify("site")
        assert found.ok, found.faults
        filled(store, 5, first=30)
        assert store.verify("site").settled == 35
