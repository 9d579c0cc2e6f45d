"""Real servers on loopback, started from locked artifacts, for the demo, tests and benches: Kafka, PostgreSQL,
Kafka Connect with Debezium, Cassandra, and a Spark cluster.

A server is a context manager: inside it runs and answers, afterwards it is gone, also after an interrupt or when the
process that started it is killed. Its data and its log lie in a folder of its own, over which it can be killed and
started again. To be read in the order `process`, `kafka`, `topic`, `postgres`, `connect`, `cassandra`,
`spark`.
"""
