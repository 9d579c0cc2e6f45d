"""What the author says: a YAML file and the Python beside it, as frozen definitions, with
everything wrong found before it runs."""
