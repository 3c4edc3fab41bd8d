# SPDX-License-Identifier: MIT
"""A target's edges over executions: points (executions, edges), of which neither ever decreases."""

import bisect
import math

MOST = 48  # points kept of one curve


def joined(processes):
    """Join the curves of processes that ran one after the other and each counted executions from zero."""
    points, before, edges = [], 0, 0
    for process in processes:
        last = before
        for execs, seen in process:
            last = max(last, before + execs)
            edges = max(edges, seen)
            points.append((last, edges))
        before = last
    return points


def thinned(points, most=MOST):
    """At most `most` points: the first, the last, and some at which edges grew, evenly over the logarithm of executions."""
    grown = [point for before, point in zip([(0, -1), *points], points) if point[1] > before[1]]
    kept = grown + [points[-1]] if points and points[-1] not in grown else grown
    if len(kept) <= most:
        return kept
    places = [math.log1p(execs) for execs, _ in kept]
    step = (places[-1] - places[0]) / (most - 2)
    chosen = {bisect.bisect_left(places, places[0] + number * step) for number in range(most - 1)}
    return [kept[number] for number in sorted((chosen | {0, len(kept) - 1}) & set(range(len(kept))))]
