/* SPDX-License-Identifier: Apache-2.0 */
/* R and the C interface exchange text and doubles. A failed call of the interface is an error of R with its message. */
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <tradeoff/c.h>

static void must(tradeoff_status status) {
  if (status != TRADEOFF_OK) Rf_error("%s", tradeoff_message());
}

static void free_curve(SEXP pointer) {
  tradeoff_curve_free((tradeoff_curve *)R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

/* Marks our pointers: R code can put any value, also a pointer of another package, into an object. */
static SEXP our_tag(void) { return Rf_install("tradeoff_curve"); }

static const tradeoff_curve *curve_of(SEXP pointer) {
  const tradeoff_curve *curve = NULL;
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != our_tag()) Rf_error("this is not a curve made by tradeoff(plan)");
  curve = (const tradeoff_curve *)R_ExternalPtrAddr(pointer);
  if (curve == NULL) Rf_error("this curve was saved and loaded, or copied from another process; make it again by tradeoff(plan)");
  return curve;
}

static SEXP analyze(SEXP plan, SEXP neighbours, SEXP relative) {
  tradeoff_curve *curve = NULL;
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, our_tag(), R_NilValue)); /* before the curve: it may fail */
  R_RegisterCFinalizerEx(pointer, free_curve, TRUE);
  must(tradeoff_analyze(Rf_translateCharUTF8(STRING_ELT(plan, 0)), (tradeoff_neighbours)Rf_asInteger(neighbours), Rf_asReal(relative),
                        &curve));
  R_SetExternalPtrAddr(pointer, curve);
  UNPROTECT(1);
  return pointer;
}

static SEXP neighbours_of(SEXP pointer) {
  tradeoff_neighbours neighbours = TRADEOFF_UNSTATED;
  must(tradeoff_curve_neighbours(curve_of(pointer), &neighbours));
  return Rf_ScalarInteger((int)neighbours);
}

typedef tradeoff_status (*question)(const tradeoff_curve *, double, tradeoff_direction, tradeoff_interval *);

static tradeoff_status advantage(const tradeoff_curve *curve, double ignored, tradeoff_direction direction, tradeoff_interval *answer) {
  (void)ignored;
  return tradeoff_advantage(curve, direction, answer);
}

static tradeoff_status mu(const tradeoff_curve *curve, double slack, tradeoff_direction direction, tradeoff_interval *answer) {
  (void)direction;
  return tradeoff_mu(curve, slack, answer);
}

/* In the order of `questions` in R/tradeoff.R. */
static const question questions[] = {tradeoff_epsilon, tradeoff_delta, tradeoff_beta, tradeoff_tpr, advantage, mu};

/* A matrix with the columns lo and hi. */
static SEXP ask(SEXP pointer, SEXP which, SEXP levels, SEXP direction) {
  const tradeoff_curve *curve = curve_of(pointer);
  const question asked = questions[Rf_asInteger(which)];
  const R_xlen_t count = XLENGTH(levels);
  SEXP answers = PROTECT(Rf_allocMatrix(REALSXP, (int)count, 2));
  for (R_xlen_t i = 0; i < count; ++i) {
    tradeoff_interval answer = {0, 0};
    R_CheckUserInterrupt();
    must(asked(curve, REAL(levels)[i], (tradeoff_direction)Rf_asInteger(direction), &answer));
    REAL(answers)[i] = answer.lo;
    REAL(answers)[i + count] = answer.hi;
  }
  UNPROTECT(1);
  return answers;
}

static SEXP check(SEXP pointer, SEXP epsilon, SEXP delta) {
  tradeoff_verdict verdict = TRADEOFF_UNDECIDED;
  must(tradeoff_check(curve_of(pointer), Rf_asReal(epsilon), Rf_asReal(delta), &verdict));
  return Rf_ScalarInteger((int)verdict);
}

static SEXP calibrate(SEXP plan, SEXP neighbours, SEXP words, SEXP values) {
  const R_xlen_t count = XLENGTH(words);
  tradeoff_target *targets = (tradeoff_target *)R_alloc((size_t)count, sizeof(tradeoff_target));
  tradeoff_calibration found;
  for (R_xlen_t i = 0; i < count; ++i) {
    targets[i].word = CHAR(STRING_ELT(words, i));
    targets[i].value = REAL(values)[i];
  }
  must(tradeoff_calibrate(Rf_translateCharUTF8(STRING_ELT(plan, 0)), (tradeoff_neighbours)Rf_asInteger(neighbours), targets, (size_t)count,
                          &found));
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  SEXP ends = PROTECT(Rf_allocVector(REALSXP, 2));
  REAL(ends)[0] = found.value.lo;
  REAL(ends)[1] = found.value.hi;
  SET_VECTOR_ELT(result, 0, ends);
  SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(found.safe_end_is_hi));
  SET_VECTOR_ELT(result, 2, Rf_mkString(found.printed));
  UNPROTECT(2);
  return result;
}

static SEXP version(void) { return Rf_mkString(tradeoff_version()); }

static const R_CallMethodDef methods[] = {{"analyze", (DL_FUNC)&analyze, 3},     {"neighbours_of", (DL_FUNC)&neighbours_of, 1},
                                          {"ask", (DL_FUNC)&ask, 4},             {"check", (DL_FUNC)&check, 3},
                                          {"calibrate", (DL_FUNC)&calibrate, 4}, {"version", (DL_FUNC)&version, 0},
                                          {NULL, NULL, 0}};

void R_init_tradeoff(DllInfo *info) {
  R_registerRoutines(info, NULL, methods, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
