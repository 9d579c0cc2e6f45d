"""Products against a model: random tables, trees and histories, and the documents that they should end in.

`table` (tables of plain rows) → `grow` (a random tree over them) → `history` (random changes) → `envelope` (these as
Debezium tells them, and as they arrive) → `world` (all of it from one seed). `oracle` has the documents by DuckDB,
`plain` by plain Python with `scalar`; neither knows the other.
"""
