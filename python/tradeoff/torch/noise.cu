// SPDX-License-Identifier: Apache-2.0
// Exact rounded Gaussian noise on a GPU: words of ChaCha20, the certified quantile table, integer arithmetic only. [gpu-noise]
//
// A word gives the value floor(scale * quantile + 1/2) in up to three attempts. The first uses the upper 32 bits of the table, which lie in
// shared memory; the second all 64 bits, as the processor's kernel does; a word that 64 bits do not decide is reported, and the host
// decides it. The host compiles this file with nvcc and calls the functions at its end (tradeoff/torch/_gpu.py).
#include <cstdint>

namespace {

constexpr int octaves = 40;                    // of the table; the limits of further octaves are 0
constexpr int rows = octaves * 64;
constexpr int guard = 9;                       // fractional bits of the sum of all terms but the constant one
constexpr int threads = 512;
constexpr std::uint64_t draws_in_block = 8;    // a block of ChaCha20 is eight words of 64 bits
constexpr int terms = 5;                       // of the first attempt: coefficients 6 and 7 have no upper half (checked by the host)
constexpr std::uint64_t short_error = 16;      // of the first attempt, in units of 2^-32 [gpu-noise]

/// The constants of one scale, as KernelData of src/noise/kernel.h, with the limits of the first attempt.
struct Scale {
  std::uint64_t numerator;
  std::uint64_t offset_high, offset_low;
  std::uint64_t errors[64], limits[64], short_limits[64];
  int shift;
};

struct Key {
  std::uint32_t words[8];
};

__device__ __forceinline__ void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b; d ^= a; d = __funnelshift_l(d, d, 16);
  c += d; b ^= c; b = __funnelshift_l(b, b, 12);
  a += b; d ^= a; d = __funnelshift_l(d, d, 8);
  c += d; b ^= c; b = __funnelshift_l(b, b, 7);
}

/// Block `counter` of ChaCha20 with a counter of 64 bits and a nonce of zero.
__device__ __forceinline__ void chacha20(const Key& key, std::uint64_t counter, std::uint32_t (&x)[16]) {
  const std::uint32_t low = static_cast<std::uint32_t>(counter), high = static_cast<std::uint32_t>(counter >> 32);
  x[0] = 0x61707865; x[1] = 0x3320646e; x[2] = 0x79622d32; x[3] = 0x6b206574;
#pragma unroll
  for (int i = 0; i < 8; ++i) x[4 + i] = key.words[i];
  x[12] = low; x[13] = high; x[14] = 0; x[15] = 0;
#pragma unroll
  for (int round = 0; round < 20; round += 2) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  x[0] += 0x61707865; x[1] += 0x3320646e; x[2] += 0x79622d32; x[3] += 0x6b206574;
#pragma unroll
  for (int i = 0; i < 8; ++i) x[4 + i] += key.words[i];
  x[12] += low; x[13] += high;
}

/// (numerator * z >> shift) + offset with 64 integer and 64 fractional bits: returns the integer, writes the fraction.
__device__ __forceinline__ std::uint64_t scaled(const Scale& scale, std::uint64_t z, std::uint64_t& fraction) {
  std::uint64_t low = scale.numerator * z, high = __umul64hi(scale.numerator, z);
  const int shift = scale.shift;  // 0 .. 127
  if (shift >= 64) {
    low = high >> (shift - 64);
    high = 0;
  } else if (shift > 0) {
    low = (low >> shift) | (high << (64 - shift));
    high >>= shift;
  }
  fraction = low + scale.offset_low;
  return high + scale.offset_high + (fraction < low ? 1 : 0);
}

__device__ __forceinline__ std::int64_t with_sign(std::uint64_t magnitude, std::uint64_t word) {
  const std::uint64_t mask = 0 - (word & 1);
  return static_cast<std::int64_t>((magnitude ^ mask) - mask);
}

/// All 64 bits; the same steps as on the processor. [integer-inversion]
__device__ __noinline__ bool decide(const Scale& scale, const std::uint64_t* __restrict__ table, std::uint64_t word, std::int64_t& value) {
  const std::uint64_t v = word | 1;
  const int octave = __clzll(static_cast<long long>(v)), known = octave < octaves ? octave : octaves - 1;
  const std::uint64_t fraction = (v << octave) << 1, t = ~(fraction << 6);
  const std::uint64_t* row = table + (((known << 6) | static_cast<int>(fraction >> 58)) << 3);
  std::uint64_t inner = row[7];
#pragma unroll
  for (int k = 6; k >= 1; --k) inner = row[k] + __umul64hi(inner, t);
  std::uint64_t part = 0;
  value = with_sign(scaled(scale, row[0] + (__umul64hi(inner, t) >> guard), part), word);
  return part - scale.errors[octave] < scale.limits[octave];
}

/// The table in shared memory, column by column, so that the threads of a warp use different banks.
struct ShortTable {
  std::uint64_t constants[rows];
  std::uint32_t slopes[terms][rows];  // the upper halves of coefficients 1 to 5
};

__device__ __forceinline__ bool decide_shortly(const Scale& scale, const ShortTable& table, std::uint64_t word, std::int64_t& value) {
  const std::uint64_t v = word | 1;
  const int octave = __clzll(static_cast<long long>(v)), known = octave < octaves ? octave : octaves - 1;
  const std::uint64_t fraction = (v << octave) << 1;
  const int row = (known << 6) | static_cast<int>(fraction >> 58);
  const std::uint32_t t = static_cast<std::uint32_t>(~(fraction << 6) >> 32);
  std::uint32_t inner = table.slopes[terms - 1][row];
#pragma unroll
  for (int k = terms - 1; k >= 1; --k) inner = table.slopes[k - 1][row] + __umulhi(inner, t);
  const std::uint64_t z = table.constants[row] + (static_cast<std::uint64_t>(__umulhi(inner, t)) << (32 - guard));
  std::uint64_t part = 0;
  value = with_sign(scaled(scale, z, part), word);
  return part - scale.errors[octave] < scale.short_limits[octave];
}

