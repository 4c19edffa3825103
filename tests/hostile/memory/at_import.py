# verdict: MLE
"""Runs out of memory while being imported: the limit is named, not the import."""

kept = []
while True:
    kept.append(b"x" * (1 << 20))
