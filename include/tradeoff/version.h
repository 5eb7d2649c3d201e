// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of these headers; CMake and the Python package read it here.
#define TRADEOFF_VERSION "0.1.0"
