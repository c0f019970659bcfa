#pragma once

/* Vector instructions that Swift has no name for, or does not reliably choose for its own operators. Each function is
   pure arithmetic on registers, which is what its attribute promises to Swift's check of the audio thread, and is
   compiled into its caller. */
#define SOSTENUTO_VECTOR static inline __attribute__((always_inline, swift_attr("@_noLocks")))

/* Since none of them is ever called, it does not matter how a processor without AVX-512 would pass a vector of 64 bytes.
   Each header says so, since this does not reach those that it includes. */
#pragma clang diagnostic ignored "-Wpsabi"

/* Swift's SIMD16<Float>. */
typedef float sostenuto_frames __attribute__((ext_vector_type(16)));

/* Swift's SIMD16<UInt32>. */
typedef unsigned sostenuto_bits __attribute__((ext_vector_type(16)));

/* Swift's SIMD16<Int32>. */
typedef int sostenuto_integers __attribute__((ext_vector_type(16)));

/* True when the target's registers hold sixteen floats each, and there are 32 of them. */
#ifdef __AVX512F__
enum { sostenuto_has_wide_vectors = 1 };
#else
enum { sostenuto_has_wide_vectors = 0 };
#endif

/* sum + a * b, rounded once where the processor does this in one instruction, vfmadd231ps; else twice. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_add_product(sostenuto_frames sum, sostenuto_frames a, sostenuto_frames b) {
  return a * b + sum;
}

/* v * factor + addend, each rounded, also where one of both is modulated: m * gain is added to it. Swift's own operators of
   vectors and numbers may go lane by lane. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_affine(sostenuto_frames v, float factor, float addend) {
#pragma clang fp contract(off)
  return v * factor + addend;
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_affine_by_factor(sostenuto_frames v, float factor, float addend, sostenuto_frames m, float gain) {
#pragma clang fp contract(off)
  return v * (m * gain + factor) + addend;
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_affine_by_addend(sostenuto_frames v, float factor, float addend, sostenuto_frames m, float gain) {
#pragma clang fp contract(off)
  return v * factor + (m * gain + addend);
}

/* True when a lane exceeds the limit; none has its highest bit set. A comparison of all lanes and a test of its mask,
   where Swift's any() goes lane by lane: vpcmpgtd and kortestw, or vpmovmskb. */
SOSTENUTO_VECTOR _Bool sostenuto_exceed(sostenuto_bits v, unsigned limit) {
  return __builtin_reduce_or((sostenuto_integers)v > (int)limit) != 0;
}

/* The bits that any of five has: vpternlogd twice. Swift's own | of these goes lane by lane. */
SOSTENUTO_VECTOR sostenuto_bits sostenuto_all_bits(sostenuto_bits bits, sostenuto_frames a, sostenuto_frames b, sostenuto_frames c,
                                                   sostenuto_frames d) {
  return bits | (sostenuto_bits)a | (sostenuto_bits)b | ((sostenuto_bits)c | (sostenuto_bits)d);
}

/* True when a magnitude may exceed the limit, of those whose bits these are. */
SOSTENUTO_VECTOR _Bool sostenuto_may_exceed(sostenuto_bits bits, unsigned limit) {
  return __builtin_reduce_or((sostenuto_integers)(bits & 0x7fffffffu) > (int)limit) != 0;
}

/* True when a lane is below the limit, or above it: vcmpltps and kortestw, or vmovmskps. */
SOSTENUTO_VECTOR _Bool sostenuto_has_below(sostenuto_frames v, float limit) {
  return __builtin_reduce_or(v < (sostenuto_frames)limit) != 0;
}

SOSTENUTO_VECTOR _Bool sostenuto_has_above(sostenuto_frames v, float limit) {
  return __builtin_reduce_or(v > (sostenuto_frames)limit) != 0;
}

