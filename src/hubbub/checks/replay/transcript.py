"""What a run lets the world see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hubbub.checks.failure import CheckFailed, expect
from hubbub.errors import HubbubError
from hubbub.released import Release

ARRAYS = ("values", "standard_errors", "lower", "upper", "measurements")


@dataclass
class Transcript:
    """(step, what, bytes or words) in order. Two neighbours that saw the same noisy values have the same one."""

    lines: list[tuple[int, str, object]] = field(default_factory=list)

    def note(self, step: int, what: str, seen: object) -> None:
        self.lines.append((step, what, seen))

    def release(self, step: int, release: Release) -> None:
        self.note(step, "which tick was released", str(release.tick))
        self.note(step, "the cost of a tick", repr(release.cost))
        self.note(step, "the noise variance of a release", repr(release.noise_variance))
        for name in ARRAYS:
            array = getattr(release, name)
            self.note(step, f"the {name.replace('_', ' ')} of a release", None if array is None else array.tobytes())

    @contextmanager
    def refusals(self, step: int) -> Iterator[None]:
        """What is refused is seen too: the kind of error, and every word of it. Other errors are faults."""
        try:
            yield
        except HubbubError as refused:
            self.note(step, "a refusal", _told(refused))
        except CheckFailed:
            raise
        except Exception as broken:
            raise CheckFailed(
                f"Step {step} ended in {type(broken).__name__}, which is no refusal of Hubbub's: whoever reads it may "
                "be told what is confidential."
            ) from broken

    def expect_same(self, other: Transcript, name: Callable[[int], str]) -> None:
        for one, two in zip(self.lines, other.lines, strict=False):
            if one != two:
                what = one[1] if one[1] == two[1] else f"{one[1]} on one side and {two[1]} on the other"
                raise CheckFailed(f"With the same noisy values, {what} differs between neighbours in {name(one[0])}.")
        expect(len(self.lines) == len(other.lines), "One neighbour shows more than the other.")


def _told(error: BaseException) -> tuple[str, ...]:
    told: list[str] = []
    chain: BaseException | None = error
    while chain is not None:
        told.append(f"{type(chain).__name__}: {chain} {chain.args!r} {getattr(chain, 'hint', '')}")
        chain = chain.__cause__ or chain.__context__
    return tuple(told)
