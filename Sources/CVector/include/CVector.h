#pragma once

/* Vector instructions that Swift has no name for, or does not reliably choose for its own operators. Each function is
   pure arithmetic on registers, which is what its attribute promises to Swift's check of the audio thread, and is
   compiled into its caller. */
#define SOSTENUTO_VECTOR static inline __attribute__((always_inline, swift_attr("@_noLocks")))

/* Swift's SIMD16<Float>. */
typedef float sostenuto_frames __attribute__((ext_vector_type(16)));

/* Swift's SIMD16<UInt32>. */
typedef unsigned sostenuto_bits __attribute__((ext_vector_type(16)));

/* Swift's SIMD16<Int32>. */
typedef int sostenuto_integers __attribute__((ext_vector_type(16)));

/* Whether the registers that are built for hold sixteen floats each, and there are 32 of them. */
#ifdef __AVX512F__
enum { sostenuto_has_wide_vectors = 1 };
#else
enum { sostenuto_has_wide_vectors = 0 };
#endif

/* sum + a * b, rounded once where the processor does this in one instruction, vfmadd231ps; else twice. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_add_product(sostenuto_frames sum, sostenuto_frames a, sostenuto_frames b) {
  return a * b + sum;
}

/* True when a lane exceeds the limit; none has its highest bit set. A comparison of all lanes and a test of its mask,
   where Swift's any() goes lane by lane: vpcmpgtd and kortestw, or vpmovmskb. */
SOSTENUTO_VECTOR _Bool sostenuto_exceed(sostenuto_bits v, unsigned limit) {
  return __builtin_reduce_or((sostenuto_integers)v > (int)limit) != 0;
}

/* The larger of each pair of lanes, vpmaxud. Swift's pointwiseMax() may be a call. */
SOSTENUTO_VECTOR sostenuto_bits sostenuto_larger(sostenuto_bits a, sostenuto_bits b) {
  return __builtin_elementwise_max(a, b);
}

/* The least and the largest of the lanes: vpminud and vpmaxud on halves of halves, where Swift's min() and max() go lane
   by lane. */
SOSTENUTO_VECTOR unsigned sostenuto_least(sostenuto_bits v) { return __builtin_reduce_min(v); }
SOSTENUTO_VECTOR unsigned sostenuto_largest(sostenuto_bits v) { return __builtin_reduce_max(v); }

/* Swift's SIMD8<Float>. */
typedef float sostenuto_eight __attribute__((ext_vector_type(8)));

SOSTENUTO_VECTOR sostenuto_eight sostenuto_add_product_of_eight(sostenuto_eight sum, sostenuto_eight a, sostenuto_eight b) {
  return a * b + sum;
}

/* Signed 16-bit integers as floats: vpmovsxwd and vcvtdq2ps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_load_words(const void *words) {
  typedef short words_of_memory __attribute__((ext_vector_type(16), aligned(2)));
  return __builtin_convertvector(*(const words_of_memory *)words, sostenuto_frames);
}

SOSTENUTO_VECTOR sostenuto_eight sostenuto_load_eight_words(const void *words) {
  typedef short words_of_memory __attribute__((ext_vector_type(8), aligned(2)));
  return __builtin_convertvector(*(const words_of_memory *)words, sostenuto_eight);
}

/* Of the 32 numbers at an address those with sixteen indices (0...31): vpermi2ps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_pick(const float *numbers, sostenuto_bits indices) {
#ifdef __AVX512F__
  typedef float numbers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef float floats __attribute__((vector_size(64)));
  typedef int integers __attribute__((vector_size(64)));
  return (sostenuto_frames)__builtin_ia32_vpermi2varps512(
      (floats) * (const numbers_of_memory *)numbers, (integers)indices, (floats) * (const numbers_of_memory *)(numbers + 16));
#else
  sostenuto_frames picked;
  for (int i = 0; i < 16; i++) picked[i] = numbers[indices[i] & 31];
  return picked;
#endif
}

/* The sums of sixteen rows of eight numbers: halves are added, then quarters, then pairs, with shuffles within a
   quarter of the register. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_sum_rows(const float *rows) {
  typedef float rows_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames quarters[4], pairs[2];
  for (int i = 0; i < 4; i++) {
    sostenuto_frames a = *(const rows_of_memory *)(rows + 32 * i), b = *(const rows_of_memory *)(rows + 32 * i + 16);
    quarters[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
                  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  for (int i = 0; i < 2; i++) {
    sostenuto_frames a = quarters[2 * i], b = quarters[2 * i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
               __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
  }
  sostenuto_frames sums =
      __builtin_shufflevector(pairs[0], pairs[1], 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
      __builtin_shufflevector(pairs[0], pairs[1], 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
  return __builtin_shufflevector(sums, sums, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

/* Swift's SIMD16<Int32>. */
typedef int sostenuto_integers __attribute__((ext_vector_type(16)));