/* The larger of each pair of lanes, vpmaxud. Swift's pointwiseMax() may be a call. */
SOSTENUTO_VECTOR sostenuto_bits sostenuto_larger(sostenuto_bits a, sostenuto_bits b) {
  return __builtin_elementwise_max(a, b);
}

/* The least and the largest of the lanes: vpminud and vpmaxud on halves of halves, where Swift's min() and max() go lane
   by lane. */
SOSTENUTO_VECTOR unsigned sostenuto_least(sostenuto_bits v) { return __builtin_reduce_min(v); }
SOSTENUTO_VECTOR unsigned sostenuto_largest(sostenuto_bits v) { return __builtin_reduce_max(v); }

/* True if any bit is set: one vptestmd, or vptest. */
SOSTENUTO_VECTOR _Bool sostenuto_any(sostenuto_bits v) { return __builtin_reduce_or(v) != 0; }

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

/* Signed halves of each word times those of `pair`, lower by lower and upper by upper, added up: vpmaddwd. Not for -32768 in
   all four. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_pair_products(sostenuto_integers words, int pair) {
#if defined(__AVX512BW__)
  typedef short halves __attribute__((vector_size(64)));
  return (sostenuto_integers)__builtin_ia32_pmaddwd512((halves)words, (halves)(sostenuto_integers)pair);
#elif defined(__AVX2__)
  typedef short halves __attribute__((vector_size(32)));
  typedef int eight_integers __attribute__((ext_vector_type(8)));
  const halves both = (halves)(eight_integers)pair;
  eight_integers low = (eight_integers)__builtin_ia32_pmaddwd256((halves)words.lo, both);
  eight_integers high = (eight_integers)__builtin_ia32_pmaddwd256((halves)words.hi, both);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  return (words << 16 >> 16) * (pair << 16 >> 16) + (words >> 16) * (pair >> 16);
#endif
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

/* The same of 32 numbers in two vectors. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_pick_of_two(sostenuto_frames low, sostenuto_frames high, sostenuto_bits indices) {
#ifdef __AVX512F__
  typedef float floats __attribute__((vector_size(64)));
  typedef int integers __attribute__((vector_size(64)));
  return (sostenuto_frames)__builtin_ia32_vpermi2varps512((floats)low, (integers)indices, (floats)high);
#else
  sostenuto_frames picked;
  for (int i = 0; i < 16; i++) picked[i] = indices[i] & 16 ? high[indices[i] & 15] : low[indices[i] & 15];
  return picked;
#endif
}

/* True when the target shuffles numbers of 16 bits by one instruction. */
#ifdef __AVX512BW__
enum { sostenuto_permutes_words = 1 };
#else
enum { sostenuto_permutes_words = 0 };
#endif

/* Of 32 numbers of 16 bits those with these indices (0...31), as many: vpermw. */
SOSTENUTO_VECTOR sostenuto_bits sostenuto_pick_halves(sostenuto_bits numbers, sostenuto_bits indices) {
  typedef short shorts __attribute__((vector_size(64)));
#ifdef __AVX512BW__
  return (sostenuto_bits)__builtin_ia32_permvarhi512((shorts)numbers, (shorts)indices);
#else
  shorts all = (shorts)numbers, places = (shorts)indices, picked;
  for (int i = 0; i < 32; i++) picked[i] = all[places[i] & 31];
  return (sostenuto_bits)picked;
#endif
}

