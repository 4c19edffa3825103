# verdict: CE; message: line 4
"""Parses, and is refused by a later stage of the compiler."""

return "outside"
