"""The byte sources: fresh in every thread and process, and seeded ones kept out of production."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading

import pytest

from hubbub.errors import InsecureRandomness, InvalidParameter
from hubbub.noise import DiscreteLaplace, SeededSource, SystemSource, process, require_secure, simulation
from hubbub.noise.system import DEFAULT

fork = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def in_children(work, count=2):
    """What `work` returns in forked children of this process."""
    context = multiprocessing.get_context("fork")
    found = []
    for _ in range(count):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=lambda there=there: there.send(work()))
        child.start()
        found.append(here.recv())
        child.join()
        assert child.exitcode == 0
    return found


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100_000])
def test_it_gives_as_many_bytes_as_asked_for(count):
    assert len(SystemSource().take(count)) == count


@pytest.mark.parametrize("count", [-1, True, 2.0, "3", None])
def test_a_wrong_count_is_refused(count):
    with pytest.raises(InvalidParameter):
        SystemSource().take(count)
    with simulation(1) as source, pytest.raises(InvalidParameter):
        source.take(count)


def test_two_sources_differ_and_one_does_not_repeat():
    first, second = SystemSource(), SystemSource()
    taken = [source.take(16) for source in (first, second) for _ in range(100)]
    assert len(set(taken)) == 200


def test_it_is_keyed_anew_after_the_stated_amount():
    source = SystemSource(reseed_after=32)
    ciphers = []
    for _ in range(4):
        assert len(source.take(16)) == 16
        ciphers.append(source._own.stream.cipher)
    assert ciphers[0] is ciphers[1] is not ciphers[2]
    assert ciphers[2] is ciphers[3]


def test_a_wish_larger_than_one_key_may_give_is_served_by_several():
    source = SystemSource(reseed_after=32)
    source.take(20)
    taken = source.take(1000)
    blocks = [taken[at : at + 16] for at in range(0, 992, 16)]
    assert len(taken) == 1000
    assert len(set(blocks)) == len(blocks)
    assert source._own.stream.given <= 32


@pytest.mark.parametrize("amount", [0, -5, True, 1.5])
def test_a_wrong_amount_is_refused(amount):
    with pytest.raises(InvalidParameter):
        SystemSource(reseed_after=amount)


@fork
def test_a_forked_child_never_repeats_its_parents_bytes():
    source = SystemSource()
    source.take(16)
    children = in_children(lambda: [source.take(16) for _ in range(50)])
    parent = [source.take(16) for _ in range(50)]
    assert len(set(parent).union(*children)) == 150


@fork
def test_the_fork_test_would_see_a_source_that_repeats():
    with simulation(3) as source:
        children = in_children(lambda: [source.take(16) for _ in range(50)])
        parent = [source.take(16) for _ in range(50)]
    assert parent == children[0] == children[1]


@fork
def test_a_forked_child_never_uses_noise_its_parent_drew_ahead():
    noise = DiscreteLaplace(2**40)
    noise.sample_one()
    assert noise._buffer._stock.values
    children = in_children(lambda: ([noise.sample_one() for _ in range(20)], noise.sample(20).tolist()))
    parent = [noise.sample_one() for _ in range(20)], noise.sample(20).tolist()
    runs = [tuple(run) for found in (parent, *children) for run in found]
    # A run of four values has more than 160 bits: that two meet by chance has a probability below 1e-40.
    pieces = [run[at : at + 4] for run in runs for at in range(17)]
    assert len(set(pieces)) == len(pieces)


def test_a_fork_that_python_was_not_told_of_is_seen_by_the_process_number(monkeypatch):
    source = SystemSource()
    source.take(1)
    cipher = source._own.stream.cipher
    monkeypatch.setattr(process.os, "getpid", lambda: -1)
    source.take(1)
    assert source._own.stream.cipher is not cipher


def test_threads_have_key_streams_of_their_own():
    source = SystemSource()
    taken: list[bytes] = []
    ready = threading.Barrier(8)

    def work():
        ready.wait()
        mine = [source.take(16) for _ in range(2000)]
        taken.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 16_000


def test_a_copy_has_keys_of_its_own():
    source = SystemSource(reseed_after=999)
    source.take(16)
    for twin in (copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
        assert twin.reseed_after == 999
        assert twin.take(32) != source.take(32)


def test_a_seed_gives_the_same_bytes_each_time_and_seeds_differ():
    def bytes_of(seed):
        with simulation(seed) as source:
            return source.take(64)

    assert bytes_of(5) == bytes_of(5)
    assert len({bytes_of(seed) for seed in (-1, 0, 1, 10**30)}) == 4


def test_seeded_noise_repeats_call_for_call():
    def draws(seed):
        with simulation(seed) as source:
            noise = DiscreteLaplace(1000, source)
            return [noise.sample_one(), *noise.sample(10), *noise.sample(500)]

    assert draws(5) == draws(5) != draws(6)


@pytest.mark.parametrize("seed", ["1", 1.0, None, True])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(InvalidParameter), simulation(seed):
        pass


def test_a_seeded_source_is_made_by_a_simulation_only():
    with pytest.raises(InsecureRandomness):
        SeededSource(1)


def test_after_the_simulation_nothing_is_given_not_even_what_was_drawn_ahead():
    with simulation(1) as source:
        noise = DiscreteLaplace(20, source)
        noise.sample_one()
    assert noise._buffer._stock.values
    for use in (lambda: source.take(1), noise.sample_one, lambda: noise.sample(3), lambda: noise.sample(1000)):
        with pytest.raises(InsecureRandomness):
            use()


def test_a_simulation_that_fails_ends_too():
    with pytest.raises(KeyError), simulation(1) as source:
        raise KeyError
    with pytest.raises(InsecureRandomness):
        source.take(1)


def test_a_seeded_source_is_not_copied():
    with simulation(1) as source:
        for copier in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(InsecureRandomness):
                copier(source)


def test_production_lets_in_secure_sources_only(script):
    require_secure(None)
    require_secure(DEFAULT)
    with simulation(1) as source, pytest.raises(InsecureRandomness):
        require_secure(source)
    with pytest.raises(InsecureRandomness, match="Script"):
        require_secure(script())
