// SPDX-License-Identifier: Apache-2.0
// Clips the gradients of single examples to integers and sums them, on a GPU: the passes of src/noise/clipped_sum.cpp. [torch-step]
//
// A pass reads the gradients of all parameters; a thread block takes some columns of one parameter. Sums of floating-point numbers are
// formed in an order that depends on the shapes only; sums of integers in any order.
#include <cstdint>

namespace {

constexpr int threads = 256;
constexpr std::uint64_t chunk = 4096;                     // columns of a block
constexpr int rows_at_once = 64;                          // examples whose integers a thread sums before it adds them to the total
constexpr float most = 2097152;                           // 2^21: no entry is larger
constexpr unsigned long long too_much = 1ULL << 43;       // above the square of any bound; sums of 2^20 of these do not overflow

/// The gradients of one parameter. Chunks are numbered over all parameters.
struct Parameter {
  const float* values;
  unsigned long long* sums;
  std::uint64_t columns, first_chunk;
};

struct Place {
  Parameter parameter;
  std::uint64_t from, to;
};

__device__ Place place_of(const Parameter* parameters, int count, std::uint64_t number) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (parameters[middle].first_chunk <= number)
      low = middle;
    else
      high = middle - 1;
  }
  const Parameter found = parameters[low];
  const std::uint64_t from = (number - found.first_chunk) * chunk;
  return {found, from, from + chunk < found.columns ? from + chunk : found.columns};
}

template <class T>
__device__ T sum_of_block(T value) {
  __shared__ T partial[threads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  return partial[0];
}

/// The integer of an entry; the same in both passes that use it.
__device__ __forceinline__ int whole(float value, float scale) { return static_cast<int>(fminf(fmaxf(__fmul_rn(value, scale), -most), most)); }

/// The rounded sum of squares of each example in each chunk.
__global__ void __launch_bounds__(threads) norm_kernel(const Parameter* parameters, int count, std::uint64_t chunks, double* partial) {
  const Place place = place_of(parameters, count, blockIdx.x);
  const float* row = place.parameter.values + blockIdx.y * place.parameter.columns;
  double sum = 0;
  for (std::uint64_t i = place.from + threadIdx.x; i < place.to; i += threads) sum += static_cast<double>(row[i]) * row[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.y * chunks + blockIdx.x] = sum;
}

/// The factor of each example: 0 for padding, and for gradients that are not finite.
__global__ void __launch_bounds__(threads) scale_kernel(const double* partial, std::uint64_t chunks, const bool* mask, double step, double limit,
                                                        float* scales, bool* is_long, unsigned long long* squares) {
  const std::uint64_t row = blockIdx.x;
  double sum = 0;
  for (std::uint64_t i = threadIdx.x; i < chunks; i += threads) sum += partial[row * chunks + i];
  const double norm = sqrt(sum_of_block(sum)) / step;
  if (threadIdx.x != 0) return;
  is_long[row] = norm > limit;
  const bool is_finite = norm < 1e300;  // false for NaN
  scales[row] = mask[row] && is_finite ? static_cast<float>((norm > limit ? limit / norm : 1.0) / step) : 0.0F;
  squares[row] = is_finite ? 0 : too_much;
}

/// The exact squared norm of the integers of each example, or more than the square of any bound.
__global__ void __launch_bounds__(threads) check_kernel(const Parameter* parameters, int count, const float* scales, unsigned long long* squares) {
  const float scale = scales[blockIdx.y];
  if (scale == 0) return;
  const Place place = place_of(parameters, count, blockIdx.x);
  const float* row = place.parameter.values + blockIdx.y * place.parameter.columns;
  unsigned long long sum = 0;  // of at most 2^4 squares of at most 2^42
  for (std::uint64_t i = place.from + threadIdx.x; i < place.to; i += threads) {
    const long long one = whole(row[i], scale);
    sum += static_cast<unsigned long long>(one * one);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) atomicAdd(squares + blockIdx.y, sum < too_much ? sum : too_much);
}

/// Adds the integers of the examples that passed the check.
__global__ void __launch_bounds__(threads) add_kernel(const Parameter* parameters, int count, int rows, const float* scales,
                                                      const unsigned long long* squares, unsigned long long bound) {
  const Place place = place_of(parameters, count, blockIdx.x);
  const int first = blockIdx.y * rows_at_once, last = min(rows, first + rows_at_once);
  __shared__ float kept[rows_at_once];
  if (threadIdx.x < last - first)
    kept[threadIdx.x] = squares[first + threadIdx.x] <= bound * bound ? scales[first + threadIdx.x] : 0.0F;
  __syncthreads();
  for (std::uint64_t i = place.from + threadIdx.x; i < place.to; i += threads) {
    int sum = 0;  // of at most 2^6 numbers of at most 2^21
    for (int row = first; row < last; ++row)
      if (kept[row - first] != 0) sum += whole(place.parameter.values[row * place.parameter.columns + i], kept[row - first]);
    if (sum != 0) atomicAdd(place.parameter.sums + i, static_cast<unsigned long long>(static_cast<long long>(sum)));
  }
}

}  // namespace

// Called by the host. Pointers are to memory of the device; the return value is a cudaError_t.
extern "C" {

std::uint64_t tradeoff_clip_chunk() { return chunk; }
std::uint64_t tradeoff_parameter_bytes() { return sizeof(Parameter); }

int tradeoff_clip(const void* parameters, int count, std::uint64_t chunks, int rows, const bool* mask, double step, std::uint64_t bound, double limit,
                  double* partial, float* scales, bool* is_long, unsigned long long* squares, void* given) {
  if (rows == 0 || chunks == 0) return cudaSuccess;
  const auto* all = static_cast<const Parameter*>(parameters);
  const auto stream = static_cast<cudaStream_t>(given);
  const dim3 each(static_cast<unsigned>(chunks), static_cast<unsigned>(rows));
  const dim3 together(static_cast<unsigned>(chunks), static_cast<unsigned>((rows + rows_at_once - 1) / rows_at_once));
  norm_kernel<<<each, threads, 0, stream>>>(all, count, chunks, partial);
  scale_kernel<<<rows, threads, 0, stream>>>(partial, chunks, mask, step, limit, scales, is_long, squares);
  check_kernel<<<each, threads, 0, stream>>>(all, count, scales, squares);
  add_kernel<<<together, threads, 0, stream>>>(all, count, rows, scales, squares, bound);
  return cudaGetLastError();
}

}  // extern "C"