/* Integers limited to a range: vpmaxsd and vpminsd. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_limit(sostenuto_integers v, int low, int high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(v, (sostenuto_integers)low), (sostenuto_integers)high);
}

/* `v` where two integers are equal, else zero. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_where_equal(sostenuto_integers a, sostenuto_integers b, sostenuto_frames v) {
  return (sostenuto_frames)((sostenuto_integers)v & (a == b));
}

/* The lesser of two numbers in each lane. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_lesser(sostenuto_frames a, sostenuto_frames b) { return __builtin_elementwise_min(a, b); }

/* Swift's SIMD8<Int64>. */
typedef long long sostenuto_places __attribute__((ext_vector_type(8)));

/* Eight factors times `base`, limited to 4096, as numbers with 32 bits after the point: vcvttpd2qq. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_fixed_points(const float *factors, double base) {
  typedef float factors_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef double doubles __attribute__((ext_vector_type(8)));
  doubles v = __builtin_convertvector(*(const factors_of_memory *)factors, doubles) * base;
  v = __builtin_elementwise_max(__builtin_elementwise_min(v, (doubles)4096.0), (doubles)-4096.0);
  return __builtin_convertvector(v * 4294967296.0, sostenuto_places);
}

/* Their magnitudes as floats. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_magnitudes(sostenuto_places v) {
  return __builtin_convertvector(__builtin_elementwise_abs(v), sostenuto_eight) * 0x1p-32f;
}

/* The sum of the lanes before each. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_sums_before(sostenuto_places v) {
  sostenuto_places none = 0, sum = __builtin_shufflevector(none, v, 0, 8, 9, 10, 11, 12, 13, 14);
  sum += __builtin_shufflevector(none, sum, 0, 8, 9, 10, 11, 12, 13, 14);
  sum += __builtin_shufflevector(none, sum, 0, 1, 8, 9, 10, 11, 12, 13);
  return sum + __builtin_shufflevector(none, sum, 0, 1, 2, 3, 8, 9, 10, 11);
}

SOSTENUTO_VECTOR long long sostenuto_least_place(sostenuto_places v) { return __builtin_reduce_min(v); }
SOSTENUTO_VECTOR long long sostenuto_largest_place(sostenuto_places v) { return __builtin_reduce_max(v); }
SOSTENUTO_VECTOR float sostenuto_largest_of_eight(sostenuto_eight v) { return __builtin_reduce_max(v); }

/* Asks for the lines of the cache from an address on, all at once. */
SOSTENUTO_VECTOR void sostenuto_fetch(const void *address, long long bytes) {
  for (long long byte = 0; byte < bytes; byte += 64) __builtin_prefetch((const char *)address + byte);
}

/* A number without its fraction: cvttss2si, of which Swift checks the range. */
SOSTENUTO_VECTOR int sostenuto_whole(float number) { return (int)number; }
