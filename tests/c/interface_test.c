/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface, used by C. Exits with the number of failed expectations. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tradeoff/c.h>

static int failures = 0;

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  ++failures;
  printf("%d: %s does not hold; last message: %s\n", line, what, tradeoff_message());
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static int encloses(tradeoff_interval interval, double truth, double width) {
  return interval.lo <= truth && truth <= interval.hi && interval.hi - interval.lo <= width;
}

static tradeoff_curve *analyzed(const char *plan) {
  tradeoff_curve *curve = NULL;
  EXPECT(tradeoff_analyze(plan, TRADEOFF_UNSTATED, 0, &curve) == TRADEOFF_OK);
  return curve;
}

/* delta(1) = Phi(-1/2) - e Phi(-3/2) and beta(1/2) = Phi(-1) of one Gaussian with sigma 1, to 17 digits (mpmath). */
static void answers_of_a_gaussian(void) {
  tradeoff_curve *curve = analyzed("gaussian(sigma=1)");
  tradeoff_interval answer;
  tradeoff_verdict verdict;
  tradeoff_neighbours neighbours = TRADEOFF_ZERO_OUT;
  EXPECT(tradeoff_delta(curve, 1, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 0.12693673750664395, 1e-12));
  EXPECT(tradeoff_log_delta(curve, 1, TRADEOFF_ADD, &answer) == TRADEOFF_OK && encloses(answer, log(0.12693673750664395), 1e-10));
  EXPECT(tradeoff_delta(curve, -1, TRADEOFF_WORST, &answer) == TRADEOFF_OK && answer.lo >= 0.6);
  EXPECT(tradeoff_delta(curve, INFINITY, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 0, 1e-300));
  EXPECT(tradeoff_epsilon(curve, 0.12693673750664395, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 1, 1e-5));
  EXPECT(tradeoff_beta(curve, 0.5, TRADEOFF_REMOVE, &answer) == TRADEOFF_OK && encloses(answer, 0.15865525393145705, 1e-10));
  EXPECT(tradeoff_tpr(curve, 0.5, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 1 - 0.15865525393145705, 1e-10));
  EXPECT(tradeoff_advantage(curve, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 0.38292492254802621, 1e-10));
  EXPECT(tradeoff_mu(curve, 0, &answer) == TRADEOFF_OK && encloses(answer, 1, 1e-5));
  EXPECT(tradeoff_mu(curve, 1e-6, &answer) == TRADEOFF_OK && answer.lo > 0.9 && answer.hi <= 1.0001);
  EXPECT(tradeoff_check(curve, 1, 0.127, &verdict) == TRADEOFF_OK && verdict == TRADEOFF_YES);
  EXPECT(tradeoff_check(curve, 1, 0.126, &verdict) == TRADEOFF_OK && verdict == TRADEOFF_NO);
  EXPECT(tradeoff_curve_neighbours(curve, &neighbours) == TRADEOFF_OK && neighbours == TRADEOFF_UNSTATED);
  tradeoff_curve_free(curve);
}

/* 1e-5 is the decimal: the plan states its guarantee for it, so the answer is exact. */
static void a_double_is_its_decimal(void) {
  tradeoff_curve *curve = analyzed("dp(epsilon=0.3, delta=1e-5)");
  tradeoff_interval answer;
  tradeoff_verdict verdict;
  EXPECT(tradeoff_epsilon(curve, 1e-5, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 0.3, 1e-15));
  EXPECT(tradeoff_check(curve, 0.3, 1e-5, &verdict) == TRADEOFF_OK && verdict == TRADEOFF_YES);
  tradeoff_curve_free(curve);
}

static void sampling_states_its_neighbours(void) {
  tradeoff_curve *curve = analyzed("gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)");
  tradeoff_interval answer;
  tradeoff_neighbours neighbours;
  EXPECT(tradeoff_epsilon(curve, 1e-5, TRADEOFF_WORST, &answer) == TRADEOFF_OK && encloses(answer, 2.3816897261416, 1e-6));
  EXPECT(tradeoff_curve_neighbours(curve, &neighbours) == TRADEOFF_OK && neighbours == TRADEOFF_ADD_REMOVE);
  tradeoff_curve_free(curve);
}

