"""Rules meet records: steps, expressions and functions, checked against columns and woven into SQL."""
