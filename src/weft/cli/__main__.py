"""`python -m weft.cli`: what a supervisor starts its children with."""

from weft.cli import main

main()
