"""Writes reference.json, what the statistics are tested against, by other ways than the program's own:
Student's t from the finite trigonometric sums that its distribution is for whole degrees of freedom (Abramowitz
and Stegun 1964, 26.7.3 and 26.7.4), standard deviations from the statistics module, bootstrap intervals from
numpy's random numbers as multinomial counts of the blocks.

    python3 tests/data/statistics/make_reference.py > tests/data/statistics/reference.json
"""

import json
import math
import statistics

import numpy


def within(t, degrees):
    """P(|T| <= t)."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    if degrees % 2 == 0:
        term = total = 1.0
        for k in range(2, degrees, 2):
            term *= (k - 1) / k * cosine**2
            total += term
        return sine * total
    total = 0.0
    term = cosine
    for k in range(3, degrees + 1, 2):
        total += term
        term *= (k - 1) / k * cosine**2
    return 2 / math.pi * (angle + sine * total)


def quantile(probability, degrees):
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        if within(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def interval(values):
    half = quantile(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return {"values": values, "mean": statistics.fmean(values), "half_width": half, "median": statistics.median(values)}


def bootstrap(weights, terms, generator, draws=400_000):
    """The expanded percentile interval of the sum of weight * sum(total) / sum(tokens)."""
    blocks = len(terms[0])
    counts = generator.multinomial(blocks, [1 / blocks] * blocks, size=draws)
    values = sum(
        weight * (counts @ numpy.array([b[0] for b in term])) / (counts @ numpy.array([b[1] for b in term]))
        for weight, term in zip(weights, terms)
    )
    wide = math.sqrt(blocks / (blocks - 1)) * quantile(0.975, blocks - 1)
    tail = statistics.NormalDist().cdf(-wide)
    lower, upper = numpy.quantile(values, [tail, 1 - tail])
    mean = sum(w * sum(b[0] for b in t) / sum(b[1] for b in t) for w, t in zip(weights, terms))
    return {"weights": weights, "terms": terms, "mean": mean, "lower": float(lower), "upper": float(upper)}


def blocks(generator, count, uneven):
    """[loss summed, tokens] of made-up segments: levels with a long tail, as those of passages of text."""
    tokens = generator.integers(500, 1500, count) if uneven else numpy.full(count, 1024)
    level = 1.2 + generator.gamma(2.0, 0.15, count)
    return [[round(float(n * x), 6), int(n)] for n, x in zip(tokens, level)]


def longer(generator, short, gain):
    """The same segments in longer windows."""
    return [[round(total + n * float(generator.normal(gain, 0.02)), 6), n] for total, n in short]


def main():
    generator = numpy.random.default_rng(20240607)
    short, even = blocks(generator, 32, True), blocks(generator, 12, False)
    twice = longer(generator, short, 0.05)
    print(
        json.dumps(
            {
                "quantiles": [
                    {"probability": p, "degrees": d, "quantile": quantile(p, d)}
                    for d in (1, 2, 3, 4, 5, 9, 10, 29, 30, 31, 99, 100, 1000)
                    for p in (0.6, 0.9, 0.95, 0.975, 0.995)
                ],
                "intervals": [
                    interval([1.601, 1.588]),
                    interval([2.461, 2.498, 2.377]),
                    interval([0.0031, -0.0012, 0.0044, 0.0008, -0.0021]),
                    interval([750.0, 1100.5, 430.25, 905.0, 560.125, 5000.0]),
                ],
                "bootstraps": [
                    bootstrap([1.0], [short], generator),
                    bootstrap([1.0], [even], generator),
                    bootstrap([1.0, -1.0], [twice, short], generator),
                    bootstrap([1.0, -0.5, -0.5], [twice, short, longer(generator, short, -0.06)], generator),
                ],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
