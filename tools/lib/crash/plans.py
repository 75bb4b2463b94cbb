"""What is done before the power is cut."""

import itertools
import random


def systematic(steps, length):
    """Every sequence of so many steps."""
    return list(itertools.product(steps, repeat=length))


def drawn(steps, seed):
    """Sequences of two to eight steps, drawn by lot, without end."""
    lots = random.Random(seed)
    while True:
        yield tuple(lots.choice(steps) for _ in range(lots.randint(2, 8)))
