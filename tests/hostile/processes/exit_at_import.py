# verdict: RE; message: no result
"""Leaves with status 0 while being imported."""

import os

os._exit(0)
