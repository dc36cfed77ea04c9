"""collections.abc: the classes themselves are shared with typing and collections."""

from _collections_abc import *
from _collections_abc import __all__
