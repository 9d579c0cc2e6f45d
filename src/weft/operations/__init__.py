"""What holds pipelines and changes several things: planned as steps, written down, run, resumed and ended here."""
