"""What outlives the process: grants, the ledger of what was spent, releases, states, query history, tokens."""

from hubbub.store.budget import Budget, Spending
from hubbub.store.curator import Curator
from hubbub.store.debit import Debit
from hubbub.store.decision import Decision
from hubbub.store.grants import StoredGrant
from hubbub.store.ledger import Ledger
from hubbub.store.store import Store
from hubbub.store.stream import Definition, Stream
from hubbub.store.tokens import Token, Tokens
from hubbub.store.total import Total
from hubbub.store.verification import Fault, Verification

__all__ = [
    "Budget",
    "Curator",
    "Debit",
    "Decision",
    "Definition",
    "Fault",
    "Ledger",
    "Spending",
    "Store",
    "StoredGrant",
    "Stream",
    "Token",
    "Tokens",
    "Total",
    "Verification",
]
