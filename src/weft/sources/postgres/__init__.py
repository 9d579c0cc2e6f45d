"""Changes of a table of PostgreSQL, read from the database itself, without Kafka.

To read in this order: `source` is what a project file may say, `address` and `name` where database and table are,
`catalogue` what the database knows of the table, `slot` the place in its log that is kept for us, `snapshot` the rows
that were there before, `message` and `replication` what the log tells, `value`, `event` and `transaction` the change
events that are made of both, and `changes` all of it as one source behind a journal.
"""