/* Of eight numbers those with the indices in the low three bits, of which the fourth is zero: vpermps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_pick_of_eight(sostenuto_eight numbers, sostenuto_bits indices) {
#ifdef __AVX512F__
  typedef float floats __attribute__((vector_size(64)));
  typedef int integers __attribute__((vector_size(64)));
  sostenuto_frames twice = __builtin_shufflevector(numbers, numbers, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
  return (sostenuto_frames)__builtin_ia32_permvarsf512((floats)twice, (integers)indices);
#elif defined(__AVX2__)
  typedef float floats __attribute__((vector_size(32)));
  typedef int integers __attribute__((vector_size(32)));
  sostenuto_eight low = (sostenuto_eight)__builtin_ia32_permvarsf256((floats)numbers, (integers)indices.lo);
  sostenuto_eight high = (sostenuto_eight)__builtin_ia32_permvarsf256((floats)numbers, (integers)indices.hi);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  sostenuto_frames picked;
  for (int i = 0; i < 16; i++) picked[i] = numbers[indices[i] & 7];
  return picked;
#endif
}

/* The halves of a, added up, then those of b. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_fold(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
         __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

/* Sums of neighbours within quarters, of both in turns: vshufps twice. One of them is hidden from the compiler, which would
   else choose vhaddps at twice the cost. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_add_pairs(sostenuto_eight a, sostenuto_eight b) {
  sostenuto_eight even = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
  sostenuto_eight odd = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
#ifdef __AVX__
  __asm__("" : "+x"(odd));
#endif
  return even + odd;
}

/* The same of twice as many numbers. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_add_pairs_of_frames(sostenuto_frames a, sostenuto_frames b) {
#ifdef __AVX512F__
  return __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
         __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
#else
  const sostenuto_eight low = sostenuto_add_pairs(a.lo, b.lo), high = sostenuto_add_pairs(a.hi, b.hi);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
}

/* The sums of sixteen rows of eight numbers: halves are added, then quarters, then pairs, with shuffles within a
   quarter of the register. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_sum_rows(const float *rows) {
  typedef float rows_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames quarters[4];
  for (int i = 0; i < 4; i++) {
    sostenuto_frames a = *(const rows_of_memory *)(rows + 32 * i), b = *(const rows_of_memory *)(rows + 32 * i + 16);
    quarters[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
                  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  const sostenuto_frames low = sostenuto_add_pairs_of_frames(quarters[0], quarters[1]);
  const sostenuto_frames sums = sostenuto_add_pairs_of_frames(low, sostenuto_add_pairs_of_frames(quarters[2], quarters[3]));
  return __builtin_shufflevector(sums, sums, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

/* Integers limited to a range: vpmaxsd and vpminsd. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_limit(sostenuto_integers v, int low, int high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(v, (sostenuto_integers)low), (sostenuto_integers)high);
}

/* `v` where two integers are equal, else zero. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_where_equal(sostenuto_integers a, sostenuto_integers b, sostenuto_frames v) {
  return (sostenuto_frames)((sostenuto_integers)v & (a == b));
}

/* The first `count` frames of `a`, and those of `b` behind them: vpcmpgtd and vblendmps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_join(sostenuto_frames a, sostenuto_frames b, int count) {
  const sostenuto_integers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return places < count ? a : b;
}

/* The frames from number `count` (0...15) on, then those before it: vpermps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_frames_from(sostenuto_frames v, int count) {
  const sostenuto_integers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const sostenuto_integers indices = (places + count) & 15;
#ifdef __AVX512F__
  typedef float floats __attribute__((vector_size(64)));
  typedef int integers __attribute__((vector_size(64)));
  return (sostenuto_frames)__builtin_ia32_permvarsf512((floats)v, (integers)indices);
#elif defined(__AVX2__)
  typedef float floats __attribute__((vector_size(32)));
  typedef int integers __attribute__((vector_size(32)));
  const sostenuto_eight a = (sostenuto_eight)__builtin_ia32_permvarsf256((floats)v.lo, (integers)indices.lo);
  const sostenuto_eight b = (sostenuto_eight)__builtin_ia32_permvarsf256((floats)v.hi, (integers)indices.lo);
  const sostenuto_frames low = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
  const sostenuto_frames high = __builtin_shufflevector(b, b, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
  return indices < 8 ? low : high;
#else
  sostenuto_frames turned;
  for (int i = 0; i < 16; i++) turned[i] = v[indices[i]];
  return turned;
#endif
}

/* The lesser of two numbers in each lane. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_lesser(sostenuto_frames a, sostenuto_frames b) { return __builtin_elementwise_min(a, b); }
SOSTENUTO_VECTOR sostenuto_frames sostenuto_greater(sostenuto_frames a, sostenuto_frames b) { return __builtin_elementwise_max(a, b); }

/* The lesser of two numbers that are at least zero. Their bits are ordered as they are: vpminsd, where vminps has to look
   for what is no number. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_lesser_sizes(sostenuto_frames a, sostenuto_frames b) {
  return (sostenuto_frames)__builtin_elementwise_min((sostenuto_integers)a, (sostenuto_integers)b);
}

/* The larger of one number and the magnitude of another: vandps and vmaxps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_larger_magnitudes(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_elementwise_max(a, __builtin_elementwise_abs(b));
}

/* `sum + a * b` of single numbers, rounded once where the processor can. */
SOSTENUTO_VECTOR float sostenuto_add_product_of_one(float sum, float a, float b) { return sum + a * b; }

