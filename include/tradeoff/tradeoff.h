// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes the whole accountant: plans, curves, calibration, Gaussian DP, limits, comparison, exact noise.
// The study of the methods has a header of its own, tradeoff/research.h.
#include "tradeoff/analyze.h"
#include "tradeoff/approximate.h"
#include "tradeoff/builder.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/compare.h"
#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"
#include "tradeoff/plan.h"
#include "tradeoff/provenance.h"
#include "tradeoff/release.h"
#include "tradeoff/sgd.h"
#include "tradeoff/targets.h"
#include "tradeoff/version.h"
