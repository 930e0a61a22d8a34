"""Where extensions built before the move look for the spelling of messages."""

from wordline._api.spelling import message

__all__ = ["message"]
