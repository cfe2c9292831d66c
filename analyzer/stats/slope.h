// SPDX-License-Identifier: Apache-2.0
//
// Robust slopes. Pure functions.
#pragma once

#include <span>

#include "analyzer/stats/bootstrap.h"

namespace penstock::analyzer {

// Slope of y over x by Theil and Sen: the median of all pairwise slopes. Robust to 29 % outliers;
// unlike least squares it needs no normal noise. Longer inputs are thinned evenly to 200 points.
//
// Shapes:  x, y: [n] of the same length; 0 if fewer than two distinct x.
// Source:  P. K. Sen, J. Amer. Statist. Assoc. 63 (1968).
[[nodiscard]] double TheilSenSlope(std::span<const double> x, std::span<const double> y);

// TheilSenSlope() with a 90 % confidence interval by Sen's method: its ends are two of the pairwise
// slopes, whose ranks follow from the distribution of Kendall's tau.
//
// Assumes:     independent errors of one distribution. If neighbours err together, the interval is
//              too narrow.
// Few samples: below four points the interval holds the slopes of all pairs. With fewer than two
//              distinct x everything is 0.
// Shapes:      x, y: [n] of the same length; longer ones are thinned evenly to 200 points.
// Source:      P. K. Sen, J. Amer. Statist. Assoc. 63 (1968).
[[nodiscard]] Interval SlopeInterval(std::span<const double> x, std::span<const double> y);

}  // namespace penstock::analyzer
