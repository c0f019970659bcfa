#pragma once

/* Vector instructions that Swift has no name for, or does not reliably choose for its own operators. Each function is
   pure arithmetic on registers, which is what its attribute promises to Swift's check of the audio thread, and is
   compiled into its caller. */
#define SOSTENUTO_VECTOR static inline __attribute__((always_inline, swift_attr("@_noLocks")))

/* Swift's SIMD16<Float>. */
typedef float sostenuto_frames __attribute__((ext_vector_type(16)));

/* Swift's SIMD16<UInt32> and SIMD16<Int32>. */
typedef unsigned sostenuto_bits __attribute__((ext_vector_type(16)));
typedef int sostenuto_numbers __attribute__((ext_vector_type(16)));

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

/* The least and the largest of the lanes: vpminud and vpmaxud on halves of halves, where Swift's min() and max() go lane
   by lane. */
SOSTENUTO_VECTOR unsigned sostenuto_least(sostenuto_bits v) { return __builtin_reduce_min(v); }
SOSTENUTO_VECTOR unsigned sostenuto_largest(sostenuto_bits v) { return __builtin_reduce_max(v); }

/* The larger of two lanes each, vpmaxud: Swift's pointwiseMax is at times a call. */
SOSTENUTO_VECTOR sostenuto_bits sostenuto_larger(sostenuto_bits a, sostenuto_bits b) {
  return __builtin_elementwise_max(a, b);
}

/* Sums of each lane and all below it; and the last lane in all. */
SOSTENUTO_VECTOR sostenuto_numbers sostenuto_running_sums(sostenuto_numbers v) {
  const sostenuto_numbers zero = 0;
  v += __builtin_shufflevector(v, zero, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  v += __builtin_shufflevector(v, zero, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
  v += __builtin_shufflevector(v, zero, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  return v + __builtin_shufflevector(v, zero, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7);
}
SOSTENUTO_VECTOR sostenuto_numbers sostenuto_last(sostenuto_numbers v) {
  return __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
}

/* The low 32 bits of v * factor + rounding in double precision, the product rounded as well: with 1.5 * 2^52 for `rounding`
   the nearest whole number, as Swift code has it for a single one. */
SOSTENUTO_VECTOR sostenuto_numbers sostenuto_low_bits(sostenuto_frames v, double factor, double rounding) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  doubles low = __builtin_convertvector(v.lo, doubles) * factor + rounding;
  doubles high = __builtin_convertvector(v.hi, doubles) * factor + rounding;
  return __builtin_shufflevector((sostenuto_numbers)low, (sostenuto_numbers)high,
                                 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

/* The square roots, vsqrtps; the standard library's are sixteen calls. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_square_roots(sostenuto_frames v) { return __builtin_elementwise_sqrt(v); }

/* Shuffles of lanes that are known beforehand, one instruction each (vpermt2ps, vpermilps): what Swift writes with numbered
   lanes or halves is at times taken apart and put together lane by lane. */

/* Of 32 lanes those with even numbers, and those with odd ones. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_evens(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_odds(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/* Lanes of both in turns: of the first eight of each, and of the last eight. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_first_turns(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_turns(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/* Within each four lanes: moved up by one and by two, with those of `start` below. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_later_by_one(sostenuto_frames v, sostenuto_frames start) {
  return __builtin_shufflevector(v, start, 16, 0, 1, 2, 20, 4, 5, 6, 24, 8, 9, 10, 28, 12, 13, 14);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_later_by_two(sostenuto_frames v, sostenuto_frames start) {
  return __builtin_shufflevector(v, start, 16, 17, 0, 1, 20, 21, 4, 5, 24, 25, 8, 9, 28, 29, 12, 13);
}

/* Within each four lanes: the first or the second in all; the last of `a` and that of `b`, twice; the first two of `a` and
   those of `b`. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_firsts_of_four(sostenuto_frames v) {
  return __builtin_shufflevector(v, v, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_seconds_of_four(sostenuto_frames v) {
  return __builtin_shufflevector(v, v, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_pairs(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 3, 19, 3, 19, 7, 23, 7, 23, 11, 27, 11, 27, 15, 31, 15, 31);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_halves(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

/* Swift's SIMD2<Float> and SIMD4<Float>. */
typedef float sostenuto_pair __attribute__((ext_vector_type(2)));
typedef float sostenuto_four __attribute__((ext_vector_type(4)));

/* A pair, twice. */
SOSTENUTO_VECTOR sostenuto_four sostenuto_twice(sostenuto_pair v) { return __builtin_shufflevector(v, v, 0, 1, 0, 1); }

/* A pair that stands there twice, turned by a matrix of two columns; `more` has what is added, and zeros. */
SOSTENUTO_VECTOR sostenuto_four sostenuto_turned(sostenuto_four pair, sostenuto_four columns, sostenuto_four more) {
  sostenuto_four products = columns * __builtin_shufflevector(pair, pair, 0, 0, 1, 1) + more;
  return products + __builtin_shufflevector(products, products, 2, 3, 0, 1);
}
