// Package learn schedules attempts around the time when an operation is likely
// to end, as past runs suggest.
//
// [Fit] turns the durations of past runs into a [Model], which is a
// [backoff.Schedule]: attempts are rare while the end is unlikely, frequent when
// past runs ended, and ever rarer once a run has outlived all past runs. The wait
// depends only on the past runs and on the age of the current run, so a wait that
// is resumed needs no state.
//
// # The problem
//
// An operation ends after a random time X with survival S(t) = P(X > t). Attempts at
// the ages x1 < x2 < ... cost c each, as a delay in seconds, until an attempt finds the
// operation over. The schedule minimises the expected number of attempts times c plus the
// expected delay. This is the inspection policy of Barlow, Hunter and Proschan [1]. S is not
// known. A past run shows only that the operation ended between two attempts.
//
// # The forecast
//
// A run is a bracket (lo, hi]: unfinished at the age lo, over at the age hi. A known duration
// has lo = hi, and a run that was given up at the age a has the bracket (a, infinity).
//
// Eight experts forecast the next run. With weights w(i) of the runs, which add up to 1, and
// positions x(i) within their brackets, an expert's forecast is
//
//	F = (1 - e) [ (1 - l) sum w(i) LogN(ln x(i), b) + l LogN(m, s sqrt(1 + 1/k)) ] + e B
//
// where k = 1 / sum w(i)^2 is the effective number of runs [2]; m and s^2 are the weighted mean
// and variance of ln x, with one prior run of standard deviation 0.3; l = 2 / (2 + n) and
// e = max(0.01, 0.5 / (n + 2)) for n runs; and B is log-logistic, with survival
// 1 / (1 + t / median). B keeps the hazard at e / (median + t) or above, which makes the method
// safe where history misleads. The bandwidth is b = max(0.005, h r k^-0.2) with
// r = min(s, a prior-weighted IQR / 1.349). The experts differ in h, which is 0.1, 0.2, 0.7 or
// 1.4, and in the weights, which halve every 3 or every 60 runs.
//
// After each run an expert's weight is multiplied by the chance S(lo) - S(hi) that it gave to the
// bracket. Then 2% of all weight is spread evenly (fixed share [3]), so that another expert may
// take the lead after a change. A known duration counts as a bracket of 1%.
//
// A run counts with a single duration. Usually it is the geometric mean of the bracket.
//
// If the first attempt saw the end, lo is 0. The duration is then the mean of the runs that end
// by hi, in the forecast with half-life 60 and h = 1.4. Several runs in a row may end by their
// first attempts. If the experts gave this a chance below 2%, the operation has become faster by
// an unknown factor, and the mean is the mean of B alone.
//
// A run that was given up counts with the median of the runs that take longer.
//
// # The schedule
//
// Let 0 = t(0) < t(1) < ... be a grid, S(i) the survival at t(i), and L the integral of S. V(i) is the
// expected cost after an attempt at t(i) that has not seen the end, times S(i):
//
//	V(i) = min over j > i of  c S(i) + (t(j) - t(i)) S(i) - (L(j) - L(i)) + V(j)
//
// The later an attempt, the later the best next attempt, so that few j are tried for each i. The
// grid has eight steps for each attempt by the rule of Keller [4], which makes attempts sqrt(2 c / h)
// apart where the hazard is h. After the last kernel that rule alone is exact enough: sqrt(median + t)
// grows by sqrt(c / 2) from attempt to attempt. A cost in percent is a share of the forecast's median.
//
// # Measured cost
//
// There are four traces: CI jobs of Bitcoin Core, Julia and linkerd, and cold starts of pods. Each run
// was polled by a model of the earlier runs of its trace. The table has the cost of attempts and delay
// together, in percent of the operation's median. Each number is a mean over the traces.
//
//	cost of an attempt                      1%     5%
//	100 ms, doubled up to 20 s              67.5   304.7
//	best fixed interval, in hindsight       12.0   26.4
//	this package                            7.63   18.82
//	this package, with known durations      6.74   16.31
//	best schedule, in hindsight             5.7    15.0
//
// At 5% there are two attempts a run, so the past runs are known only roughly. Most of the gain
// is lost then, and known durations regain it.
//
//  1. R. E. Barlow, L. C. Hunter, F. Proschan: Optimum checking procedures. J. SIAM 11 (1963), 1078-1095.
//  2. L. Kish: Survey Sampling. Wiley, 1965.
//  3. M. Herbster, M. K. Warmuth: Tracking the best expert. Machine Learning 32 (1998), 151-178.
//  4. J. B. Keller: Optimum checking schedules for systems subject to random failure. Management
//     Science 21 (1974), 256-260.
package learn
