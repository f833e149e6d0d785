"""What the divergences are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures.measure import Family, Measure

KL_DIVERGENCE = Measure(
    "kl_divergence", "mean Bernoulli divergence of the system from the reference, in nats",
    "mean of y ln(y/p) + (1-y) ln((1-y)/(1-p)), p clipped to [1e-7, 1 - 1e-7]", 0.0, None, "lower",
    "there are no segments", "Kullback & Leibler 1951; convention of Harju & Mesaros 2023",
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (
    Family("segment", "soft", "the system's values against the reference's", (KL_DIVERGENCE,)),
)
