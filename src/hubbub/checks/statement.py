"""The guarantee is stated in words, and an audit does not contradict it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session
from hubbub.privacy.audit import audit, neighbours

_PARTS = ("Protects:", "Enforced by the caller:", "Formula:", "Not covered:", "Reference:", "Proof:")
_CONFIDENCE = 1 - 1e-7


def guarantee_is_stated(subject: Subject) -> None:
    """The docstring has a Guarantee block: all its parts, a doctest that prints it, a proof that exists."""
    states_its_guarantee(type(subject.make()))


def states_its_guarantee(kind: type) -> None:
    """The same for a class."""
    text = inspect.getdoc(kind) or ""
    # A docstring that is inherited says nothing about this class.
    expect("__doc__" in vars(kind) and bool(vars(kind)["__doc__"]), f"{kind.__name__} has no docstring of its own.")
    expect("\nGuarantee" in text, f"{kind.__name__}'s docstring has no Guarantee block.")
    for part in _PARTS:
        expect(part in text, f"{kind.__name__}'s Guarantee block lacks {part!r}.")
    expect(bool(re.search(r">>> print\(.*guarantee", text)), f"No doctest of {kind.__name__} prints its guarantee.")
    proof = re.search(r"Proof:\s*(\S+\.md)\s*\((proved|sketched)\)", text)
    expect(proof is not None, f"{kind.__name__} does not say `Proof: path.md (proved)` or `(sketched)`.")
    assert proof is not None
    roots = [folder for folder in _above(kind) if (folder / "docs" / "proofs").is_dir()]
    # An installed package carries no documents: then the path can only be read.
    expect(not roots or (roots[0] / proof[1]).is_file(), f"The proof {proof[1]} of {kind.__name__} does not exist.")


def _above(kind: type) -> Sequence[Path]:
    try:
        return Path(inspect.getfile(kind)).resolve().parents
    except (TypeError, OSError):  # typed in at a prompt: it lies in no file
        return []


def guarantee_is_kept_as_given(subject: Subject) -> None:
    """The releaser promises exactly what it was made with."""
    for guarantee in (Guarantee.pure(Event(), "1/2"), Guarantee.pure(Session(max_ticks=3), 1)):
        expect(subject.make(guarantee).guarantee == guarantee, f"Asked for {guarantee!r}, it promises something else.")


def guarantee_survives_an_audit(subject: Subject) -> None:
    """A black-box audit finds no more than what is promised; an honest releaser fails once in ten million runs."""
    for unit, ticks in ((Event(), 2), (Session(max_ticks=2), 3)):
        guarantee = Guarantee.pure(unit, 1)
        pair = neighbours(unit, subject.keys, ticks)
        with simulation(7) as source:

            def make(guarantee: Guarantee = guarantee, source: object = source) -> object:
                return subject.make(guarantee, source)  # type: ignore[arg-type]

            finding = audit(
                make,  # type: ignore[arg-type]
                pair.with_unit,
                pair.without,
                runs=subject.audit_runs,
                confidence=_CONFIDENCE,
                promised=guarantee,
            )
        expect(finding.accepted, f"{finding.verdict} Event: {finding.event}.")
