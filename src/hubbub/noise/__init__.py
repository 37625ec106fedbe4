"""Exact integer noise from cryptographic bytes. The only room that draws randomness for privacy."""

from hubbub.noise.source import ByteSource

__all__ = ["ByteSource"]
