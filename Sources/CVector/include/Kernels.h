#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* A playing position at speeds of each frame's own: the place behind, the least and the largest place (32.32 fixed point), and the
   least and the largest pace, which is the magnitude of a step in frames. */
typedef struct {
  long long end, least, most;
  float slowest, fastest;
} sostenuto_played_places;

/* Whole sixteens of places from `place` on. A step is a speed times `scale`; `is_limited`: it may be larger than 4096 frames, and is
   limited to them. Returns the place behind the last one. */
SOSTENUTO_VECTOR long long sostenuto_sum_speeds(const float *speeds, double scale, _Bool is_limited, long long place, long long frames,
                                                long long *places) {
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const doubles high = 4096.0 * 4294967296.0, low = -high;
  sostenuto_places next = place;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    doubles even = __builtin_convertvector(v.even, doubles) * scale, odd = __builtin_convertvector(v.odd, doubles) * scale;
    if (is_limited) {
      /* Comparisons that are one instruction each, also for what is no number: it becomes the upper limit. */
      even = even < high ? even : high;
      odd = odd < high ? odd : high;
      even = even > low ? even : low;
      odd = odd > low ? odd : low;
    }
    next = sostenuto_write_sixteen_places(sostenuto_whole_places(even), sostenuto_whole_places(odd), next, places + frame);
  }
  return next[0];
}

/* Places from `place` on, and their paces: whole sixteens. A step is a speed times `base`, within 4096. */
SOSTENUTO_VECTOR sostenuto_played_places sostenuto_play_places(const float *speeds, double base, long long place, long long frames,
                                                               long long *places, float *paces) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_frames slowest = 4096, fastest = 0, backwards = 0;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    sostenuto_frames pace = __builtin_elementwise_min(__builtin_elementwise_abs(v) * (float)base, (sostenuto_frames)4096.0f);
    *(row_of_memory *)(paces + frame) = pace;
    slowest = pace < slowest ? pace : slowest;
    fastest = pace > fastest ? pace : fastest;
    backwards = v < backwards ? v : backwards;
  }
  sostenuto_played_places played = {place, place, place, 0, 0};
  // Magnitudes have the order of their bits.
  played.slowest = __builtin_bit_cast(float, __builtin_reduce_min((sostenuto_integers)slowest));
  played.fastest = __builtin_bit_cast(float, __builtin_reduce_max((sostenuto_integers)fastest));
  const double scale = base * 4294967296.0;
  /* A speed that is no number has the limit as its pace. */
  if (played.fastest < 4095)
    played.end = sostenuto_sum_speeds(speeds, scale, 0, place, frames, places);
  else
    played.end = sostenuto_sum_speeds(speeds, scale, 1, place, frames, places);
  if (frames > 0) played.most = places[frames - 1];
  if (__builtin_reduce_or(backwards < 0) != 0) {
    sostenuto_places least = place, largest = place;
    for (long long frame = 0; frame < frames; frame += 8) {
      sostenuto_places here = *(const places_of_memory *)(places + frame);
      least = __builtin_elementwise_min(least, here);
      largest = __builtin_elementwise_max(largest, here);
    }
    played.least = __builtin_reduce_min(least);
    played.most = __builtin_reduce_max(largest);
  }
  return played;
}

/* Interpolation by 32 points (`SincTable`): several frames at once, whose sums stay in registers. */

/* Weights of the first sixteen points and of the last, for a place within a frame: polynomials of second degree around the nearest of 65
   places, from one frame to the next, with rows of 64 numbers each. The first coefficients are floats. The other two stand in a word, that
   of the place in the lower half and that of its square in the upper one, in units of the point's own, which follow the rows. So a weight
   takes two loads, of which there are more than of all else, and both products are one instruction. A place is in units of 2^-16 of the
   distance between two rows: -0x8000 to 0x7fff. At a frame itself, the weights are the first coefficients to the last bit. */
enum { sostenuto_points_row = 64, sostenuto_points_rows = 65 };

typedef struct {
  sostenuto_frames first, last;
} sostenuto_point_weights;

SOSTENUTO_VECTOR sostenuto_point_weights sostenuto_units_of_points(const float *rows) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const row_of_memory *units = (const row_of_memory *)(rows + sostenuto_points_row * sostenuto_points_rows);
  return (sostenuto_point_weights){units[0], units[1]};
}

SOSTENUTO_VECTOR sostenuto_point_weights sostenuto_weights_of_points(const float *rows, sostenuto_point_weights units, unsigned fraction) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int words_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const unsigned long long moved = (unsigned long long)fraction + (1 << 25);
  const float *start = rows + sostenuto_points_row * (moved >> 26);
  const row_of_memory *row = (const row_of_memory *)start;
  const words_of_memory *words = (const words_of_memory *)(start + 32);
  const int place = (int)(moved >> 10 & 0xffff) - 0x8000, pair = (place & 0xffff) | place * place >> 16 << 16;
  sostenuto_frames first = __builtin_convertvector(sostenuto_pair_products(words[0], pair), sostenuto_frames);
  sostenuto_frames last = __builtin_convertvector(sostenuto_pair_products(words[1], pair), sostenuto_frames);
  return (sostenuto_point_weights){sostenuto_add_product(row[0], first, units.first), sostenuto_add_product(row[1], last, units.last)};
}

