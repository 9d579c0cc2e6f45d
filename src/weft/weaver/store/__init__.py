"""Where the weaver keeps everything it knows: a small ordered key-value store.

`Store` is the protocol; `memory`, `rocks` and `cassandra` implement it, and one behaviour suite runs over all.
To be read in the order `store`, `records`, `memory`, `rocks`; then, for one that several weavers share, `keyspace`,
`writelog`, `shelves`, `cassandra`.
"""

from weft.weaver.store.store import Store, StoreConflictError, Write, key, key_range

__all__ = ["Store", "StoreConflictError", "Write", "key", "key_range"]
