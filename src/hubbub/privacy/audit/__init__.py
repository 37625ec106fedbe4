"""A black-box lower bound on what a mechanism really gives away."""

from hubbub.privacy.audit.audit import Auditable, audit
from hubbub.privacy.audit.finding import Finding
from hubbub.privacy.audit.neighbours import Pair, neighbours

__all__ = ["Auditable", "Finding", "Pair", "audit", "neighbours"]
