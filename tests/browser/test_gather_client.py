"""The browser's client in a real Chromium: its shares are the draft's, real servers check and add its reports, and
nothing else leaves the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.gather_page import KEYS, Servers, World, announced
from tests.support.prio3_vectors import GOLDEN, PARAMETERS, PUBLIC, vectors

import hubbub.gather.client as module
from hubbub.errors import HubbubError, InvalidInput, QueryMismatch, ReportReplayed
from hubbub.gather import ServersGaussian, ServersLaplace
from hubbub.gather.messages import MAGIC, Announcement, SealedReport, sized
from hubbub.gather.prio3 import Count, Histogram, MultihotCountVec, Sum, SumVec
from hubbub.gather.sealing import seal

GOLDEN_ANNOUNCEMENT = GOLDEN.parent / "golden_messages" / "Announcement.hex"
CIRCUITS = {
    "Prio3Count": "count",
    "Prio3Histogram": "histogram",
    "Prio3MultihotCountVec": "multihot_count_vec",
    "Prio3Sum": "sum",
    "Prio3SumVec": "sum_vec",
}

SHARD = """
const sharded = ({ circuit, parameters, shares, context, answer, nonce, randomness }) => refused(() => {
  const prio3 = new Prio3(circuit, parameters, null, shares);
  const { told, inputs } = prio3.shard(bytes(context), answer, bytes(nonce), bytes(randomness));
  return [told, ...inputs].map(hex);
});
return Promise.all(given.map(sharded));
"""

XOF = """
const xof = new Xof(bytes(given.seed), bytes(given.dst), bytes(given.binder));
return hex(xof.next(given.length));
"""

REPORT = """
const client = await Client.read(bytes(given.announcement), { epsilon: 1e9 });
const reports = [];
for (const answer of given.answers) reports.push(hex(await client.report(answer)));
return { promise: client.promise, query: client.query, reports };
"""

READ = """
const found = [];
for (const { announcement, epsilon } of given)
  found.push(await refused(async () => {
    const client = await Client.read(bytes(announcement), epsilon ? { epsilon } : {});
    return { promise: client.promise, digest: hex((await client.report(0)).subarray(5, 37)) };
  }));
return found;
"""

ANSWER = """
const client = await Client.read(bytes(given.announcement));
const found = [];
for (const answer of given.answers) found.push(await refused(() => client.report(answer)));
for (const answer of [NaN, undefined, 0.5, -0.5, Infinity, 1n, new Date(), () => 1])
  found.push(await refused(() => client.report(answer)));
