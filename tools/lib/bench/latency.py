"""Files that are changed one after the other, with pauses, and the time until each change is reported."""

from .failures import Failed
from .places import Place
from .row import Contender, Finding
from .session import Session


def delays(bench, place: Place, contender: Contender, count: int, pace: str) -> Finding:
    """One round: every file exists before, and is changed once. In microseconds from the start of a change."""
    directory = bench.container(contender.watcher, place.fresh())
    bench.changes.make_files(directory, "sample", 0, count)
    bench.learn(contender.watcher, directory)
    with Session(bench, contender.watcher, directory) as session:
        session.await_watching()
        made = bench.changes.run(contender.way, directory, 0, count, pace)
        session.await_told(count)
        arrivals = session.arrivals.dump()
    reported = [(arrivals[change.number].first - change.began) / 1000 for change in made if change.number in arrivals]
    if any(delay < 0 for delay in reported):
        raise Failed("a file was reported before it was changed: its delay is unknown")
    taken = [(change.done - change.began) / 1000 for change in made]
    return {"delays": reported, "taken": taken, "lost": len(made) - len(reported)}
