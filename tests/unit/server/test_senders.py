"""Tokens that were known a moment ago: looked up once for all who come with them."""

import asyncio

import pytest

from hubbub.errors import StoreUnavailable
from hubbub.server.senders import SECONDS, Senders


class Lookup:
    def __init__(self, answer=True):
        self.answer, self.asked, self.go = answer, 0, asyncio.Event()

    async def __call__(self, token):
        assert token == "token"
        self.asked += 1
        await self.go.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def play(work):
    now = [0.0]
    senders = Senders(lambda: now[0])
    first = senders.remember("token")
    now[0] += SECONDS
    assert senders.known("token") is None
    asyncio.run(work(senders, first))
    assert not senders._asking


def test_one_look_serves_all_who_wait():
    """As it was: each of them asked the store once a second, the long way."""

    async def work(senders, first):
        lookup = Lookup()
        waiting = [asyncio.ensure_future(senders.renewed("token", lookup)) for _ in range(20)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # whoever asked first hangs up
        await asyncio.sleep(0)
        lookup.go.set()
        assert await asyncio.gather(*waiting[1:]) == [first] * 19
        assert lookup.asked == 1
        assert senders.known("token") == first

    play(work)


def test_a_revoked_token_is_forgotten():
    async def work(senders, first):
        del first
        lookup = Lookup(answer=False)
        lookup.go.set()
        assert await senders.renewed("token", lookup) is None
        assert await senders.renewed("token", lookup) is None
        assert lookup.asked == 1, "one that is not known is the long way's matter"

    play(work)


def test_what_the_store_refuses_is_told_to_all_and_asked_again():
    async def work(senders, first):
        lookup = Lookup(answer=StoreUnavailable("It is away."))
        lookup.go.set()
        waiting = [asyncio.ensure_future(senders.renewed("token", lookup)) for _ in range(3)]
        for one in waiting:
            with pytest.raises(StoreUnavailable):
                await one
        lookup.answer = True
        assert await senders.renewed("token", lookup) == first
        assert lookup.asked == 2

    play(work)


def test_a_stranger_is_not_looked_up():
    async def work(senders, first):
        del first
        assert await senders.renewed("another", Lookup()) is None

    play(work)
