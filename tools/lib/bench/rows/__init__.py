"""The rows, in the order in which they are run."""

from ..row import Row
from .burst import Burst
from .coordinated import Coordinated
from .followers import Followers
from .foreign import Foreign
from .renames import Renames
from .stall import Stall
from .start import Start
from .steady import Steady

ROWS: list[type[Row]] = [Coordinated, Foreign, Steady, Renames, Stall, Start, Followers, Burst]
