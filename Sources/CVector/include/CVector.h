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