/* The same for Swift, which cannot take two vectors at once. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_first_weights(const float *rows, unsigned fraction) {
  return sostenuto_weights_of_points(rows, sostenuto_units_of_points(rows), fraction).first;
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_weights(const float *rows, unsigned fraction) {
  return sostenuto_weights_of_points(rows, sostenuto_units_of_points(rows), fraction).last;
}

#ifdef __AVX512F__
/* Products with the frames around a place, two to a lane; integers are unscaled. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_products_of_points(_Bool is_short, const void *plane, long long place, sostenuto_frames first,
                                                               sostenuto_frames last) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (is_short) {
    const short *words = (const short *)plane + place;
    return sostenuto_add_product(sostenuto_load_words(words) * first, sostenuto_load_words(words + 16), last);
  }
  const row_of_memory *floats = (const row_of_memory *)((const float *)plane + place);
  return sostenuto_add_product(floats[0] * first, floats[1], last);
}
#endif

/* Eight sums of four such products each. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_weigh_points(_Bool is_short, const void *plane, long long place, sostenuto_frames first,
                                                        sostenuto_frames last) {
#ifdef __AVX512F__
  const sostenuto_frames products = sostenuto_products_of_points(is_short, plane, place, first, last);
  return products.lo + products.hi;
#else
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  const sostenuto_eight weights[4] = {first.lo, first.hi, last.lo, last.hi};
  sostenuto_eight sums = 0;
#pragma clang loop unroll(full)
  for (int eight = 0; eight < 4; eight++) {
    const sostenuto_eight frames = is_short ? sostenuto_load_eight_words((const short *)plane + place + 8 * eight)
                                            : *(const row_of_memory *)((const float *)plane + place + 8 * eight);
    sums = eight == 0 ? frames * weights[0] : sostenuto_add_product_of_eight(sums, frames, weights[eight]);
  }
  return sums;
#endif
}

/* As many frames as a register has numbers, of one or two planes at places of their own (32.32 fixed point), times `scale`: to the same
   bits as rows of partial sums that `sostenuto_sum_rows` adds up. Halves of rows are added up first, and then neighbours within quarters,
   as soon as two vectors are there, so that few registers wait. */
#ifdef __AVX512F__
enum { sostenuto_weighed = 16 };
#define SOSTENUTO_ADD_HALVES(a, b)                                                                      \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +          \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))

SOSTENUTO_VECTOR void sostenuto_weigh_some(_Bool is_short, _Bool is_stereo, const float *rows, sostenuto_point_weights units,
                                           const void *left, const void *right, const long long *places, float scale, float *to,
                                           float *other) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames sums[2][4];
#pragma clang loop unroll(full)
  for (int four = 0; four < 4; four++) {
    sostenuto_frames two[2][2];
#pragma clang loop unroll(full)
    for (int pair = 0; pair < 2; pair++) {
      const int frame = 4 * four + 2 * pair;
      const long long a = places[frame], b = places[frame + 1];
      sostenuto_point_weights v = sostenuto_weights_of_points(rows, units, (unsigned)a);
      sostenuto_point_weights w = sostenuto_weights_of_points(rows, units, (unsigned)b);
      two[0][pair] = sostenuto_fold(sostenuto_products_of_points(is_short, left, a >> 32, v.first, v.last),
                                    sostenuto_products_of_points(is_short, left, b >> 32, w.first, w.last));
      if (is_stereo)
        two[1][pair] = sostenuto_fold(sostenuto_products_of_points(is_short, right, a >> 32, v.first, v.last),
                                      sostenuto_products_of_points(is_short, right, b >> 32, w.first, w.last));
    }
    for (int side = 0; side < 1 + is_stereo; side++) sums[side][four] = SOSTENUTO_ADD_HALVES(two[side][0], two[side][1]);
  }
#pragma clang loop unroll(full)
  for (int side = 0; side < 1 + is_stereo; side++) {
    sostenuto_frames low = sostenuto_add_pairs_of_frames(sums[side][0], sums[side][1]);
    sostenuto_frames all = sostenuto_add_pairs_of_frames(low, sostenuto_add_pairs_of_frames(sums[side][2], sums[side][3]));
    *(row_of_memory *)(side ? other : to) = __builtin_shufflevector(all, all, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15) * scale;
  }
}
#else
enum { sostenuto_weighed = 8 };
#define SOSTENUTO_ADD_HALVES(a, b) \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15))

SOSTENUTO_VECTOR void sostenuto_weigh_some(_Bool is_short, _Bool is_stereo, const float *rows, sostenuto_point_weights units,
                                           const void *left, const void *right, const long long *places, float scale, float *to,
                                           float *other) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight fours[2][2];
