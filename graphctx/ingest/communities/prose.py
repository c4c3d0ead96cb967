"""Which sentences stand alone: as `graphctx.text.prose` tells it, for whoever describes communities."""

from graphctx.text.prose import stands_alone

__all__ = ["stands_alone"]
