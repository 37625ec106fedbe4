"""A public conformance suite: the promises that every releaser keeps, as checks that anybody can run on their own."""

from hubbub.checks.failure import CheckFailed
from hubbub.checks.offline import check_offline
from hubbub.checks.response import Response, read_ranges, read_releaser
from hubbub.checks.sensitivity import Sensitivity, check_sensitivity, sensitivity_of
from hubbub.checks.subject import Factory, Subject
from hubbub.checks.suite import CHECKS, check_releaser

__all__ = [
    "CHECKS",
    "CheckFailed",
    "Factory",
    "Response",
    "Sensitivity",
    "Subject",
    "check_offline",
    "check_releaser",
    "check_sensitivity",
    "read_ranges",
    "read_releaser",
    "sensitivity_of",
]
