"""The past run again, or otherwise: what is asked for, the legs it is made of, and what came of it. No Spark.

Read `change` (what may be different), `leg` (one pipeline's part), `report` (what came of a leg), `compared` (rows
side by side), `recording` (a range cut out as files, for tests), `in_force` (its rules in force again).
"""
