"""sf.density: one call for every method; input is checked here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels.additive import Noise, from_scipy, parse_noise
from sfumato.errors import EstimationError, SingularChannelWarning, UnrecoverableWarning, warn
from sfumato.evidence.density import as_, auto, band, crop, em, mle
from sfumato.evidence.density.ambiguity import warn_if_undecided
from sfumato.evidence.density.binning import Sample, gather
from sfumato.evidence.density.input_checks import check_scale, unrounded, warn_if_hopeless
from sfumato.evidence.density.kernels import FFT_FROM, NoiseKernel, interval_kernel, sample_kernel
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.stopping import Stop, parse_stop
from sfumato.input_checks import check_flags, check_progress, check_word
from sfumato.randomness import numpy_generator
from sfumato.threads import one_thread

METHODS = ("auto", "em", "as", "mle")
BINS = 80
Z_CELLS = 400
AUTO_CELLS = 240  # the cost of "auto" grows with the cube of the cells
SAMPLES = 2000  # up to here EM uses the exact kernel of every sample
REMOTE = 1e-14  # unbounded noise: beyond these quantiles a value counts as impossible


def density(
    z: Any,
    noise: Noise | str | Any,
    support: tuple[float, float] | None = None,
    bins: int | ArrayLike | None = None,
    method: str = "auto",
    stop: Any = None,
    *,
    column: str | None = None,
    outside: str = "refuse",
    crop_support: bool | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int], None] | None = None,
    place_only: bool = False,
) -> Density:
    """The density of x from z = x + noise.

    z may be numbers, an iterable of arrays, a table with `column`, or a path to CSV or Parquet; it is read once.
    noise is a channel (`channels.uniform(1)`), a frozen scipy.stats distribution or text ("uniform:1").
    support is where x may lie (default: the range of z, less the median of the noise). bins is the number of equal
    cells, or their edges. "auto" puts the cells where the mass is, unless they are given: by edges, or by a support and
    a number. crop_support=False keeps them where only one of the two is given, True moves them where both are.
    stop is the rule of "em" and "as": a number of iterations, "theta:1e-3", "loglik:0.3", "chi2:0.01" or "cv:5".
    outside: "refuse" z that support and noise do not allow, or "widen" the support until they do.
    place_only: only where x lies and how wide is of use; then nothing is said of a shape that the data cannot tell.

    >>> from sfumato.channels.additive import uniform
    >>> x = np.linspace(2, 4, 2000)
    >>> d = density(uniform(1).randomize(x, rng=0), uniform(1))
    >>> round(d.mean, 1)
    3.0
    """
    _check_words(method, outside, stop)
    check_flags(EstimationError, crop_support=crop_support is not None and crop_support, place_only=place_only)
    check_progress(EstimationError, progress)
    channel, rule = as_noise(noise), parse_stop(stop, "chi2")
    generator = None if rng is None else numpy_generator(rng)
    if crop_support is None:
        crop_support = support is None or bins is None
    cells, given = _asked_cells(bins, support)
    asked = support if given is None else (float(given[0]), float(given[-1]))
    sample = gather(z, column, progress)
    if sample.low == sample.high:
        raise EstimationError(f"z must vary, got {sample.n} times {sample.low:g}: continuous noise cannot do that")
    check_scale(sample, channel)
    sample = unrounded(sample, channel)
    support = _support(sample, channel, asked, outside)
    if given is not None and support != asked:
        raise EstimationError("edges cannot be widened: give a support and a number of bins instead")
    hopeless = warn_if_hopeless(sample, channel, None if asked is None else support)
    edges = given if given is not None else np.linspace(support[0], support[1], cells + 1)
    with one_thread():
        if method != "auto":
            return _iterated(sample, channel, edges, method, rule, generator)
        beyond = None if asked is None else _beyond(sample, channel, support)
        found = _auto(sample, channel, edges, crop_support and given is None, beyond)
        if not hopeless and not place_only:
            warn_if_undecided(found)
        return found


def _check_words(method: str, outside: str, stop: Any) -> None:
    check_word(EstimationError, "method", method, METHODS)
    check_word(EstimationError, "outside", outside, ("refuse", "widen"))
    if stop is not None and method not in ("em", "as"):
        raise EstimationError(f"stop must go with the method em or as, got it with {method}")


def _asked_cells(bins: Any, support: Any) -> tuple[int, Array | None]:
    """How many cells there are, and their edges where these are given."""
    if bins is None:
        return BINS, None
    if isinstance(bins, int | np.integer):
        if bins < 2:
            raise EstimationError(f"bins must be at least 2, got {int(bins)}")
        return int(bins), None
    if support is not None:
        raise EstimationError("give either support or the edges of the bins, got both")
    edges = _checked_edges(bins)
    return edges.size - 1, edges


def as_noise(noise: Any) -> Noise:
    """The channel behind whatever names it."""
    if isinstance(noise, Noise):
        return noise
    if isinstance(noise, str):
        return parse_noise(noise)
    return from_scipy(noise)


def _auto(sample: Sample, noise: Noise, edges: Array, cropped: bool, beyond: tuple[float, float] | None) -> Density:
    asked = edges.size - 1
    if asked > AUTO_CELLS:
        if not np.allclose(np.diff(edges), edges[1] - edges[0], rtol=1e-6):
            raise EstimationError(f'method "auto" takes at most {AUTO_CELLS} unequal cells, got {asked}')
        warn(
            f'method "auto" fits at most {AUTO_CELLS} cells: the {asked} asked for are evenly split from these',
            UnrecoverableWarning,
            stacklevel=3,
        )
        edges = np.linspace(edges[0], edges[-1], AUTO_CELLS + 1)
    found, problem = auto.fit_auto(sample, noise, edges, cropped, beyond)
    first, last = found.inner
    edges, mass = found.edges[first : last + 1], found.mass[first:last]
    kept = float(mass.sum())
    models = band.spread(found.fits, found.weights, found.inner, math.log(kept))
    if asked > AUTO_CELLS:
        edges, mass, models = _split(edges, mass, models, asked)
    return Density(
        edges=edges,
        mass=mass / kept,
        method="auto",
        noise=noise,
        n=sample.n,
        iterations=found.steps,
        log_likelihood=found.log_likelihood - float(problem.counts @ np.log(np.diff(problem.z_edges))),
        z_edges=problem.z_edges,
        z_counts=problem.counts,
        dropped=max(1 - kept, 0.0),
        spread=models,
    )


def _split(edges: Array, mass: Array, models: band.Spread, cells: int) -> tuple[Array, Array, band.Spread]:
    """The same density on more cells."""
    fine = np.linspace(edges[0], edges[-1], cells + 1)
    total = np.interp(fine, edges, np.concatenate(([0.0], np.cumsum(mass))))
    from_cell = np.clip(np.searchsorted(edges, (fine[1:] + fine[:-1]) / 2) - 1, 0, mass.size - 1)
    return fine, np.diff(total), band.Spread(models.centre[:, from_cell], models.sd[:, from_cell], models.weights)


def _iterated(
    sample: Sample, noise: Noise, edges: Array, method: str, rule: Stop, rng: np.random.Generator | None
) -> Density:
    gap = None
    exact = method == "em" and sample.values is not None and sample.n <= SAMPLES
    z_edges = _z_edges(sample, edges)
    counts = sample.histogram(z_edges)
    if method == "as":
        if not np.allclose(np.diff(edges), edges[1] - edges[0], rtol=1e-6):
            raise EstimationError('method "as" needs cells of equal width, got unequal edges')
        done, z_edges, counts = as_.bayes(sample, noise, edges, rule)
        mass, iterations, trace = done.mass, done.iterations, done.trace
    elif method == "em":
        kernel: NoiseKernel
        if exact and sample.values is not None:
            kernel, weight = sample_kernel(noise, edges, sample.values), np.ones(sample.n)
        else:
            kernel, weight = interval_kernel(noise, edges, z_edges), counts
        done = em.iterate(kernel, weight, rule, start=np.diff(edges), rng=rng)  # equal density, not equal mass
        mass, iterations, trace = done.mass, done.iterations, done.trace
    else:
        best = mle.maximise(interval_kernel(noise, edges, z_edges), counts)
        mass, iterations, trace, gap = best.mass, best.iterations, best.trace, best.gap
    prob = np.maximum(noise.interval_matrix(edges, z_edges).T @ mass, 1e-300)
    widths = np.diff(z_edges)
    log_likelihood = float(counts @ np.log(prob / widths))
    if exact:
        log_likelihood = float(trace[-1])
    else:  # of densities, like log_likelihood, and not of cells
        trace = trace - float(counts @ np.log(widths))
    found = Density(
        edges=edges,
        mass=mass,
        method=method,
        noise=noise,
        n=sample.n,
        iterations=iterations,
        log_likelihood=log_likelihood,
        z_edges=z_edges,
        z_counts=counts,
        stop=str(rule) if method != "mle" else "",
        gap=gap,
        trace=trace,
    )
    if method == "mle" and found.rank < edges.size - 1:
        warn(
            f"the kernel has rank {found.rank} below {edges.size - 1} cells: the maximum is not unique, and "
            f"{edges.size - 1 - found.rank} directions of the mass leave no trace in z (see null_space())",
            SingularChannelWarning,
            stacklevel=3,
        )
    return found


def _z_edges(sample: Sample, edges: Array) -> Array:
    if edges.size - 1 >= FFT_FROM and sample.step == 0:
        return as_.aligned_edges(sample, edges)
    return crop.z_edges(sample, max(Z_CELLS, min(4 * (edges.size - 1), 4000)))


def _range(sample: Sample, noise: Noise) -> tuple[float, float]:
    """Where x lies as far as z tells: its range less the noise's median."""
    middle = float(noise.quantile(0.5))
    return sample.low - middle, sample.high - middle


