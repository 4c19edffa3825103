"""Frames on a socket: what a well-behaved peer may send, and what no peer can do."""
