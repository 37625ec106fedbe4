"""People who arrive, move along links, and leave.

| symbol | here | meaning |
|---|---|---|
| M | `matrix` | M[i, j]: the chance that a session on j is on i a tick later; a column may sum to less than one |
| a | `arrivals` | sessions that begin on each page, expected a tick |
| x(0) | `initial` | sessions on each page at the first tick, expected |
| e | `errors` | how far the inflow of a page may be off, one standard error: training data are a sample |
| u(k) | `opening` | what the first ticks bring besides: there all sessions are young, and young ones move otherwise |
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hubbub.errors import InvalidModel
from hubbub.files import write_file
from hubbub.filters.diagonal import Matrix
from hubbub.models.sessions import Sessions
from hubbub.released import Domain, Keys

Array = NDArray[np.float64]
_csr: Any = csr_array
FORMAT = "hubbub-navigation-2"
EARLIER = "hubbub-navigation-1"
"""Written until fitting knew that a log is a window. A model with an opening was fitted from one; others are right."""
_SLACK = 1e-9
_COUNTED = ("arrivals", "initial", "errors", "initial_errors", "opening")
"""The parts that count sessions and so grow with the site."""
_REFIT = "Fit the model again: hubbub fit SESSIONS --out MODEL."


@dataclass(frozen=True, slots=True, eq=False)
class NavigationModel:
    """X(k+1) = M X(k) + a + u(k) + w: a Markov chain of navigation (Fan et al. 2014, Eq. 17) with arrivals as an input.

    The process noise is not a parameter: sessions that move independently make it diag(M x + a) - M diag(x) M'.

    >>> keys = Keys(["front", "news"])
    >>> sessions = Sessions.of(keys, [["front", "news"], ["front", "front", "news"], ["news"]])
    >>> model = NavigationModel.fit(sessions, ticks=3)
    >>> model.matrix.toarray().round(2).tolist(), model.arrivals.round(2).tolist()
    ([[0.33, 0.0], [0.67, 0.0]], [0.67, 0.33])
    """

    keys: Keys
    matrix: Matrix
    arrivals: Array
    initial: Array
    errors: Array
    initial_errors: Array
    opening: Array

    def __post_init__(self) -> None:
        size = len(self.keys)
        if self.matrix.shape != (size, size):
            raise InvalidModel(f"The matrix of {size:,} keys must be {size:,} x {size:,}; got {self.matrix.shape}.")
        if self.opening.ndim != 2 or self.opening.shape[1] != size or not np.isfinite(self.opening).all():
            raise InvalidModel(f"`opening` must hold one finite row of {size:,} numbers per tick.")
        for name in ("arrivals", "initial", "errors", "initial_errors"):
            vector = getattr(self, name)
            if vector.shape != (size,) or not np.isfinite(vector).all() or (vector < 0).any():
                raise InvalidModel(
                    f"`{name}` must hold one finite number from 0 on for each of {size:,} keys.", "It counts sessions."
                )
        if not np.isfinite(self.matrix.data).all() or (self.matrix.data < 0).any():
            raise InvalidModel("The matrix holds an entry that is no probability.", "Entries lie between 0 and 1.")
        leaving = np.asarray(self.matrix.sum(axis=0)).ravel()
        if leaving.max() > 1 + _SLACK:
            worst = int(np.argmax(leaving))
            raise InvalidModel(
                f"The column of {self.keys.names[worst]!r} sums to {leaving[worst]:.4g}: sessions would multiply.",
                "Column j holds where a session on j goes next; what is missing to one leaves the site. "
                "Is the matrix transposed?",
            )

    @classmethod
    def of(cls, keys: Keys, matrix: Any, arrivals: Any, initial: Any = None, errors: Any = None) -> NavigationModel:
        """A model from plain arrays. Without `initial` the stream begins in balance, without `errors` none are made."""
        size = len(keys)
        into = np.asarray(arrivals, dtype=np.float64)
        nothing = np.zeros(size)
        doubt = nothing if errors is None else np.asarray(errors, dtype=np.float64)
        first = nothing if initial is None else np.asarray(initial, dtype=np.float64)
        links = _csr(matrix, dtype=np.float64)
        model = cls(keys, links, into, first, doubt, nothing, np.zeros((0, size)))
        return replace(model, initial=model.balance()) if initial is None else model

    @classmethod
    def fit(cls, sessions: Sessions, **options: Any) -> NavigationModel:
        """Learn from public sessions; `hubbub.models.learning.fit` has the options."""
        from hubbub.models.learning import fit

        return fit(sessions, **options)

    def scaled(self, factor: float) -> NavigationModel:
        """The same site with `factor` times the visitors."""
        parts = {name: getattr(self, name) * factor for name in _COUNTED}
        return replace(self, **parts)

    def balance(self) -> Array:
        """Where counts settle: x = M x + a, by steps of the chain itself (sparse, and it cannot fail to converge
        where sessions end; a page that nobody ever leaves stops at ten thousand steps)."""
        level, new = self.arrivals.copy(), self.arrivals
        for _ in range(10_000):
            new = self.matrix @ new
            level += new
            if new.sum() <= 1e-9 * level.sum():
                break
        return level

    def expect(self, keys: Domain) -> NavigationModel:
        """This model, if it was fitted for exactly these keys in this order."""
        if keys == self.keys:
            return self
        if not isinstance(keys, Keys):
            raise InvalidModel(
                f"The model tells how people move between named keys, and the stream counts by {keys!r}.",
                "Leave the model out, or count by the names that it was fitted for.",
            )
        missing = [name for name in keys if name not in self.keys]
        if missing:
            raise InvalidModel(
                f"The model was fitted for other keys: it knows nothing of {missing[0]!r} "
                f"({len(missing):,} of the stream's {len(keys):,} keys).",
                _REFIT,
            )
        raise InvalidModel(
            f"The model has {len(self.keys):,} keys and the stream {len(keys):,}, or in another order.",
            "Use model.keys for the stream, or model.selected(keys).",
        )

    def selected(self, keys: Keys) -> NavigationModel:
        """The model for some of its keys, in their order. Sessions that move to a key left out count as leaving,
        and those that come from one as arriving."""
        where = np.array([self.keys.position(name) for name in keys])
        rest = np.setdiff1d(np.arange(len(self.keys)), where)
        rows = self.matrix[where]
        inflow = np.asarray(rows[:, rest] @ self.balance()[rest]).ravel()
        parts = {name: getattr(self, name)[..., where] for name in _COUNTED}
        parts["arrivals"] = parts["arrivals"] + inflow
        return NavigationModel(keys=keys, matrix=_csr(rows[:, where]), **parts)

    @property
    def digest(self) -> str:
        """The SHA-256 of all that the model says: two files with the same model have the same."""
        told = hashlib.sha256(json.dumps(self.keys.names).encode())
        links = self.matrix.tocoo()
        order = np.lexsort((links.col, links.row))
        parts = [links.row[order], links.col[order], links.data[order], *(getattr(self, name) for name in _COUNTED)]
        for part, kind in zip(parts, ("<i8", "<i8", *("<f8" for _ in parts[2:])), strict=True):
            told.update(repr(part.shape).encode() + np.ascontiguousarray(part, dtype=kind).tobytes())
        return told.hexdigest()

    def save(self, path: Path) -> None:
        """One file: arrays in NumPy's zipped format, names as text, nothing that runs when it is read."""
        names = np.frombuffer("\n".join(self.keys).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer, format=np.frombuffer(FORMAT.encode(), dtype=np.uint8), names=names, data=self.matrix.data,
            indices=self.matrix.indices, indptr=self.matrix.indptr, **{name: getattr(self, name) for name in _COUNTED},
        )  # fmt: skip
        write_file(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> NavigationModel:
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                written = bytes(stored["format"]).decode()
                if written == EARLIER and len(stored["opening"]):
                    raise InvalidModel(
                        f"{path.name} was fitted by an earlier version, which took the sessions of the file's first "
                        "tick for all that a live stream begins with, and those that its last tick cut for leaving.",
                        f"{_REFIT} Where the stream does begin with them, add --start crowd.",
                    )
                if written not in (FORMAT, EARLIER):
                    raise InvalidModel(f"{path.name} has the format {written!r}; {FORMAT!r} was expected.", _REFIT)
                keys = Keys(bytes(stored["names"]).decode().split("\n"))
                parts = (stored["data"], stored["indices"], stored["indptr"])
                matrix = _csr(parts, shape=(len(keys), len(keys)))
                return cls(keys=keys, matrix=matrix, **{name: stored[name] for name in _COUNTED})
        except FileNotFoundError:
            raise InvalidModel(f"There is no model file {path.name!r}.", _REFIT) from None
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
            if isinstance(error, InvalidModel):
                raise
            raise InvalidModel(f"{path.name} is not a model that Hubbub wrote, or it is damaged.", _REFIT) from None
