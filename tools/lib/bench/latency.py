"""Files that are changed one after the other, with pauses, and how long each change takes to be told."""

from .places import Place
from .row import Contender, Finding
from .session import Session


def delays(bench, place: Place, contender: Contender, count: int, pace: str) -> Finding:
    """One round: every file is there before, and is changed once. Microseconds from the start of a change."""
    folder = bench.container(contender.watcher, place.fresh())
    bench.changes.make_files(folder, "sample", 0, count)
    with Session(bench, contender.watcher, folder) as session:
        session.await_watching()
        made = bench.changes.run(contender.way, folder, 0, count, pace)
        session.await_told(count)
        arrivals = session.arrivals.dump()
    told = [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals]
    # What is told sooner than it was made was told of something else.
    return {"delays": told, "lost": len(made) - len(told), "early": sum(delay < 0 for delay in told)}
