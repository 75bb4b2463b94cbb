"""Files that are changed one after the other, with pauses, and how long each change takes to be told."""

from .failures import Failed
from .places import Place
from .row import Contender, Finding
from .session import Session


def delays(bench, place: Place, contender: Contender, count: int, pace: str) -> Finding:
    """One round: every file is there before, and is changed once. Microseconds from the start of a change."""
    folder = bench.container(contender.watcher, place.fresh())
    bench.changes.make_files(folder, "sample", 0, count)
    bench.learn(contender.watcher, folder)
    with Session(bench, contender.watcher, folder) as session:
        session.await_watching()
        made = bench.changes.run(contender.way, folder, 0, count, pace)
        session.await_told(count)
        arrivals = session.arrivals.dump()
    told = [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals]
    if any(delay < 0 for delay in told):
        raise Failed("told of files before they were changed: nothing can be said of its delay")
    taken = [(change.done - change.began) / 1000 for change in made]
    return {"delays": told, "taken": taken, "lost": len(made) - len(told)}