/* Prefetches the cache lines from an address on. The first eight without a loop, which would cost more than the prefetches; from the
   third on in pairs, so that one line too many may come along. */
SOSTENUTO_VECTOR void sostenuto_fetch(const void *address, long long bytes) {
  const char *line = address;
  __builtin_prefetch(line);
  if (bytes <= 64) return;
  __builtin_prefetch(line + 64);
  if (bytes <= 128) return;
  __builtin_prefetch(line + 128);
  __builtin_prefetch(line + 192);
  if (bytes <= 256) return;
  __builtin_prefetch(line + 256);
  __builtin_prefetch(line + 320);
  if (bytes <= 384) return;
  __builtin_prefetch(line + 384);
  __builtin_prefetch(line + 448);
  for (long long byte = 512; byte < bytes; byte += 64) __builtin_prefetch(line + byte);
}

/* v, and its opposite where the lowest bit of `number` is set. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_turned_over(sostenuto_frames v, sostenuto_frames number) {
  return (sostenuto_frames)((sostenuto_integers)v ^ ((sostenuto_integers)number << 31));
}

/* A number without its fraction: cvttss2si, of which Swift checks the range. */
SOSTENUTO_VECTOR int sostenuto_whole(float number) { return (int)number; }

/* `start` and what follows, `step` apart; and all lanes later by the same. Swift puts a single integer into all lanes by
   way of a mask and a shuffle. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_row(int start, int step) {
  return (sostenuto_integers){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} * (sostenuto_integers)step + (sostenuto_integers)start;
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_plus(sostenuto_integers v, int more) { return v + (sostenuto_integers)more; }

/* Sums of each lane and all below it, first within quarters of the vector, where a shuffle is quickest; and the last lane in all. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_running_sums(sostenuto_integers v) {
  const sostenuto_integers zero = 0;
  v += __builtin_shufflevector(v, zero, 16, 0, 1, 2, 16, 4, 5, 6, 16, 8, 9, 10, 16, 12, 13, 14);
  v += __builtin_shufflevector(v, zero, 16, 16, 0, 1, 16, 16, 4, 5, 16, 16, 8, 9, 16, 16, 12, 13);
  v += __builtin_shufflevector(v, zero, 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11);
  return v + __builtin_shufflevector(v, zero, 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_last(sostenuto_integers v) {
  return __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
}

/* The low 32 bits of v * factor + rounding in double precision: with 1.5 * 2^52 for `rounding` the nearest whole number. Where the
   processor multiplies and adds in one instruction the product is not rounded, for one number and for sixteen alike. */
