"""What outlives the process: the ledger of what was spent, releases, states, query history, tokens."""

from hubbub.store.budget import Budget
from hubbub.store.curator import Curator
from hubbub.store.debit import Debit
from hubbub.store.ledger import Ledger
from hubbub.store.store import Store
from hubbub.store.stream import Stream
from hubbub.store.tokens import Token, Tokens
from hubbub.store.verification import Fault, Verification

__all__ = ["Budget", "Curator", "Debit", "Fault", "Ledger", "Store", "Stream", "Token", "Tokens", "Verification"]