#pragma clang loop unroll(full)
  for (int four = 0; four < 2; four++) {
    sostenuto_eight two[2][2];
#pragma clang loop unroll(full)
    for (int pair = 0; pair < 2; pair++) {
      sostenuto_eight sums[2][2];
#pragma clang loop unroll(full)
      for (int one = 0; one < 2; one++) {
        const int frame = 4 * four + 2 * pair + one;
        const long long place = places[frame];
        sostenuto_point_weights w = sostenuto_weights_of_points(rows, units, (unsigned)place);
        sums[0][one] = sostenuto_weigh_points(is_short, left, place >> 32, w.first, w.last);
        if (is_stereo) sums[1][one] = sostenuto_weigh_points(is_short, right, place >> 32, w.first, w.last);
      }
      for (int side = 0; side < 1 + is_stereo; side++) two[side][pair] = SOSTENUTO_ADD_HALVES(sums[side][0], sums[side][1]);
    }
    for (int side = 0; side < 1 + is_stereo; side++) fours[side][four] = sostenuto_add_pairs(two[side][0], two[side][1]);
  }
#pragma clang loop unroll(full)
  for (int side = 0; side < 1 + is_stereo; side++) {
    sostenuto_eight all = sostenuto_add_pairs(fours[side][0], fours[side][1]);
    *(row_of_memory *)(side ? other : to) = __builtin_shufflevector(all, all, 0, 4, 1, 5, 2, 6, 3, 7) * scale;
  }
}
#endif

SOSTENUTO_VECTOR void sostenuto_weigh_all(_Bool is_short, _Bool is_stereo, const float *rows, const void *left, const void *right,
                                          const long long *places, long long count, float scale, float *to, float *other) {
  const sostenuto_point_weights units = sostenuto_units_of_points(rows);
  for (long long frame = 0; frame < count; frame += sostenuto_weighed)
    sostenuto_weigh_some(is_short, is_stereo, rows, units, left, right, places + frame, scale, to + frame, other + frame);
}

/* Frames of one plane, or of two with `right`, in whole sixteens for which there are places. Each form has a loop of its own. */
SOSTENUTO_VECTOR void sostenuto_weigh(_Bool is_short, const float *rows, const void *left, const void *right, const long long *places,
                                      long long count, float scale, float *to, float *other) {
  if (is_short && right)
    sostenuto_weigh_all(1, 1, rows, left, right, places, count, scale, to, other);
  else if (is_short)
    sostenuto_weigh_all(1, 0, rows, left, left, places, count, scale, to, other);
  else if (right)
    sostenuto_weigh_all(0, 1, rows, left, right, places, count, scale, to, other);
  else
    sostenuto_weigh_all(0, 0, rows, left, left, places, count, scale, to, other);
}

/* The whole number that sixteen numbers, none of them negative, have in common; -1 if there is none. */
SOSTENUTO_VECTOR int sostenuto_common_whole(const float *numbers) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const int whole = (int)numbers[0];
  const sostenuto_integers wholes = __builtin_convertvector(*(const row_of_memory *)numbers, sostenuto_integers);
  return __builtin_reduce_or(wholes != whole) == 0 ? whole : -1;
}

/* The share of the upper of two kernels between which a frame is. Its way has no corners: they would be heard far below a tone
   near the Nyquist frequency. */
SOSTENUTO_VECTOR float sostenuto_share_of_kernels(float part) {
#pragma clang fp contract(off)
  return part * part * (3.0f - 2.0f * part);
}

/* Sixteen partial sums of frames between two kernels, the second of which lies `size` numbers later: `numbers` say how far they are above
   `whole`. */
SOSTENUTO_VECTOR void sostenuto_weigh_between(_Bool is_short, const float *rows, long long size, const float *numbers, float whole,
                                              const void *plane, const void *other, const long long *places, float *partials,
                                              float *other_partials) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  const sostenuto_point_weights units = sostenuto_units_of_points(rows), more = sostenuto_units_of_points(rows + size);
  for (long long frame = 0; frame < 16; frame++) {
    const long long place = places[frame];
    const sostenuto_frames share = sostenuto_share_of_kernels(numbers[frame] - whole);
    const sostenuto_point_weights v = sostenuto_weights_of_points(rows, units, (unsigned)place);
    sostenuto_point_weights w = sostenuto_weights_of_points(rows + size, more, (unsigned)place);
    w.first = sostenuto_add_product(v.first, w.first - v.first, share);
    w.last = sostenuto_add_product(v.last, w.last - v.last, share);
    *(row_of_memory *)(partials + 8 * frame) = sostenuto_weigh_points(is_short, plane, place >> 32, w.first, w.last);
    if (other) *(row_of_memory *)(other_partials + 8 * frame) = sostenuto_weigh_points(is_short, other, place >> 32, w.first, w.last);
  }
}
#undef SOSTENUTO_ADD_HALVES
