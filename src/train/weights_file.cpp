// SPDX-License-Identifier: Apache-2.0
#include "train/weights_file.h"

#include <bit>

namespace tradeoff::detail::train {
namespace {

/// The file while it is put together.
class TensorFile {
 public:
  /// A tensor of this shape, as JSON; `at(i)` is its entry i, the last dimension first.
  template <class At>
  void add(const std::string& name, const std::string& shape, std::size_t count, const At& at) {
    const std::size_t from = bytes_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(at(i)));
      for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 255U);  // little-endian
    }
    header_ += ",\"" + name + R"(":{"dtype":"F32","shape":)" + shape + ",\"data_offsets\":[" + std::to_string(from) + "," +
               std::to_string(bytes_.size()) + "]}";
  }
  [[nodiscard]] std::string finish(const std::string& metadata) const {
    std::string header = "{\"__metadata__\":{" + metadata + "}" + header_ + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');  // the format aligns the data to 8 bytes
    std::string text;
    for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> shift & 255U);
    return text + header + bytes_;
  }

 private:
  std::string header_, bytes_;
};

std::string pair(std::size_t rows, std::size_t columns) { return "[" + std::to_string(rows) + "," + std::to_string(columns) + "]"; }

std::string linear(std::size_t inputs, std::size_t outputs) {
  return "Linear(" + std::to_string(inputs) + ", " + std::to_string(outputs) + ")";
}

}  // namespace

std::string to_safetensors(const Progress& progress) {
  const ModelShape& shape = progress.terms.shape;
  const Model model(shape);
  const std::vector<Model::Layer>& layers = model.layers();
  TensorFile file;
  // Our layers have a row for each input and a last one for the bias; PyTorch's weights have a row for each output. `place` gives the row
  // of ours for an input of PyTorch's.
  const auto add = [&](const Model::Layer& layer, const std::string& name, const std::string& weight_shape, const auto& place) {
    const float* values = progress.average.data() + layer.offset;
    const std::size_t inputs = layer.rows - 1;
    file.add(name + ".weight", weight_shape, inputs * layer.columns,
             [&](std::size_t i) { return values[place(i % inputs) * layer.columns + i / inputs]; });
    file.add(name + ".bias", "[" + std::to_string(layer.columns) + "]", layer.columns,
             [&](std::size_t i) { return values[inputs * layer.columns + i]; });
  };
  const auto same = [](std::size_t i) { return i; };
  const auto dense = [&](std::size_t which, const std::string& name) {
    add(layers[which], name, pair(layers[which].columns, layers[which].rows - 1), same);
  };
  std::string module;
  if (shape.filters > 0) {
    const std::size_t places = (layers[1].rows - 1) / shape.filters;  // after pooling; PyTorch's Flatten puts the filter first
    add(layers[0], "0", "[" + std::to_string(shape.filters) + ",1,5,5]", same);
    add(layers[1], "4", pair(layers[1].columns, layers[1].rows - 1),
        [&](std::size_t i) { return i % places * shape.filters + i / places; });
    module = "Conv2d(1, " + std::to_string(shape.filters) + ", 5, stride=2), Tanh(), AvgPool2d(2), Flatten(), " +
             linear(layers[1].rows - 1, shape.classes);
  } else if (shape.hidden > 0) {
    dense(0, "0");
    dense(1, "2");
    module = linear(shape.inputs, shape.hidden) + ", Tanh(), " + linear(shape.hidden, shape.classes);
  } else {
    dense(0, "0");
    module = linear(shape.inputs, shape.classes);
  }
  return file.finish("\"module\":\"Sequential(" + module + ")\",\"features\":\"" + progress.terms.features + "\",\"plan\":\"" +
                     drawn_plan(progress.terms, progress.steps_done) + "\"");
}

}  // namespace tradeoff::detail::train
