"""A directory that several processes share: locks, atomic writes, changes in order, keys and messages.

    from group_container import Container

    container = Container("./shared", create=True)
    container.update_json("state.json", lambda state: {**state, "runs": state["runs"] + 1}, default={"runs": 0})
    for change in container.follow():
        print(change.kind, change.path)
"""

from ._channels import Channel, Listener, Message
from ._container import DEFAULT_TIMEOUT, Access, Container, Item, Locks, Version, Written
from ._defaults import Defaults, KeyChange, KeyFollower
from ._following import Change, Follower
from ._library import Cancelled, Conflict, GroupError, Holder, LockTimeout, NotFound, NotPermitted
from ._library import version as __version__
from ._refreshes import Refresh
from ._waiting import Cancellation

__all__ = [
    "DEFAULT_TIMEOUT", "Access", "Cancellation", "Cancelled", "Change", "Channel", "Conflict", "Container", "Defaults",
    "Follower", "GroupError", "Holder", "Item", "KeyChange", "KeyFollower", "Listener", "LockTimeout", "Locks",
    "Message", "NotFound", "NotPermitted", "Refresh", "Version", "Written", "__version__",
]
