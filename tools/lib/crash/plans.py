"""The operations before a power cut."""

import itertools
import random


def systematic(steps, length):
    """All sequences of a number of steps."""
    return list(itertools.product(steps, repeat=length))


def drawn(steps, seed):
    """Random sequences of two to eight steps, without end."""
    lots = random.Random(seed)
    while True:
        yield tuple(lots.choice(steps) for _ in range(lots.randint(2, 8)))
