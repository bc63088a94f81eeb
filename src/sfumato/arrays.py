"""What the arrays that pass between modules hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
#: Codes of values, in whatever integers hold them.
Codes = NDArray[Any]
#: The class of each record: numbers or texts.
Labels = NDArray[Any]
