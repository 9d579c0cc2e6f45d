"""Rules meet records: steps and rules woven into the SQL of one batch, and what a rule would break or change."""
