"""How errors go together is kept by PostgreSQL as by SQLite."""

from tests.unit.store.test_joint_errors import survives


def test_it_survives_postgres_and_is_verified(postgres_url: str) -> None:
    survives(postgres_url)
