"""What an error's text says, in one line."""

from __future__ import annotations

from weft.reason import told

SPARK = """[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when Python streaming data source perform \
latestOffset: Traceback (most recent call last):
  File "runner.py", line 1, in main
    func()
weft.sources.admission.FileGoneError: The file a.json is gone. Put it back as it was.

\tat org.apache.spark.Anything(Anything.java:1)"""

KERNEL = """An error occurred while calling z:weft.kernel.operator.StateCopy.divide.
: org.apache.spark.SparkException: The file 1.changelog is gone.
\tat org.apache.spark.Anything(Anything.java:1)"""


def test_what_a_traceback_ends_with_is_told_wherever_it_begins() -> None:
    assert told(SPARK) == "FileGoneError: The file a.json is gone. Put it back as it was."
    assert told("Nothing worked.\nAt all.") == "Nothing worked."


def test_what_java_has_raised_is_told_and_not_which_method_was_called() -> None:
    assert told(KERNEL) == "SparkException: The file 1.changelog is gone."
    assert told(KERNEL.splitlines()[0]) == KERNEL.splitlines()[0]
