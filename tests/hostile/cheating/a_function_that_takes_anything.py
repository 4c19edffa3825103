# verdict: WA
"""Takes whatever it is given and returns the first two things of it."""


def multi_head_attention(*args, **kwargs):
    things = [*args, *kwargs.values()]
    return things[0], things[1]
