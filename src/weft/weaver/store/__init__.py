"""Where the weaver keeps everything it knows: a small ordered key-value store.

`Store` is the protocol; `memory` and `rocks` implement it, and one behaviour suite runs over both.
"""

from weft.weaver.store.store import Store, StoreConflictError, Write, key, key_range

__all__ = ["Store", "StoreConflictError", "Write", "key", "key_range"]
