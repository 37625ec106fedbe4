"""Tickets: given once, spent once, good for one round, and not to be told apart by those who saw them given."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from tests.support.gathering import BEGIN, Gathering

from hubbub.errors import (
    InvalidInput,
    InvalidParameter,
    QueryClosed,
    QueryMismatch,
    ReportReplayed,
    StoreUnavailable,
    TicketRefused,
)
from hubbub.gather.issuer_desk import IssuerDesk
from hubbub.gather.tickets import SIZE, PublicTicketKey, TicketKey, Wish, load_keys, save_keys

KEYS = [TicketKey.make() for _ in range(2)]
QUERY, OTHER = bytes(32), bytes(31) + b"x"
CODES = ["invitation of ann", "invitation of bob"]


def ticket(key=KEYS[0], query=QUERY):
    wish = Wish.make(key.public, query)
    return wish.ticket(key.sign(wish.blinded))


def test_a_ticket_is_good_for_one_round():
    one = ticket()
    number = KEYS[0].public.spent(QUERY, one)
    assert len(number) == 32
    assert KEYS[0].public.spent(QUERY, ticket()) != number
    for key, query in ((KEYS[0], OTHER), (KEYS[1], QUERY)):
        with pytest.raises(TicketRefused, match="not of this round"):
            key.public.spent(query, one)


@pytest.mark.parametrize("wrong", ["", "?", "AAAA", base64.b64encode(bytes(32 + SIZE)).decode()])
def test_what_is_no_ticket(wrong):
    with pytest.raises(TicketRefused):
        KEYS[0].public.spent(QUERY, wrong)


def test_who_has_had_a_ticket_is_read_by_this_user_alone(tmp_path):
    names = ["given", "given-wal", "given-shm"]
    for earlier in (False, True):  # also a file that was kept for all to read
        with Gathering(tmp_path / str(earlier), ticks=2, issuer=[str(key.public) for key in KEYS]) as world:
            if earlier:
                for name in names:
                    (world.folder / name).touch(0o644)
            desk = issuer(world)
            modes = {name: (world.folder / name).stat().st_mode & 0o777 for name in names}
            assert modes == dict.fromkeys(names, 0o600)
            desk.stop()


def test_every_changed_byte_is_noticed():
    data = bytearray(base64.b64decode(ticket()))
    for at in range(0, len(data), 7):
        data[at] ^= 1
        with pytest.raises(TicketRefused):
            KEYS[0].public.spent(QUERY, base64.b64encode(data).decode())
        data[at] ^= 1


def test_what_the_issuer_sees_fits_every_ticket():
    """Perfect blindness: for each ticket there is a blinding factor that makes of it what the issuer saw, whichever it
    saw. So nothing that it keeps tells tickets apart."""
    key, seen, spent = KEYS[0], [], []
    for _ in range(3):
        wish = Wish.make(key.public, QUERY)
        seen.append(int.from_bytes(wish.blinded, "big"))
        spent.append(int.from_bytes(base64.b64decode(wish.ticket(key.sign(wish.blinded)))[32:], "big"))
    for blinded in seen:
        for signature in spent:
            encoded = pow(signature, 65537, key.modulus)
            factor = pow(blinded * pow(encoded, -1, key.modulus) % key.modulus, key.secret, key.modulus)
            assert encoded * pow(factor, 65537, key.modulus) % key.modulus == blinded


def test_an_issuer_that_cheats_is_noticed():
    wish = Wish.make(KEYS[0].public, QUERY)
    with pytest.raises(TicketRefused):
        wish.ticket(KEYS[0].sign(Wish.make(KEYS[0].public, QUERY).blinded))
    with pytest.raises(InvalidInput, match="no answer of an issuer"):
        wish.ticket(b"short")
    for wrong in (b"short", bytes(SIZE), b"\xff" * SIZE, (1).to_bytes(SIZE, "big")):
        with pytest.raises(InvalidInput, match="no blinded ticket"):
            KEYS[0].sign(wrong)


def test_keys_in_files(tmp_path):
    path = tmp_path / "issuer.keys"
    save_keys(path, KEYS)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_keys(path) == KEYS
    assert PublicTicketKey.of(str(KEYS[0].public)) == KEYS[0].public
    for wrong in ("", "AAAA", base64.b64encode(bytes(SIZE)).decode()):
        with pytest.raises(InvalidInput, match="2048 bits"):
            PublicTicketKey.of(wrong)
    path.write_text("{}")
    with pytest.raises(InvalidInput, match="no keys for tickets"):
        load_keys(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_keys(tmp_path / "nothing")


@pytest.fixture
def world(tmp_path):
    with Gathering(tmp_path, ticks=2, issuer=[str(key.public) for key in KEYS]) as made:
        yield made


def issuer(world, name="given"):
    return IssuerDesk(world.plan, KEYS, CODES, world.folder / name, clock=lambda: world.clock[0])


def test_a_round_with_tickets(world):
    digests = [world.plan.query_of(tick).digest for tick in (0, 1)]
    tickets = [ticket(KEYS[0], digests[0]) for _ in range(3)]
    reports = [world.report(1) for _ in tickets]
    with pytest.raises(TicketRefused, match="needs a ticket"):
        world.leader.take(0, reports[0])
    with pytest.raises(TicketRefused, match="not of this round"):
        world.leader.take(0, reports[0], ticket(KEYS[1], digests[1]))
    for report, one in zip(reports, tickets, strict=True):
        world.leader.take(0, report, one)
    with pytest.raises(TicketRefused, match="was spent"):
        world.leader.take(0, world.report(2), tickets[0])
    with pytest.raises(ReportReplayed):  # the same report again: it was taken, and says so
        world.leader.take(0, reports[0], tickets[0])
    world.restart()
    with pytest.raises(TicketRefused, match="was spent"):
        world.leader.take(0, world.report(2), tickets[0])
    world.work()
    assert world.leader.counts(0)["refused"]["ticket_refused"] >= 2
    told = world.finish()
    assert (told["sums"], told["reports"]) == ([0, 3, 0, 0], 3)


def test_a_report_that_is_refused_spends_no_ticket(world):
    one = ticket(KEYS[0], world.plan.query_of(0).digest)
    foreign = world.report(1, tick=1)
    with pytest.raises(QueryMismatch):
        world.leader.take(0, foreign, one)
    world.leader.take(0, world.report(1), one)


def test_the_issuer_gives_each_invitation_one_ticket_a_round(world):
    desk = issuer(world)
    query = world.plan.query_of(0).digest
    wish, another = (Wish.make(KEYS[0].public, query) for _ in "ab")
    signed, _ = desk.tell(0, "tickets", wish.blinded, CODES[0])
    assert KEYS[0].public.spent(query, wish.ticket(signed))
    assert wish.ticket(desk.tell(0, "tickets", wish.blinded, CODES[0])[0])  # the answer was lost
    for _ in range(2):
        with pytest.raises(TicketRefused, match="has had its ticket"):
            desk.tell(0, "tickets", another.blinded, CODES[0])
        desk.stop()
        desk = issuer(world)  # and after a restart
    desk.tell(0, "tickets", another.blinded, CODES[1])
    desk.tell(1, "tickets", Wish.make(KEYS[1].public, query).blinded, CODES[0])
    with pytest.raises(TicketRefused, match="not known"):
        desk.tell(0, "tickets", another.blinded, "invitation of eve")
    world.clock[0] = world.plan.closes(0)
    with pytest.raises(QueryClosed, match="closed"):
        desk.tell(0, "tickets", another.blinded, CODES[1])
    with pytest.raises(QueryMismatch):
        desk.take(0, b"")
    assert desk.result(0)["state"] == "not told here"
    assert desk.status()["state"] == "gives tickets"
    assert desk.announcement(0) == world.plan.announcement(0).encode()
    assert desk.about() == world.plan.encode()
    desk.stop()
    with pytest.raises(StoreUnavailable):
        desk.tell(1, "tickets", another.blinded, CODES[1])


def test_issuers_and_plans_that_do_not_fit(world, tmp_path):
    with pytest.raises(QueryMismatch, match="not those of the plan"):
        IssuerDesk(world.plan, KEYS[:1], CODES, tmp_path / "given")
    for codes in ([], ["short"], CODES[:1] * 2):
        with pytest.raises(InvalidParameter, match="Invitations"):
            IssuerDesk(world.plan, KEYS, codes, tmp_path / "given")
    with pytest.raises(StoreUnavailable):
        IssuerDesk(world.plan, KEYS, CODES, tmp_path)
    for keys in ([str(KEYS[0].public)], [str(KEYS[0].public)] * 2):
        with pytest.raises(InvalidParameter, match="different keys for tickets"):
            Gathering(tmp_path / "x", ticks=2, issuer=keys, opens=BEGIN, every=timedelta(minutes=1))