static void calibration(void) {
  const tradeoff_target targets[] = {{"epsilon", 1}, {"delta", 1e-6}};
  const tradeoff_target twice[] = {{"mu", 1}, {"mu", 2}};
  const tradeoff_target unknown = {"privacy", 1};
  tradeoff_calibration found;
  char plan[80];
  tradeoff_curve *curve;
  tradeoff_verdict verdict;
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, targets, 2, &found) == TRADEOFF_OK);
  EXPECT(found.safe_end_is_hi == 1 && found.value.lo > 4.2 && found.value.hi < 4.3);
  snprintf(plan, sizeof plan, "gaussian(sigma=%s)", found.printed);
  curve = analyzed(plan);
  EXPECT(tradeoff_check(curve, 1, 1e-6, &verdict) == TRADEOFF_OK && verdict == TRADEOFF_YES);
  tradeoff_curve_free(curve);
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, targets, 1, &found) == TRADEOFF_DOMAIN);
  EXPECT(strstr(tradeoff_message(), "delta") != NULL);
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, NULL, 0, &found) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, NULL, 1, &found) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, twice, 2, &found) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_calibrate("gaussian(sigma=?)", TRADEOFF_UNSTATED, &unknown, 1, &found) == TRADEOFF_DOMAIN);
  EXPECT(strstr(tradeoff_message(), "privacy") != NULL);
}

/* What fails says why, and changes no result. */
static void errors(void) {
  tradeoff_curve *untouched = NULL, *curve = analyzed("laplace(scale=1)");
  tradeoff_interval answer = {-7, -7};
  EXPECT(tradeoff_analyze("gausian(sigma=1)", TRADEOFF_UNSTATED, 0, &untouched) == TRADEOFF_PARSE && untouched == NULL);
  EXPECT(strstr(tradeoff_message(), "gaussian") != NULL);
  EXPECT(tradeoff_analyze("gaussian(sigma=-1)", TRADEOFF_UNSTATED, 0, &untouched) == TRADEOFF_DOMAIN && untouched == NULL);
  EXPECT(tradeoff_analyze(NULL, TRADEOFF_UNSTATED, 0, &untouched) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_analyze("gaussian(1)", (tradeoff_neighbours)9, 0, &untouched) == TRADEOFF_DOMAIN && untouched == NULL);
  EXPECT(tradeoff_analyze("gaussian(1)", TRADEOFF_UNSTATED, NAN, &untouched) == TRADEOFF_DOMAIN && untouched == NULL);
  EXPECT(tradeoff_analyze("gaussian(1)", TRADEOFF_UNSTATED, 0, NULL) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_delta(NULL, 1, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_delta(curve, 1, TRADEOFF_WORST, NULL) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_delta(curve, NAN, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_delta(curve, -INFINITY, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_delta(curve, 1, (tradeoff_direction)5, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_epsilon(curve, 1.5, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(strstr(tradeoff_message(), "delta") != NULL);
  EXPECT(tradeoff_epsilon(curve, INFINITY, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_beta(curve, -0.1, TRADEOFF_WORST, &answer) == TRADEOFF_DOMAIN);
  EXPECT(tradeoff_mu(curve, 1, &answer) == TRADEOFF_DOMAIN);
  EXPECT(answer.lo == -7 && answer.hi == -7);
  tradeoff_curve_free(curve);
  tradeoff_curve_free(NULL);
}

/* A program may have set a locale with a decimal comma. Where none is installed, this asks again in the usual one. */
static void locales(void) {
  const char *names[] = {"de_DE.UTF-8", "de_DE", "German_Germany.1252"};
  size_t i = 0;
  while (i < 3 && setlocale(LC_ALL, names[i]) == NULL) ++i;
  printf("locale: %s, decimal point '%s'\n", setlocale(LC_ALL, NULL), localeconv()->decimal_point);
  answers_of_a_gaussian();
  a_double_is_its_decimal();
  sampling_states_its_neighbours();
  calibration();
  EXPECT(i == 3 || strcmp(localeconv()->decimal_point, ",") == 0);
  setlocale(LC_ALL, "C");
}

int main(void) {
  EXPECT(strchr(tradeoff_version(), '.') != NULL);
  EXPECT(strcmp(tradeoff_message(), "") == 0);
  answers_of_a_gaussian();
  a_double_is_its_decimal();
  sampling_states_its_neighbours();
  calibration();
  errors();
  locales();
  if (failures == 0) puts("the C interface works");
  return failures == 0 ? 0 : 1;
}
