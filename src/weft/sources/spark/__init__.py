"""Spark's side of the sources that are written here: data sources and their readers. Imported when one is opened."""
