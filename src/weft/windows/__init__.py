"""Time: which window a record belongs to, how far time has come, what a pane holds, and the
operator that keeps it.
"""
