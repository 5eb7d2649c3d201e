// SPDX-License-Identifier: Apache-2.0
// Nothing: the headers that the tests share are compiled for this file (tests/CMakeLists.txt).
