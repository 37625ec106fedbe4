"""A public conformance suite: the promises that every releaser keeps, as checks that anybody can run on their own."""

from hubbub.checks.failure import CheckFailed
from hubbub.checks.subject import Factory, Subject
from hubbub.checks.suite import CHECKS, check_releaser

__all__ = ["CHECKS", "CheckFailed", "Factory", "Subject", "check_releaser"]
