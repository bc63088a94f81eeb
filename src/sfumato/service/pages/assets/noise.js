/* Additive noise: a number drawn by chance is added to the true one. Uniform and tabulated noise come out bit for bit as in Python, the
   others as exactly as logarithms are computed, which differs from one library to the next in the last digits. */

"use strict";

const Noise = (() => {
  /* value + noise, by the inverse of the distribution function at the leading 53 bits of a word. */
  function added(plan, value, word) {
    return value + quantile(plan, Math.min((Number(word >> 10n) + 0.5) * 2 ** -53, 1 - 2 ** -53)); // the last one would round to 1
  }

  function quantile(plan, u) {
    switch (plan.family) {
      case "uniform": return plan.half_width * (2 * u - 1);
      case "laplace": return -plan.scale * Math.sign(u - 0.5) * Math.log1p(-2 * Math.abs(u - 0.5));
      case "gaussian": return u < 0.5 ? -plan.sd * normal(u) : plan.sd * normal(1 - u);
      case "tabulated": return between(plan.shares, plan.edges, u);
      default: throw new Error("this page does not know the noise " + plan.family);
    }
  }

  /* Straight lines between the points (x, y). */
  function between(x, y, u) {
    let i = 0;
    while (i < x.length - 2 && u >= x[i + 1]) i++;
    if (u >= x[x.length - 1]) return y[y.length - 1];
    return u === x[i] ? y[i] : ((y[i + 1] - y[i]) / (x[i + 1] - x[i])) * (u - x[i]) + y[i];
  }

  /* The z with upper tail p <= 1/2 of the normal distribution, by Newton's method for the logarithm of the tail. */
  function normal(p) {
    let z = Math.sqrt(-2 * Math.log(2 * p));
    for (let i = 0; i < 12; i++) {
      const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI), rest = tail(z, density);
      const step = (Math.log(rest / p) * rest) / density;
      z += step;
      if (Math.abs(step) < 1e-15 * (1 + z)) break;
    }
    return z;
  }

  /* 1 - Phi(z): near 0 by its power series, further out by a continued fraction. */
  function tail(z, density) {
    if (z < 2.5) {
      let term = z, sum = z;
      for (let n = 3; Math.abs(term) > 1e-17 * Math.abs(sum); n += 2) { term *= (z * z) / n; sum += term; }
      return 0.5 - density * sum;
    }
    let fraction = z;
    for (let n = 120; n > 0; n--) fraction = z + n / fraction;
    return density / fraction;
  }

  return { added, quantile };
})();