SOSTENUTO_VECTOR int sostenuto_low_bits_of_one(float v, double factor, double rounding) {
#pragma clang fp contract(fast)
  return (int)__builtin_bit_cast(long long, (double)v * factor + rounding);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_low_bits(sostenuto_frames v, double factor, double rounding) {
#pragma clang fp contract(fast)
  typedef double doubles __attribute__((ext_vector_type(8)));
  doubles low = __builtin_convertvector(v.lo, doubles) * factor + rounding;
  doubles high = __builtin_convertvector(v.hi, doubles) * factor + rounding;
  return __builtin_shufflevector((sostenuto_integers)low, (sostenuto_integers)high,
                                 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

/* Phases of frames from `start` on, by running sums of their increments: a frequency times `scale`, rounded to whole ones as that of
   a single frame. `sizes`: magnitudes of the increments, at least 1; they may be the frequencies. In sixteens until there are
   `frames`; returns the phase behind the last sixteen, and the largest magnitude of a frequency. */
typedef struct {
  int phase;
  float highest;
} sostenuto_phase_end;
SOSTENUTO_VECTOR sostenuto_phase_end sostenuto_write_phases(const float *frequencies, double scale, int start, long long frames,
                                                            int *phases, float *sizes) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int whole_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_integers phase = start, most = 0;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames f = *(const row_of_memory *)(frequencies + frame), magnitude = __builtin_elementwise_abs(f);
    /* As bits, which are ordered as magnitudes are: one instruction for a limit. */
    most = __builtin_elementwise_max(most, (sostenuto_integers)magnitude);
    sostenuto_integers size = (sostenuto_integers)(magnitude * (float)scale);
    size = __builtin_elementwise_max(size, (sostenuto_integers)(sostenuto_frames)1.0f);
    sostenuto_integers steps = sostenuto_low_bits(f, scale, 6755399441055744.0), sums = sostenuto_running_sums(steps);
    *(whole_of_memory *)(phases + frame) = phase + (sums - steps);
    *(row_of_memory *)(sizes + frame) = (sostenuto_frames)size;
    phase += sostenuto_last(sums);
  }
  return (sostenuto_phase_end){phase[0], __builtin_bit_cast(float, __builtin_reduce_max(most))};
}

/* The square roots, vsqrtps; the standard library's are sixteen calls. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_square_roots(sostenuto_frames v) { return __builtin_elementwise_sqrt(v); }

/* 2^x for x of -126...126, to 1e-7: x is split at its nearest eighth, which adding 1.5 * 2^20 leaves in the low bits. The power of
   that comes from a table, which a register holds, and for the rest there is the polynomial of least error: three products in a
   row, where one polynomial for all took six. (Swift's comparison of x and its limit takes the vector apart.) */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_powers_of_two(sostenuto_frames x) {
  const sostenuto_frames least = -126.0f;
  const sostenuto_eight eighths = {1.0f, 1.0905077f, 1.1892071f, 1.2968396f, 1.4142135f, 1.5422108f, 1.6817929f, 1.8340081f};
  x = x > least ? x : least;
  sostenuto_frames shifted = x + 1572864.0f;
  sostenuto_frames f = x - (shifted - 1572864.0f);
  sostenuto_integers place = (sostenuto_integers)shifted, near = (sostenuto_integers)sostenuto_pick_of_eight(eighths, (sostenuto_bits)place);
  sostenuto_frames power = (sostenuto_frames)(near + ((place >> 3) << 23));
  sostenuto_frames p = f * 0.05549622f + 0.24025764f;
  p = p * f + 0.69314724f;
  return p * (power * f) + power;
}

/* Each lane limited to a range, vmaxps and vminps; what is no number becomes the lower limit. Swift's replacing(with:where:)
   may take vectors apart, lane by lane. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_at_least(sostenuto_frames v, float floor) {
  return __builtin_elementwise_max(v, (sostenuto_frames)floor);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_at_most(sostenuto_frames v, float ceiling) {
  return __builtin_elementwise_min(v, (sostenuto_frames)ceiling);
}

/* `a` where a number exceeds the limit, else `b`: vcmpgtps and vblendmps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_where_above(sostenuto_frames v, float limit, sostenuto_frames a, sostenuto_frames b) {
  sostenuto_integers mask = v > (sostenuto_frames)limit;
  return (sostenuto_frames)(((sostenuto_integers)a & mask) | ((sostenuto_integers)b & ~mask));
}

/* Zero for what is infinite or no number, whose exponents have all bits: vpcmpneqd and vandps. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_numbers(sostenuto_frames v) {
  sostenuto_integers bits = (sostenuto_integers)v;
  return (sostenuto_frames)(bits & ((bits & 0x7f800000) != 0x7f800000));
}

/* The same vector, of which the compiler then knows nothing: of one that is carried from one round of a loop to the next,
   and of which few lanes are used there, it would else calculate these lanes anew, one by one. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_carried(sostenuto_frames v) {
#if defined __AVX512F__
  __asm__("" : "+v"(v));
#elif defined __AVX__
  sostenuto_eight low = v.lo, high = v.hi;
  __asm__("" : "+x"(low), "+x"(high));
  v = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
  return v;
}

/* The least and the largest lane of three vectors, by halves. */
typedef struct {
  float least, most;
} sostenuto_extremes;
SOSTENUTO_VECTOR sostenuto_extremes sostenuto_extremes_of_three(sostenuto_frames a, sostenuto_frames b, sostenuto_frames c) {
  typedef float four __attribute__((ext_vector_type(4)));
  sostenuto_frames low = a < b ? a : b, high = a > b ? a : b;
  low = low < c ? low : c;
  high = high > c ? high : c;
  sostenuto_eight low_eight = low.lo < low.hi ? low.lo : low.hi, high_eight = high.lo > high.hi ? high.lo : high.hi;
  four least = low_eight.lo < low_eight.hi ? low_eight.lo : low_eight.hi;
  four most = high_eight.lo > high_eight.hi ? high_eight.lo : high_eight.hi, other = least.zwzw;
  least = least < other ? least : other;
  other = most.zwzw;
  most = most > other ? most : other;
  return (sostenuto_extremes){least[0] < least[1] ? least[0] : least[1], most[0] > most[1] ? most[0] : most[1]};
}

/* The sum of the lanes, by halves. */
SOSTENUTO_VECTOR float sostenuto_total(sostenuto_frames v) {
  typedef float four __attribute__((ext_vector_type(4)));
  sostenuto_eight eight = v.lo + v.hi;
  four sums = eight.lo + eight.hi;
  sums += __builtin_shufflevector(sums, sums, 2, 3, 2, 3);
  return sums[0] + sums[1];
}

/* True when the magnitude of a lane exceeds a positive limit, or is no number. */
SOSTENUTO_VECTOR _Bool sostenuto_magnitudes_exceed(sostenuto_frames v, float limit) {
  return __builtin_reduce_or((sostenuto_integers)(~(__builtin_elementwise_abs(v) <= (sostenuto_frames)limit))) != 0;
}

/* Hides the lanes of a vector from the compiler. If it knows that some are zero or one, it calculates the products of the
   others one by one. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_any_lanes(sostenuto_frames v) {
#if defined(__AVX512F__)
  __asm__("" : "+v"(v));
#elif defined(__AVX__)
  sostenuto_eight low = v.lo, high = v.hi;
  __asm__("" : "+x"(low), "+x"(high));
  v = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
  return v;
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

#include "Places.h"
#include "Shuffles.h"

#include "Convolve.h"
#include "Courses.h"
#include "Cycles.h"
#include "Dynamics.h"
#include "Echoes.h"
#include "Flows.h"
#include "Followed.h"
#include "Inverses.h"
#include "Kernels.h"
#include "Lanes.h"
#include "Peaks.h"
#include "Ringing.h"
#include "Stages.h"
#include "Tank.h"
#include "Turns.h"
#include "Waves.h"
