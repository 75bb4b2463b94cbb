"""The rows, in the order in which they are run."""

from ..row import Row
from .burst import Burst
from .coordinated import Coordinated
from .followers import Followers
from .foreign import Foreign
from .increments import DurableIncrements, Increments
from .reads import Reads
from .renames import Renames
from .set_seen import SetSeen
from .stall import Stall
from .start import Start
from .steady import Steady
from .suite_size import SuiteSize

WATCHING: list[type[Row]] = [Coordinated, Foreign, Steady, Renames, Stall, Start, Followers, Burst]
DEFAULTS: list[type[Row]] = [Increments, DurableIncrements, Reads, SetSeen, SuiteSize]
ROWS = WATCHING + DEFAULTS
