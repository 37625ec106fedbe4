from hubbub.privacy import Event, Guarantee
from hubbub.released import Keys
from hubbub.store import Store


def test_a_place_is_kept_and_replaced(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        store.create_stream("site", Keys(["a"]), Guarantee.pure(Event(), 1), "lpa")
        assert store.place("site") is None
        store.keep_place("site", {"tick": 3})
        store.keep_place("site", {"tick": 4, "positions": {"file": "17"}})
    with Store.open(tmp_path / "site.db") as store:
        assert store.place("site") == {"tick": 4, "positions": {"file": "17"}}