/// A word that the host decides, and its place.
struct Undecided {
  std::uint64_t place, word;
};

__global__ void __launch_bounds__(threads) draw_kernel(Key key, const Scale* __restrict__ given, const std::uint64_t* __restrict__ table,
                                                       std::uint64_t count, std::int64_t* __restrict__ values, Undecided* undecided,
                                                       unsigned long long capacity, unsigned long long* found) {
  extern __shared__ __align__(16) unsigned char memory[];
  ShortTable& short_table = *reinterpret_cast<ShortTable*>(memory);
  Scale& scale = *reinterpret_cast<Scale*>(memory + sizeof(ShortTable));
  for (int i = threadIdx.x; i < rows; i += threads) {
    short_table.constants[i] = table[i << 3];
    for (int k = 1; k <= terms; ++k) short_table.slopes[k - 1][i] = static_cast<std::uint32_t>(table[(i << 3) | k] >> 32);
  }
  for (unsigned i = threadIdx.x; i < sizeof(Scale) / 8; i += threads)
    reinterpret_cast<std::uint64_t*>(&scale)[i] = reinterpret_cast<const std::uint64_t*>(given)[i];
  __syncthreads();

  const std::uint64_t blocks = (count + draws_in_block - 1) / draws_in_block, stride = static_cast<std::uint64_t>(gridDim.x) * threads;
  for (std::uint64_t block = blockIdx.x * static_cast<std::uint64_t>(threads) + threadIdx.x; block < blocks; block += stride) {
    std::uint32_t x[16];
    chacha20(key, block, x);
    std::int64_t drawn[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t word = x[2 * i] | static_cast<std::uint64_t>(x[2 * i + 1]) << 32;
      if (decide_shortly(scale, short_table, word, drawn[i]) || decide(scale, table, word, drawn[i])) continue;
      const std::uint64_t place = block * draws_in_block + i;
      if (place >= count) continue;
      const unsigned long long slot = atomicAdd(found, 1ULL);
      if (slot < capacity) undecided[slot] = {place, word};
    }
    const std::uint64_t first = block * draws_in_block;
    if (first + draws_in_block <= count) {
      longlong2* to = reinterpret_cast<longlong2*>(values + first);
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i] = make_longlong2(drawn[2 * i], drawn[2 * i + 1]);
    } else {
      for (int i = 0; i < 8; ++i)
        if (first + i < count) values[first + i] = drawn[i];
    }
  }
}

/// The key stream alone, as words of 64 bits: for tests, and as a bound of the speed.
__global__ void words_kernel(Key key, std::uint64_t count, std::uint64_t* __restrict__ words) {
  const std::uint64_t blocks = (count + draws_in_block - 1) / draws_in_block, stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t block = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; block < blocks; block += stride) {
    std::uint32_t x[16];
    chacha20(key, block, x);
    const std::uint64_t first = block * draws_in_block;
    if (first + draws_in_block <= count) {
      uint4* to = reinterpret_cast<uint4*>(words + first);
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i] = make_uint4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
    } else {
      for (int i = 0; i < 8; ++i)
        if (first + i < count) words[first + i] = x[2 * i] | static_cast<std::uint64_t>(x[2 * i + 1]) << 32;
    }
  }
}

Key key_of(const std::uint32_t* words) {
  Key key{};
  for (int i = 0; i < 8; ++i) key.words[i] = words[i];
  return key;
}

/// As many thread blocks as the processors hold at once.
int grid_for(const void* kernel, int block, std::size_t shared) {
  int device = 0, processors = 0, each = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block, shared);
  return processors * (each > 0 ? each : 1);
}

}  // namespace

// Called by the host. Pointers are to memory of the device except `key`; the return value is a cudaError_t.
extern "C" {

std::uint64_t tradeoff_scale_bytes() { return sizeof(Scale); }
std::uint64_t tradeoff_short_error() { return short_error; }

int tradeoff_draw(const std::uint32_t* key, const void* scale, const std::uint64_t* table, std::uint64_t count, std::int64_t* values,
                  void* undecided, std::uint64_t capacity, std::uint64_t* found, void* stream) {
  constexpr std::size_t shared = sizeof(ShortTable) + sizeof(Scale);
  const cudaError_t error = cudaFuncSetAttribute(draw_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error != cudaSuccess) return error;
  if (count == 0) return cudaSuccess;
  draw_kernel<<<grid_for(reinterpret_cast<const void*>(draw_kernel), threads, shared), threads, shared, static_cast<cudaStream_t>(stream)>>>(
      key_of(key), static_cast<const Scale*>(scale), table, count, values, static_cast<Undecided*>(undecided), capacity,
      reinterpret_cast<unsigned long long*>(found));
  return cudaGetLastError();
}

int tradeoff_words(const std::uint32_t* key, std::uint64_t count, std::uint64_t* words, void* stream) {
  if (count == 0) return cudaSuccess;
  words_kernel<<<grid_for(reinterpret_cast<const void*>(words_kernel), 256, 0), 256, 0, static_cast<cudaStream_t>(stream)>>>(key_of(key), count,
                                                                                                                      words);
  return cudaGetLastError();
}

}  // extern "C"
