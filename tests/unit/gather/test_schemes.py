"""Both schemes through the one interface, and what each refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hubbub.errors import (
    HubbubError,
    InsecureRandomness,
    InvalidInput,
    InvalidParameter,
    QueryMismatch,
    ReportRejected,
    TooFewReports,
)
from hubbub.gather.homomorphic import HomomorphicScheme, keys, plain_modulus
from hubbub.gather.prio3 import Count, Field64, Field128, Histogram, L1BoundSum, MultihotCountVec, Sum, SumVec
from hubbub.gather.prio3_scheme import Prio3Scheme, centred, signed
from hubbub.gather.query import Query
from hubbub.gather.scheme import Part, Started, Total
from hubbub.noise import simulation

QUIET = {"epsilon": 800, "allow_weak": True}
"""For a change of one. The scale is 1/800, so noise is 0 but for a chance of e^-800: sums can be compared exactly."""

MEASURED: list[tuple[Any, list[Any], list[int]]] = [
    (Count(), [1, 0, 1, 1], [3]),
    (Sum(300), [300, 0, 7, 1], [308]),
    (SumVec(3, 9), [[1, 2, 3], [9, 0, 0], [0, 0, 9]], [10, 2, 12]),
    (Histogram(5), [0, 4, 4, 2], [1, 0, 1, 0, 2]),
    (L1BoundSum(3, 4), [[4, 0, 0], [1, 2, 1], [0, 0, 0]], [5, 2, 1]),
    (MultihotCountVec(4, 2), [[True, True, False, False], [False] * 4, [True, False, False, True]], [2, 1, 0, 1]),
]
KEY = bytes(range(32))


def planned(circuit: Any, **given: Any) -> Query:
    quiet = QUIET | {"epsilon": QUIET["epsilon"] * circuit.change}
    return Query.plan("test", circuit, **({"clients": 100, "minimum": 3, "verify_key": KEY} | (given or quiet)))


def roles(name: str, query: Query) -> tuple[Any, Any, Any]:
    """A client, and both servers."""
    if name == "prio3":
        return Prio3Scheme(query), Prio3Scheme(query, KEY), Prio3Scheme(query, KEY)
    public, secret = keys(query)
    return (
        HomomorphicScheme(query, public=public),
        HomomorphicScheme(query, public=public),
        HomomorphicScheme(query, secret=secret),
    )


def gathered(name: str, query: Query, measurements: list[Any]) -> Any:
    client, *servers = roles(name, query)
    reports = [client.encode(measurement) for measurement in measurements]
    started = [server.start(k, [report[k] for report in reports]) for k, server in enumerate(servers)]
    told = [[one.told for one in side] for side in started]
    totals = []
    for k, server in enumerate(servers):
        accepted = server.check(k, started[k], told[1 - k])
        first = server.add(k, accepted[:1])
        totals.append(server.add(k, accepted[1:], first))
    assert totals[0].reports == totals[1].reports == len(measurements)
    return servers[1].open([server.noisy(k, totals[k]) for k, server in enumerate(servers)], len(measurements))


@pytest.mark.parametrize("name", ["prio3", "homomorphic"])
@pytest.mark.parametrize(("circuit", "measurements", "sums"), MEASURED, ids=lambda x: getattr(x, "name", ""))
def test_sums_are_right(name, circuit, measurements, sums):
    opened = gathered(name, planned(circuit), measurements)
    assert opened.sums == sums
    assert opened.reports == len(measurements)
    assert opened.asked == 100
    assert bool(opened.attested) == (name == "homomorphic")


def test_more_counters_than_one_ciphertext_has():
    opened = gathered("homomorphic", planned(Histogram(5000)), [0, 4095, 4096, 4999, 4999])
    assert [(k, v) for k, v in enumerate(opened.sums) if v] == [(0, 1), (4095, 1), (4096, 1), (4999, 2)]


@pytest.mark.parametrize("kind", [{"epsilon": 1, "lying": 1}, {"share_variance": 2, "lying": 1}, {"rho": "1/8"}])
def test_noise_of_every_kind_goes_through(kind):
    query = planned(Histogram(3), minimum=4, **kind)
    opened = gathered("homomorphic", query, [0, 1, 1, 2])
    assert len(opened.sums) == 3
    assert opened.variance == query.noise.variance(4)
    if "lying" in kind:
        with pytest.raises(InvalidParameter, match="proves that a report is one honest answer"):
            Prio3Scheme(query)


@pytest.mark.parametrize("name", ["prio3", "homomorphic"])
def test_too_few_and_too_many_are_not_opened(name):
    query = planned(Count(), clients=4, minimum=3, **QUIET)
    with pytest.raises(TooFewReports, match="2 reports were accepted; a sum is opened of 3"):
        gathered(name, query, [1, 1])
    with pytest.raises(InvalidParameter, match="planned for up to 4"):
        gathered(name, query, [1] * 5)
    *_, server = roles(name, query)
    with pytest.raises(TooFewReports):
        server.open([b"", b""], 2)


def test_prio3_says_which_report_is_wrong():
    query = planned(Histogram(3))
    client, first, second = roles("prio3", query)
    reports = [client.encode(1) for _ in range(5)]
    spoilt = [list(report) for report in reports]
    spoilt[1][0] = Part(spoilt[1][0].nonce, spoilt[1][0].body[:-1])  # cut
    body = bytearray(spoilt[3][0].body)
    body[70] ^= 1
    spoilt[3][0] = Part(spoilt[3][0].nonce, bytes(body))  # changed
    started = [server.start(k, [report[k] for report in spoilt]) for k, server in enumerate((first, second))]
    assert isinstance(started[0][1], InvalidInput)
    going = [at for at in range(5) if all(isinstance(side[at], Started) for side in started)]
    assert going == [0, 2, 3, 4]
    checked = first.check(0, [started[0][at] for at in going], [started[1][at].told for at in going])
    assert [isinstance(one, HubbubError) for one in checked] == [False, False, True, False]
    assert isinstance(checked[2], ReportRejected)


def test_a_report_for_another_query_is_rejected():
    ours, theirs = planned(Histogram(3)), planned(Histogram(3), clients=99, minimum=3, **QUIET)
    client, first, second = Prio3Scheme(theirs), Prio3Scheme(ours, KEY), Prio3Scheme(ours, KEY)
    report = client.encode(1)
    started = [server.start(k, [report[k]]) for k, server in enumerate((first, second))]
    (answer,) = first.check(0, started[0], [started[1][0].told])
    assert isinstance(answer, ReportRejected)


def test_servers_that_tell_different_numbers_of_reports():
    first = Prio3Scheme(planned(Count()), KEY)
    with pytest.raises(QueryMismatch, match="1 reports are being checked; the other server told of 0"):
        first.check(0, first.start(0, [first.encode(1)[0]]), [])


def test_a_message_that_was_changed_between_the_servers():
    query = planned(Histogram(3))
    client, first, second = roles("prio3", query)
    report = client.encode(1)
    mine, other = first.start(0, [report[0]]), second.start(1, [report[1]])
    for told in (b"", bytes(len(other[0].told)), other[0].told[:-1] + b"\x00"):
        (answer,) = first.check(0, mine, [told])
        assert isinstance(answer, (InvalidInput, ReportRejected))


def test_what_prio3_refuses():
    query = planned(Count())
    with pytest.raises(InvalidParameter, match="32 random bytes"):
        Prio3Scheme(query, b"short")
    with pytest.raises(QueryMismatch, match="another `verify_key`"):
        Prio3Scheme(query, bytes(32))
    with pytest.raises(QueryMismatch, match="or to none"):
        Prio3Scheme(Query.plan("q", Count(), clients=9, minimum=3, epsilon=1), KEY)
    with pytest.raises(InvalidParameter, match="Only a server"):
        Prio3Scheme(query).start(0, [])
    with pytest.raises(InvalidParameter, match="Both servers"):
        Prio3Scheme(query, KEY).open([b""], 3)
    with simulation(1) as source, pytest.raises(InsecureRandomness):
        Prio3Scheme(query, KEY, source)
    large = Query.plan("large", Sum(2**62), clients=100, minimum=3, epsilon=2**40, allow_weak=True)
    with pytest.raises(InvalidParameter, match="could exceed Field64"):
        Prio3Scheme(large)


def test_what_the_homomorphic_scheme_refuses():
    query, other = planned(Count()), planned(Sum(5))
    public, secret = keys(query)
    client, key_server = HomomorphicScheme(query, public=public), HomomorphicScheme(query, secret=secret)
    for given in ({}, {"public": public, "secret": secret}):
        with pytest.raises(InvalidParameter, match="Give the `public` half"):
            HomomorphicScheme(query, **given)
    with pytest.raises(InvalidParameter, match="key server alone"):
        HomomorphicScheme(query, public=secret)
    with pytest.raises(InvalidParameter, match="key server alone"):
        HomomorphicScheme(query, secret=public)
    with pytest.raises(QueryMismatch, match="another query"):
        HomomorphicScheme(other, public=public)
    with pytest.raises(InvalidInput, match="no keys"):
        HomomorphicScheme(query, public=b"")
    with pytest.raises(InvalidInput, match="damaged"):
        HomomorphicScheme(query, public=public[:200])
    with simulation(1) as source, pytest.raises(InsecureRandomness):
        HomomorphicScheme(query, public=public, source=source)
    with pytest.raises(InvalidParameter, match="Only the key server"):
        client.open([b"", b""], 3)
    first, second = client.encode(1)
    tag, rest = first.body[:16], first.body[16:]
    foreign = HomomorphicScheme(query, public=keys(query)[0]).encode(1)[0].body
    bad = {
        "for another query or under another key": foreign,
        "cut": first.body[:-1],
        "longer than any": tag + (1 << 20).to_bytes(4, "big") + rest[4:],
        "no ciphertext": tag + rest[:4] + bytes(len(rest) - 4),
        "more behind": first.body + b"x",
    }
    for words, body in bad.items():
        (answer,) = client.start(0, [Part(first.nonce, body)])
        assert isinstance(answer, HubbubError)
        assert words in str(answer), (words, answer)
    wide = planned(Histogram(2))
    two = HomomorphicScheme(wide, public=keys(wide)[0])
    short = two.encode(0)[0]
    two._keys = client._keys
    longer = client.query.circuit.output_length
    assert longer == 1
    (answer,) = client.start(0, [Part(short.nonce, tag + short.body[16:])])
    assert isinstance(answer, InvalidInput)
    (answer,) = key_server.start(1, [first])
    assert isinstance(answer, InvalidInput)
    assert second.body == b""


def test_sums_that_could_overflow_are_refused_when_planned():
    huge = Query.plan("huge", Sum(2**40), clients=10**6, minimum=3, epsilon=1)
    with pytest.raises(InvalidParameter, match="bits; a ciphertext has 72"):
        keys(huge)
    query = planned(Histogram(3))
    assert plain_modulus(query) % 8192 == 1
    assert plain_modulus(query) > 2 * query.largest_sum


def test_the_largest_sums_that_fit_are_right():
    """As far as a plan allows: the ends of the range, and as many ciphertexts as were planned for."""
    query = Query.plan("ends", Sum(2**16), clients=512, minimum=1, epsilon=2**25, allow_weak=True)
    public, secret = keys(query)
    client, key_server = HomomorphicScheme(query, public=public), HomomorphicScheme(query, secret=secret)
    one = client.start(0, [client.encode(2**16)[0]])[0].kept
    total = client.add(0, [one] * 512)
    assert key_server.open([client.noisy(0, total), b""], 512).sums == [512 * 2**16]


@pytest.mark.parametrize("field", [Field64, Field128])
def test_signed_numbers_there_and_back(field):
    values = np.array([0, 1, -1, 2**32, -(2**32) - 5, 2**62, -(2**62)])
    assert centred(field, signed(field, values)) == values.tolist()


def test_a_total_can_be_kept():
    scheme = Prio3Scheme(planned(Histogram(3)), KEY)
    total = Total(7, scheme.prio3.aggregate([signed(Field128, np.array([1, 2, 3]))]))
    again = scheme.decode_total(0, scheme.encode_total(0, total))
    assert (again.reports, centred(Field128, again.share)) == (7, [1, 2, 3])


def test_nothing_of_a_report_prints():
    client, first, _ = roles("prio3", planned(Count()))
    part = client.encode(1)[0]
    (started,) = first.start(0, [part])
    for thing in (part, started, first.add(0, [])):
        assert "body" not in repr(thing)
        assert "share" not in repr(thing)
        assert "told" not in repr(thing)
