"""The second server's program without the network: it answers the first server alone."""

from __future__ import annotations

from collections.abc import Callable

from hubbub.errors import QueryMismatch
from hubbub.gather.desk import Desk
from hubbub.gather.helper import Helper
from hubbub.gather.messages import CheckRequest, Ended, OpenRequest, Verdicts
from hubbub.gather.peer import mark_of_answer, mark_of_request, path_of
from hubbub.gather.round_file import RoundFile
from hubbub.gather.round_mark import RoundMark
from hubbub.gather.scheme import SECOND
from hubbub.gather.server_keys import same_mark
from hubbub.gather.tally import OVER

ROOM = 1 << 20
PER_REPORT = 1 << 18


class HelperDesk(Desk[Helper]):
    """Helper, or key server. What does not bear the first server's mark is not read."""

    server = SECOND
    offers = ("check", "settle", "open", "end")

    @property
    def largest(self) -> int:
        """Bytes of the largest message that can come."""
        return ROOM + 128 * 4 * self.plan.query.circuit.output_length + 64 * PER_REPORT

    def tell(self, tick: int, step: str, message: bytes, shown: str) -> tuple[bytes, str]:
        """Answer the first server; the answer, and the mark that shows whose it is."""
        path = path_of(tick, step)
        if not same_mark(shown, mark_of_request(self._key, path, message)):
            raise QueryMismatch("This does not come from the other server of this plan.", "Do both have the same plan?")
        self.plan.query_of(tick)
        steps: dict[str, Callable[[Helper, bytes], bytes]] = {
            "check": lambda helper, data: helper.check(CheckRequest.decode(data)).encode(),
            "settle": _settle,
            "open": lambda helper, data: helper.open(OpenRequest.decode(data)).encode(),
            "end": _end,
        }
        with self._turn:
            if tick not in self._told and not self.plan.begins(tick) <= self._clock() < self.plan.ends(tick):
                self._expect_round(tick, self.plan.ends(tick))
            try:
                answer = steps[step](self._at(tick), message)
            finally:
                self._settle_over(tick)
        return answer, mark_of_answer(self._key, path, message, answer)

    def look(self) -> bool:
        """Called now and then: what nobody finished in time is given up, and its shares are forgotten."""
        with self._turn:
            for tick in [tick for tick in self._rounds if self._clock() >= self.plan.ends(tick)]:
                self._at(tick).end("not_finished")
                self._settle_over(tick)
            if self._clock() >= self.plan.ends(self.plan.ticks - 1):
                self._on_over()
        return False

    def stop(self) -> None:
        self.close()

    def _settle_over(self, tick: int) -> None:
        tally = self._rounds.get(tick)
        if tally is not None and tally.state in OVER:
            self._note(tick)
            self._let_go(tick)

    def _tally(self, tick: int, file: RoundFile, mark: RoundMark) -> Helper:
        return Helper(self.plan.scheme_for(SECOND, self._keys, tick), self._keys.seal, file, mark=mark)


def _settle(helper: Helper, data: bytes) -> bytes:
    helper.settle(Verdicts.decode(data))
    return b""


def _end(helper: Helper, data: bytes) -> bytes:
    ended = Ended.decode(data)
    helper.expect(ended.query)
    helper.end(ended.reason)
    return b""
