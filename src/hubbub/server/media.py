"""Of which types the bodies of events are."""

NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