return found;
"""

COINS = """
const [draw, chance] = [crypto.getRandomValues, Math.random];
const client = await Client.read(bytes(given.announcement));
const drawn = [];
try {
  Math.random = () => { throw new Error("no secret coin"); };
  crypto.getRandomValues = (into) => (drawn.push(into.length), into.fill(7));
  const nonces = [hex((await client.report(1)).subarray(37, 53)), hex((await client.report(1)).subarray(37, 53))];
  return { drawn, nonces };
} finally {
  [crypto.getRandomValues, Math.random] = [draw, chance];
}
"""

WITHOUT_X25519 = """
const able = SubtleCrypto.prototype.generateKey;
SubtleCrypto.prototype.generateKey = function (kind, ...rest) {
  if (kind === "X25519") return Promise.reject(new DOMException("no", "NotSupportedError"));
  return able.call(this, kind, ...rest);
};
try {
  return await refused(() => Client.read(bytes(given.announcement)));
} finally {
  SubtleCrypto.prototype.generateKey = able;
}
"""


@pytest.fixture(scope="module")
def world(chromium):
    made = World(chromium)
    yield made
    # After all that was asked of it, the page has fetched its two modules, and told nobody anything.
    assert sorted(set(made.heard)) == [("GET", f"http://localhost/{name}.mjs") for name in ("client", "prio3")]
    made.context.close()


def altered(**changes: Any) -> bytes:
    """An announcement of a query that was changed."""
    facts = Announcement.decode(announced(Histogram(4), epsilon=1)).query.to_dict() | changes
    facts = {name: fact for name, fact in facts.items() if fact is not Ellipsis}
    return around(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode())


def around(text: bytes, scheme: bytes = b"prio3") -> bytes:
    keys = b"".join(key.public for key in KEYS)
    return MAGIC + bytes([1, 0]) + sized(text) + sized(scheme) + keys + sized(b"")


# ── shares ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def sharded(folder: Path) -> list[tuple[str, dict[str, Any], list[str]]]:
    """What files of vectors say of sharding: a name, what is given, and the shares."""
    found = []
    for path in vectors(folder):
        vector, kind = json.loads(path.read_text()), path.stem.partition("_")[0]
        if kind not in CIRCUITS:
            continue
        for operation in vector["operations"]:
            if operation["operation"] != "shard":
                continue
            report = vector["reports"][operation["report_index"]]
            given = {
                "circuit": CIRCUITS[kind], "shares": vector["shares"], "context": vector["ctx"],
                "parameters": {name: vector[name] for name in PARAMETERS if name in vector},
                "answer": report["measurement"], "nonce": report["nonce"], "randomness": report["rand"],
            }  # fmt: skip
            found.append((path.stem, given, [report["public_share"], *report["input_shares"]]))
    return found


LARGE = {"Prio3Sum_large", "Prio3SumVec_wide"}
"""Numbers beyond 2^53, which this client refuses: JavaScript would round them."""


@pytest.mark.parametrize("folder", [GOLDEN, PUBLIC], ids=["ours", "public"])
def test_shares_are_those_of_the_vectors(world, folder):
    cases = sharded(folder)
    if not cases:
        pytest.skip("the draft's vectors are somebody else's data and not in the repository: set HUBBUB_DATA")
    assert {name.partition("_")[0] for name, _, _ in cases} == set(CIRCUITS)
    small = [case for case in cases if case[0] not in LARGE]
    made = world.run(SHARD, [given for _, given, _ in small])
    for (name, _, shares), one in zip(small, made, strict=True):
        assert one == {"done": shares}, name


def test_shares_follow_from_all_that_is_given(world):
    """The control: whatever is changed, the shares are others."""
    _, given, shares = next(case for case in sharded(GOLDEN) if case[0] == "Prio3Histogram_unfilled")
    changed = [{name: given[name][:-2] + "99"} for name in ("context", "nonce", "randomness")]
    changed += [
        {"answer": 1 if given["answer"] == 0 else 0},
        {"parameters": {**given["parameters"], "chunk_length": 2}},
    ]
    made = world.run(SHARD, [given, *({**given, **change} for change in changed)])
    assert made[0] == {"done": shares}
    assert len({json.dumps(one["done"]) for one in made}) == 1 + len(changed)


def test_what_the_xof_gives(world):
    path = PUBLIC / "XofTurboShake128.json"
    if not path.exists():
        pytest.skip("the draft's vectors are somebody else's data and not in the repository: set HUBBUB_DATA")
    vector = json.loads(path.read_text())
    assert world.run(XOF, {**vector, "length": 32}) == vector["derived_seed"]


def test_numbers_that_javascript_would_round_are_refused(world):
    cases = [given for name, given, _ in sharded(GOLDEN) if name in LARGE]
    assert cases
    made = world.run(SHARD, cases)
    assert all(one["refused"] and "too large for this client" in one["words"] for one in made)


# ── whole reports ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("circuit", "answers", "sums"),
    [
        (Count(), [1, 0, True, 1], [3]),
        (Histogram(4), [0, 3, 3, True], [1, 1, 0, 2]),
        (Histogram(4096), [0, 4095, 17], [1] + [0] * 16 + [1] + [0] * 4077 + [1]),
        (Sum(300), [300, 0, 7], [307]),
        (MultihotCountVec(6, 3), [[1, 1, 0, 0, 0, 1], [0] * 6, [True] + [False] * 5], [2, 1, 0, 0, 0, 1]),
        (SumVec(3, 9), [[9, 0, 1], [0, 0, 0], [5, 5, 5]], [14, 5, 6]),
    ],
    ids=["count", "histogram", "long", "sum", "multihot", "sum_vec"],
)
def test_servers_check_and_add_what_a_browser_sends(world, circuit, answers, sums):
    announcement = announced(circuit)
    made = world.run(REPORT, {"announcement": announcement.hex(), "answers": answers})
    servers = Servers(announcement)
    for report in made["reports"]:
        servers.leader.receive(SealedReport.decode(bytes.fromhex(report)))
    servers.check()
    assert servers.leader.refused == servers.helper.refused == {}
    assert servers.sums() == sums
    assert made["query"] == servers.query.to_dict()
    assert made["promise"] == servers.query.promise


def test_what_was_changed_on_the_way_is_refused_by_the_servers(world):
    announcement = announced(Histogram(4))
    given = {"announcement": announcement.hex(), "answers": [0, 1, 2, 3, 3]}
    servers = Servers(announcement)
    made = [SealedReport.decode(bytes.fromhex(one)) for one in world.run(REPORT, given)["reports"]]
    good, spoilt, *rest = made
    swapped = SealedReport(spoilt.query, spoilt.nonce, spoilt.second, spoilt.first)
    flipped = bytearray(spoilt.first)
    flipped[-1] ^= 1
    servers.leader.receive(good)
    for wrong, error in [
        (swapped, InvalidInput),
        (SealedReport(spoilt.query, spoilt.nonce, bytes(flipped), spoilt.second), InvalidInput),
        (SealedReport(spoilt.query, bytes(16), spoilt.first, spoilt.second), InvalidInput),
        (SealedReport(bytes(32), spoilt.nonce, spoilt.first, spoilt.second), QueryMismatch),
        (good, ReportReplayed),
    ]:
        with pytest.raises(error):
            servers.leader.receive(wrong)
    # Changed inside the seal: a client that lies. One more in the second bucket; the proof no longer holds.
    body = bytearray(KEYS[0].open(spoilt.first, 0, spoilt.query, spoilt.nonce))
    body[64 + 16] ^= 1
    lie = seal(KEYS[0].public, bytes(body), 0, spoilt.query, spoilt.nonce)
    servers.leader.receive(SealedReport(spoilt.query, spoilt.nonce, lie, spoilt.second))
    for report in rest:
        servers.leader.receive(report)
    servers.check()
    assert servers.leader.refused["report_rejected"] == 1
    assert servers.sums() == [1, 0, 1, 2]


def test_coins_come_from_the_one_source(world):
    given = {"announcement": announced(Histogram(4), epsilon=1).hex()}
    made = world.run(COINS, given)
    assert made["drawn"] == [16, 128] * 2
    assert made["nonces"] == ["07" * 16] * 2, "the control: coins that are always the same give the same nonce"
    reports = world.run(REPORT, given | {"answers": [1, 1]})["reports"]
    first, second = (SealedReport.decode(bytes.fromhex(one)) for one in reports)
    assert first.nonce != second.nonce
    assert first.first[:32] != second.first[:32]


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────

PLANS: list[dict[str, Any]] = [
    {"epsilon": "1/3"}, {"epsilon": 20}, {"epsilon": "0.00123457"}, {"epsilon": "9.99991"}, {"epsilon": "1e-7"},
    {"epsilon": "0.123456"}, {"rho": "0.37"}, {"rho": "1/7"}, {"rho": 1}, {"rho": "1e-6"},
    {"epsilon": 1, "protects": "presence"}, {"epsilon": 1, "name": 'é 😀 "a" \\ /'},
]  # fmt: skip


def test_queries_are_read_as_in_python(world):
    """Digest and promise: what shares are bound to, and what a person is told."""
    announcements = [announced(circuit, **plan) for plan in PLANS for circuit in (Histogram(4), Count(), Sum(9))]
    made = world.run(READ, [{"announcement": one.hex()} for one in announcements])
    for data, one in zip(announcements, made, strict=True):
        query = Announcement.decode(data).query
        assert one == {"done": {"promise": query.promise, "digest": query.digest.hex()}}


def refusals() -> list[tuple[bytes, str]]:
    facts = Announcement.decode(altered()).query.to_dict()
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    laplace = {"kind": ServersLaplace.kind, "epsilon": "1", "sensitivity": 2}
    gaussian = {"kind": ServersGaussian.kind, "rho": "1", "square_sensitivity": 2}
    changed = "changed on the way"
    return [
        (b"", changed), (b"HBX" + altered()[3:], changed), (altered() + b"x", changed), (altered()[:-1], changed),
        (altered()[:3] + b"\x02" + altered()[4:], "has version 2; this client knows 1"),
        (altered()[:4] + b"\x01" + altered()[5:], changed),
        (altered()[:5] + b"\xff\xff\xff\xff" + altered()[9:], changed),
        (altered() + bytes(2**16), changed),
        (announced(Histogram(4), scheme="bfv", epsilon=1), "the scheme prio3 alone"),
        (announced(Histogram(4), servers=(KEYS[0], KEYS[0]), epsilon=1), "the same key"),
        (altered()[:-36] + bytes(32) + sized(b""), "none that can be sealed to"),
        (altered(version=2), "another version"), (altered(version="1"), "another version"),
        (altered(more=1), changed), (altered(key=...), changed),
        (altered(circuit="median"), "knows no circuit"), (altered(circuit="constructor"), "knows no circuit"),
        (altered(circuit=["histogram"]), "knows no circuit"),
        (altered(field="Field64"), "cannot be"), (altered(field="Field65"), "cannot be"),
        (altered(field=None), changed), (altered(parameters=[]), changed), (altered(noise=None), changed),
        (altered(parameters={"length": 4}), "cannot be"),
        (altered(parameters={"length": 4, "chunk_length": 0}), "cannot be"),
        (altered(parameters={"length": 4, "chunk_length": 2**22}), "too large for this client"),
        (altered(parameters={"length": 2**24, "chunk_length": 4096}), "too large for this client"),
        (altered(circuit="multihot_count_vec", parameters={"length": 4, "chunk_length": 2, "max_weight": 5}), "cannot"),
        (altered(circuit="sum_vec", parameters={"length": 2**18, "chunk_length": 9, "max_measurement": 255}), "cannot"),
        (altered(circuit="sum", field="Field64", parameters={"max_measurement": 2**53 - 1}, clients=1024,
                 noise={**laplace, "sensitivity": 2**53 - 1}), "would not fit the field"),
        (altered(name=""), changed), (altered(name="a\nb"), changed), (altered(name="x" * 201), changed),
        (altered(clients=0), changed), (altered(clients=1.5), changed), (altered(clients="10"), changed),
        (altered(clients=2**53), changed), (altered(minimum=11), changed), (altered(protects="nothing"), changed),
        (altered(key=""), "not bound to a key"), (altered(key="A" * 64), "not bound to a key"),
        (altered(noise={"kind": "none"}), "both servers add the noise"),
        (altered(noise={**laplace, "minimum": 2}), changed),
        (announced(Histogram(4), epsilon=1, lying=1, clients=10, minimum=5), "both servers add the noise"),
        (altered(noise={**laplace, "sensitivity": 1}), "smaller change"),
        (altered(noise={**gaussian, "square_sensitivity": 1}), "smaller change"),
        (altered(noise={**laplace, "epsilon": 1}), changed), (altered(noise={**laplace, "epsilon": "0"}), changed),
        *((altered(noise={**laplace, "epsilon": one}), changed) for one in ("2/2", "1.5", "1/0", "9" * 999, "1/9" * 9)),
        (altered(noise={**laplace, "epsilon": f"1/{2**40}"}), changed), (altered(clients=2**32), changed),
        (altered(noise={**laplace, "epsilon": "21"}), "an epsilon of 21; this client answers up to 20"),
        (altered(noise={**gaussian, "rho": "9"}), "this client answers up to 20"),
        (around(b"\xef\xbb\xbf" + text.encode()), changed), (around(b"\xff"), changed), (around(b"[]"), changed),
        (around(b"null"), changed), (around(b"[" * 9999), changed),
        (around(text.replace(":10,", ": 10,").encode()), changed),
        (around(text.replace(":10,", ":10.0,").encode()), changed),
        (around(text.replace('"clients":10', '"clients":9,"clients":10').encode()), changed),
    ]  # fmt: skip


def test_announcements_that_are_refused(world):
    cases = refusals()
    made = world.run(READ, [{"announcement": data.hex()} for data, _ in cases])
    for (data, words), one in zip(cases, made, strict=True):
        assert one.get("refused"), (data[:400], one)
        assert words in one["words"], data[:400]


@pytest.mark.parametrize("epsilon", [0.5, "1/2", "0.50"])
def test_a_client_answers_up_to_its_own_epsilon(world, epsilon):
    plans = {"1/2": True, "0.500001": False, "1/3": True}
    given = [{"announcement": announced(Histogram(4), epsilon=one).hex(), "epsilon": epsilon} for one in plans]
    assert ["done" in one for one in world.run(READ, given)] == list(plans.values())
    wrong = [{"announcement": altered().hex(), "epsilon": one} for one in ("much", -1, "1e9", "0/1")]
    made = world.run(READ, wrong)
    assert all(one["refused"] and "must be a number" in one["words"] for one in made)


def test_every_flipped_bit_is_read_as_in_python_or_refused(world):
    """No announcement means one thing to a browser and another to the servers."""
    data = bytes.fromhex(GOLDEN_ANNOUNCEMENT.read_text())
    keys = data.index(b"prio3") + 5
    places = [(at, bit) for at in range(keys) for bit in (0, 3, 5)]
    spoilt = []
    for at, bit in places:
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        spoilt.append(bytes(changed))
    made = world.run(READ, [{"announcement": one.hex()} for one in [data, *spoilt]])
    read = 0
    for one, found in zip([data, *spoilt], made, strict=True):
        if "done" not in found:
            assert found["refused"], found
            continue
        read += 1
        query = Announcement.decode(one).query
        assert found["done"] == {"promise": query.promise, "digest": query.digest.hex()}
    assert "done" in made[0]
    assert 1 < read < len(made) / 2


WRONG: dict[str, tuple[Any, list[Any]]] = {
    "count": (Count(), [2, -1, "1", None, [1], {}, 0.5]),
    "histogram": (Histogram(4), [4, -1, "0", None, [0], [], 1.5, 2**53]),
    "sum": (Sum(9), [10, -1, "9", None]),
    "multihot": (MultihotCountVec(4, 2), [[1, 1, 1, 0], [1, 0, 0], [2, 0, 0, 0], "1100", None, 1, [0, 0, 0, None]]),
    "sum_vec": (SumVec(2, 9), [[10, 0], [1], [1, 2, 3], ["1", 2], None, "99"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_answers_that_are_refused(world, name):
    """Before anything is drawn or sealed, and in words that do not repeat them."""
    circuit, answers = WRONG[name]
    made = world.run(ANSWER, {"announcement": announced(circuit, epsilon=1).hex(), "answers": answers})
    assert len(made) == len(answers) + 8
    for one in made:
        assert one.get("refused"), one
        assert "nothing was sent" in one["words"]
        assert "null" not in one["words"]


def test_a_page_that_cannot_seal_says_so(world, chromium):
    given = {"announcement": altered().hex()}
    made = world.run(WITHOUT_X25519, given)
    assert made["refused"]
    assert "lacks X25519" in made["words"]
    plain = World(chromium, "http://plain.test/")
    (made,) = plain.run(READ, [given])
    assert made["refused"]
    assert "must come over https" in made["words"]
    plain.context.close()


def test_python_refuses_what_the_browser_refuses():
    """But for numbers that JavaScript would round, and vectors over which a page would stand still."""

    def answered(data: bytes) -> bool:
        try:
            module.Client.of(Announcement.decode(data)).report(0)
        except HubbubError:
            return False
        return True

    assert answered(altered()), "the control: what was not changed is answered"
    assert [words for data, words in refusals() if answered(data)] == []
