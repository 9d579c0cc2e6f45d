"""What happened: knots, their ledgers, the graph they form, and the checks that it is all true."""