def _beyond(sample: Sample, noise: Noise, support: tuple[float, float]) -> tuple[float, float]:
    low, high = _range(sample, noise)
    return min(low, support[0]), max(high, support[1])


def _support(sample: Sample, noise: Noise, support: tuple[float, float] | None, outside: str) -> tuple[float, float]:
    if support is None:
        return _range(sample, noise)
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError):
        raise EstimationError(f"support must be two increasing finite numbers, got {support!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise EstimationError(f"support must be two increasing finite numbers, got ({low}, {high})")
    down, up = noise.reach(REMOTE)
    slack = 1e-9 * (high - low)
    least, most = low + down - slack, high + up + slack
    if sample.low >= least and sample.high <= most:
        return low, high
    if outside == "widen":
        return min(low, sample.low - down), max(high, sample.high - up)
    count = sample.outside(least, most)
    raise EstimationError(
        f"z must lie in [{least:.6g}, {most:.6g}] for support [{low:g}, {high:g}] and this noise, got {count} values "
        f"outside (z runs from {sample.low:.6g} to {sample.high:.6g}): widen the support, or pass outside='widen' "
        "(--widen)"
    )


def _checked_edges(bins: Any) -> Array:
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimationError(f"bins must be a number of cells or their edges, got {bins!r}") from None
    if edges.ndim != 1 or edges.size < 3 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
        raise EstimationError(f"bins must be a number of cells or at least 3 increasing edges, got {bins!r}")
    return edges
