"""The rows, in the order in which they are run and printed."""

from ..row import Row
from .allocations import Allocations
from .burst import Burst
from .cluster_catch_up import ClusterCatchUp
from .cluster_change import ClusterChange
from .cluster_local import ClusterLocal
from .cluster_machines import ClusterMachines
from .cluster_write import ClusterWrite
from .coordinated import Coordinated
from .followers import Followers
from .database import Database
from .dependent_build import DependentBuild
from .durable_writers import DurableWriters
from .external import External
from .growth import GrowthOfJournal, GrowthOfTree
from .growth_members import GrowthOfMembers
from .growth_shape import GrowthOfShape
from .idle import Idle
from .increments import DurableIncrements, Increments
from .items import Items
from .languages import LanguageCalls, PythonChange, PythonKeys, PythonLock, PythonUpdates
from .lock import Contended, Lock
from .memory import CommandStart, Memory
from .opening import Opening
from .presenter import Presenter
from .reads import Reads
from .renames import Renames
from .replace import Replace
from .set_seen import SetSeen
from .stall import Stall
from .start import Start
from .steady import Steady
from .suite_size import SuiteSize
from .transfer import Transfer
from .window import Window

SECTIONS: dict[str, list[type[Row]]] = {
    "Files and locks": [Replace, DurableWriters, Items, Lock, Contended, Presenter, Opening, Allocations],
    "Watching": [Coordinated, External, Steady, Renames, Stall, Start, Memory, CommandStart, Followers, Burst, Idle],
    "Growth": [GrowthOfTree, GrowthOfShape, GrowthOfJournal, GrowthOfMembers],
    "Group defaults": [Increments, DurableIncrements, Reads, SetSeen, SuiteSize],
    "Other languages": [LanguageCalls, PythonLock, PythonUpdates, PythonChange, PythonKeys],
    "Widgets": [Window],
    "Databases": [Database],
    "Transfers": [Transfer],
    "Clusters": [ClusterWrite, ClusterChange, ClusterLocal, ClusterCatchUp, ClusterMachines],
    "Building": [DependentBuild],
}
ROWS = [row for rows in SECTIONS.values() for row in rows]
