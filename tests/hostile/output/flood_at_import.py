# verdict: OLE
"""Prints without end while being imported."""

while True:
    print("x" * 4095)
