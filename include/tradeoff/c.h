/* SPDX-License-Identifier: Apache-2.0 */
/* The accountant for C and for languages that call C: plans as text, curves as opaque handles, answers as intervals that are proved to
 * contain the true value. Every function may be called from several threads at once. No exception leaves a function: it returns a status,
 * and after any status but TRADEOFF_OK the results are unchanged and tradeoff_message() says what was wrong.
 *
 *   tradeoff_curve *curve = NULL;
 *   tradeoff_interval epsilon;
 *   if (tradeoff_analyze("gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)", TRADEOFF_UNSTATED, 0, &curve) == TRADEOFF_OK &&
 *       tradeoff_epsilon(curve, 1e-5, TRADEOFF_WORST, &epsilon) == TRADEOFF_OK)
 *     printf("epsilon <= %.17g\n", epsilon.hi);
 *   else
 *     fprintf(stderr, "%s\n", tradeoff_message());
 *   tradeoff_curve_free(curve);
 *
 * A double stands for its shortest decimal, which is what a user typed: 1e-5 is exactly 1/100000. The answer holds for the double as well.
 */
#ifndef TRADEOFF_C_H
#define TRADEOFF_C_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tradeoff_status {
  TRADEOFF_OK = 0,
  TRADEOFF_PARSE = 1,       /* text that is not a plan */
  TRADEOFF_DOMAIN = 2,      /* an argument outside its range, or a null pointer */
  TRADEOFF_UNSUPPORTED = 3, /* a meaningful question that no theorem here covers */
  TRADEOFF_TOO_LARGE = 4,   /* a problem above the documented limits */
  TRADEOFF_UNMET = 5,       /* a target that the plan is not proved to meet */
  TRADEOFF_NO_MEMORY = 6,
  TRADEOFF_INTERNAL = 7 /* a fault of the library; please report it */
} tradeoff_status;

/* Which change of one record the plan protects against. */
typedef enum tradeoff_neighbours {
  TRADEOFF_UNSTATED = 0,
  TRADEOFF_ADD_REMOVE = 1,
  TRADEOFF_REPLACE_ONE = 2,
  TRADEOFF_ZERO_OUT = 3
} tradeoff_neighbours;

/* Which ordered pair is asked about: REMOVE is (with the record, without it), ADD the reverse, WORST the one with the larger loss. */
typedef enum tradeoff_direction { TRADEOFF_WORST = 0, TRADEOFF_REMOVE = 1, TRADEOFF_ADD = 2 } tradeoff_direction;

typedef enum tradeoff_verdict { TRADEOFF_NO = 0, TRADEOFF_YES = 1, TRADEOFF_UNDECIDED = 2 } tradeoff_verdict;

/* lo <= true value <= hi, rounding included; never NaN, an end may be infinite. Claim the safe end: hi of epsilon, delta, mu, advantage and
 * true-positive rate, lo of beta. */
typedef struct tradeoff_interval {
  double lo;
  double hi;
} tradeoff_interval;

/* What a plan guarantees; made by tradeoff_analyze. */
typedef struct tradeoff_curve tradeoff_curve;

/* The version of the library, as "0.1.0". */
const char* tradeoff_version(void);

/* What was wrong with the last call of this thread that did not return TRADEOFF_OK. Valid until the next such call of the thread. */
const char* tradeoff_message(void);

/* Analyses a plan. `relative` is the target width of answers, above 0 and at most 1; 0 means the default, 1e-6. */
tradeoff_status tradeoff_analyze(const char* plan, tradeoff_neighbours neighbours, double relative, tradeoff_curve** curve);

/* A null pointer is allowed. */
void tradeoff_curve_free(tradeoff_curve* curve);

/* The neighbouring relation that the answers are about: the stated one, or the one that the plan needs. */
tradeoff_status tradeoff_curve_neighbours(const tradeoff_curve* curve, tradeoff_neighbours* neighbours);

/* The least delta such that the plan is (epsilon, delta)-DP; any real epsilon, and infinity. */
tradeoff_status tradeoff_delta(const tradeoff_curve* curve, double epsilon, tradeoff_direction direction, tradeoff_interval* delta);

/* The natural logarithm of delta, for values too small for a double. */
tradeoff_status tradeoff_log_delta(const tradeoff_curve* curve, double epsilon, tradeoff_direction direction, tradeoff_interval* log_delta);

/* The least epsilon >= 0 such that the plan is (epsilon, delta)-DP. */
tradeoff_status tradeoff_epsilon(const tradeoff_curve* curve, double delta, tradeoff_direction direction, tradeoff_interval* epsilon);

/* The trade-off function: the least type II error of a test whose type I error is alpha. */
tradeoff_status tradeoff_beta(const tradeoff_curve* curve, double alpha, tradeoff_direction direction, tradeoff_interval* beta);

/* The largest true-positive rate of a membership attack with this false-positive rate. */
tradeoff_status tradeoff_tpr(const tradeoff_curve* curve, double fpr, tradeoff_direction direction, tradeoff_interval* tpr);

/* The largest difference of true-positive and false-positive rate of any attack. */
tradeoff_status tradeoff_advantage(const tradeoff_curve* curve, tradeoff_direction direction, tradeoff_interval* advantage);

/* The least mu for which the plan is mu-GDP except with probability `slack`. An infinite upper end: no mu is proved. */
tradeoff_status tradeoff_mu(const tradeoff_curve* curve, double slack, tradeoff_interval* mu);

/* Whether the plan is (epsilon, delta)-DP; TRADEOFF_YES and TRADEOFF_NO are proved. */
tradeoff_status tradeoff_check(const tradeoff_curve* curve, double epsilon, double delta, tradeoff_verdict* verdict);

/* A target in words: {"epsilon", 1}, {"delta", 1e-5}; also mu, slack, advantage, fpr, tpr. */
typedef struct tradeoff_target {
  const char* word;
  double value;
} tradeoff_target;

typedef struct tradeoff_calibration {
  tradeoff_interval value; /* contains the smallest noise scale (or the largest rate, count or budget) that meets the targets */
  int safe_end_is_hi;      /* 1 for a noise scale, 0 for the others: this end is proved to meet the targets */
  char printed[48];        /* the safe end as a short decimal, rounded to the safe side; this decimal itself was verified */
} tradeoff_calibration;

/* Solves for the one `?` in the plan. All `count` words are read together. */
tradeoff_status tradeoff_calibrate(const char* plan, tradeoff_neighbours neighbours, const tradeoff_target* targets, size_t count,
                                   tradeoff_calibration* calibration);

#ifdef __cplusplus
}
#endif

#endif
