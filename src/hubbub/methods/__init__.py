"""All mechanisms by name, and the one way to build them."""

from hubbub.methods.describe import described
from hubbub.methods.registry import METHODS, build, make_mechanism, method_named
from hubbub.methods.usual import usual_method, usual_on_map

__all__ = ["METHODS", "build", "described", "make_mechanism", "method_named", "usual_method", "usual_on_map"]
