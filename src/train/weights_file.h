// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "train/trainer.h"

namespace tradeoff::detail::train {

/// The final model of a run, the running average, as a file in the safetensors format. Names and layouts are those of the PyTorch module
/// that the entry `module` of its metadata describes: `load_state_dict` takes the tensors as they are.
[[nodiscard]] std::string to_safetensors(const Progress& progress);

}  // namespace tradeoff::detail::train
