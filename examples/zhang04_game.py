"""
Which of two randomizers protects better?
=========================================

It depends on what the adversary stands to lose (Zhang et al. 2004, Example 1).
"""

import numpy as np

import sfumato.channels as c
from sfumato.assess import privacy

R1 = c.binary(0.3, 0.3)  # keeps the value with probability .7
R2 = c.matrix([[1.0, 0.0], [0.99, 0.01]])  # says 0, except for one in a hundred of the ones

# Averages favour R2, the worst case favours R1.
print(f"mutual information  R1 {privacy.mutual_information(R1):.6f}  R2 {privacy.mutual_information(R2):.6f} bits")
print(f"gamma               R1 {privacy.gamma(R1):.3f}     R2 {privacy.gamma(R2)}")

# Advertising: a wrong guess costs nothing, so the adversary always guesses.
advertising = privacy.game_value(R1), privacy.game_value(R2)
print(f"advertising         R1 {advertising[0]:.3f}    R2 {advertising[1]:.3f}   R2 protects better")
np.testing.assert_allclose(advertising, (-0.7, -0.505))

# Investment: a wrong guess costs five times what a right one brings. Under R1 nobody guesses; under R2 a 1 is certain.
investment = privacy.game_value(R1, loss=5), privacy.game_value(R2, loss=5)
print(f"investment          R1 {investment[0]:.3f}     R2 {investment[1]:.3f}   R1 protects better")
np.testing.assert_allclose(investment, (0.0, -0.005))

# In between they cross.
ratio = privacy.crossing(R1, R2)
print(f"equal at loss / benefit = {ratio:.5f}")
np.testing.assert_allclose(ratio, 2.31667, atol=1e-5)

# Theorem 2: which gamma makes guessing unprofitable for everybody in the investment setting?
limit = privacy.gamma_for_no_intrusion(p_max=0.5, sigma=1 / 5)
print(f"no intrusion up to gamma = {limit:g}: R1 {privacy.no_intrusion(R1, 0.5, 1 / 5)}, ", end="")
print(f"R2 {privacy.no_intrusion(R2, 0.5, 1 / 5)}")
assert privacy.no_intrusion(R1, 0.5, 1 / 5) and not privacy.no_intrusion(R2, 0.5, 1 / 5)
