"""The Playground: series, releases and the truth side by side, for someone who chooses a method and a strength."""

from hubbub.lab.playground.playground import Playground

__all__ = ["Playground"]
