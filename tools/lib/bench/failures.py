"""The exceptions that put a text instead of a number into a cell; the run goes on."""


class Unavailable(Exception):
    """A contender cannot take part: it is not installed, or does not do what the row measures."""


class Failed(Exception):
    """A contender took part and failed: it ended by itself, or was never ready."""
