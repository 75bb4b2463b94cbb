"""What makes a cell say something else than a number, and lets the run go on."""


class Unavailable(Exception):
    """A contender cannot take part: not installed, or it does not do what the row is about."""


class Failed(Exception):
    """A contender took part and did not come through: it ended by itself, or was never ready."""
