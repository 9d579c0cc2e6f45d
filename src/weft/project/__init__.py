"""What the author said, as frozen definitions: streams, pipelines, the graph they form, and what a change means."""
