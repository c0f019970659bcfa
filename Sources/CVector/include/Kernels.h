#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* A playing position at speeds of each frame's own: the place behind, the least and the largest place (32.32 fixed point), and the
   least and the largest pace, which is the magnitude of a step in frames. */
typedef struct {
  long long end, least, most;
  float slowest, fastest;
} sostenuto_played_places;

/* Places from `place` on, and their paces: whole sixteens. A step is a speed times `base`, within 4096. */
SOSTENUTO_VECTOR sostenuto_played_places sostenuto_play_places(const float *speeds, double base, long long place, long long frames,
                                                               long long *places, float *paces) {
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const doubles high = 4096.0 * 4294967296.0, low = -high;
  const double scale = base * 4294967296.0;
  sostenuto_places next = place;
  /* Two loops, each with registers enough. Comparisons are one instruction each, also for what is no number: it becomes the upper limit. */
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    doubles even = __builtin_convertvector(v.even, doubles) * scale, odd = __builtin_convertvector(v.odd, doubles) * scale;
    even = even < high ? even : high;
    odd = odd < high ? odd : high;
    even = even > low ? even : low;
    odd = odd > low ? odd : low;
    next = sostenuto_write_sixteen_places(sostenuto_whole_places(even), sostenuto_whole_places(odd), next, places + frame);
  }
  sostenuto_frames slowest = 4096, fastest = 0, backwards = 0;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    sostenuto_frames pace = __builtin_elementwise_min(__builtin_elementwise_abs(v) * (float)base, (sostenuto_frames)4096.0f);
    *(row_of_memory *)(paces + frame) = pace;
    slowest = pace < slowest ? pace : slowest;
    fastest = pace > fastest ? pace : fastest;
    backwards = v < backwards ? v : backwards;
  }
  sostenuto_played_places played = {next[0], place, place, 0, 0};
  // Magnitudes have the order of their bits.
  played.slowest = __builtin_bit_cast(float, __builtin_reduce_min((sostenuto_integers)slowest));
  played.fastest = __builtin_bit_cast(float, __builtin_reduce_max((sostenuto_integers)fastest));
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

/* Weights of the first sixteen points and of the last, for a place within a frame: polynomials of second degree, with rows of 80
   numbers for each phase. The first two coefficients are floats. Those of the square are multiples of 2^-24, as fine as a weight near one,
   and two stand in a word: of a point in the upper half, and of the point sixteen later in the lower one, whose bits the upper one's were
   rounded for. So a weight takes two loads and a half, of which there are more than of all else. The place is in units of 2^20 to a phase,
   and the coefficients accordingly: the words are then as large as theirs. */
enum { sostenuto_points_row = 80 };

typedef struct {
  sostenuto_frames first, last;
} sostenuto_point_weights;

SOSTENUTO_VECTOR sostenuto_point_weights sostenuto_weights_of_points(const float *rows, unsigned fraction) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int words_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const float *start = rows + sostenuto_points_row * (fraction >> 27);
  const row_of_memory *row = (const row_of_memory *)start;
  const sostenuto_integers words = *(const words_of_memory *)(start + 64);
  sostenuto_frames t = __builtin_bit_cast(float, (fraction << 5) >> 9 | 0x35800000) - 0x1p-20f;
  sostenuto_frames first = __builtin_convertvector(words, sostenuto_frames), last = __builtin_convertvector(words << 16, sostenuto_frames);
  return (sostenuto_point_weights){sostenuto_add_product(row[0], sostenuto_add_product(row[2], first, t), t),
                                   sostenuto_add_product(row[1], sostenuto_add_product(row[3], last, t), t)};
}

/* The same for Swift, which cannot take two vectors at once. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_first_weights(const float *rows, unsigned fraction) {
  return sostenuto_weights_of_points(rows, fraction).first;
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_weights(const float *rows, unsigned fraction) {
  return sostenuto_weights_of_points(rows, fraction).last;
}

/* Products with the frames around a place, two to a lane; integers are unscaled. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_weigh_points(_Bool is_short, const void *plane, long long place, sostenuto_point_weights w) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (is_short) {
    const short *words = (const short *)plane + place;
    return sostenuto_add_product(sostenuto_load_words(words) * w.first, sostenuto_load_words(words + 16), w.last);
  }
  const row_of_memory *floats = (const row_of_memory *)((const float *)plane + place);
  return sostenuto_add_product(floats[0] * w.first, floats[1], w.last);
}

/* As many frames as a register has numbers, of one or two planes at places of their own (32.32 fixed point), times `scale`: to the same
   bits as rows of partial sums that `sostenuto_sum_rows` adds up. Halves of rows are added up first, and then neighbours within quarters,
   as soon as two vectors are there, so that few registers wait. */
#ifdef __AVX512F__
enum { sostenuto_weighed = 16 };
#define SOSTENUTO_ADD_HALVES(a, b)                                                                      \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +          \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#define SOSTENUTO_ADD_PAIRS(a, b)                                                                       \
  (__builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +         \
   __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31))

SOSTENUTO_VECTOR void sostenuto_weigh_some(_Bool is_short, _Bool is_stereo, const float *rows, const void *left, const void *right,
                                           const long long *places, float scale, float *to, float *other) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames sums[2][4];
#pragma clang loop unroll(full)
  for (int four = 0; four < 4; four++) {
    sostenuto_frames two[2][2];
#pragma clang loop unroll(full)
    for (int pair = 0; pair < 2; pair++) {
      const int frame = 4 * four + 2 * pair;
      const long long a = places[frame], b = places[frame + 1];
      sostenuto_point_weights v = sostenuto_weights_of_points(rows, (unsigned)a);
      sostenuto_point_weights w = sostenuto_weights_of_points(rows, (unsigned)b);
      two[0][pair] = sostenuto_fold(sostenuto_weigh_points(is_short, left, a >> 32, v), sostenuto_weigh_points(is_short, left, b >> 32, w));
      if (is_stereo)
        two[1][pair] =
            sostenuto_fold(sostenuto_weigh_points(is_short, right, a >> 32, v), sostenuto_weigh_points(is_short, right, b >> 32, w));
    }
    for (int side = 0; side < 1 + is_stereo; side++) sums[side][four] = SOSTENUTO_ADD_HALVES(two[side][0], two[side][1]);
  }
#pragma clang loop unroll(full)
  for (int side = 0; side < 1 + is_stereo; side++) {
    sostenuto_frames low = SOSTENUTO_ADD_PAIRS(sums[side][0], sums[side][1]), high = SOSTENUTO_ADD_PAIRS(sums[side][2], sums[side][3]);
    sostenuto_frames all = SOSTENUTO_ADD_PAIRS(low, high);
    *(row_of_memory *)(side ? other : to) = __builtin_shufflevector(all, all, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15) * scale;
  }
}
#else
enum { sostenuto_weighed = 8 };
#define SOSTENUTO_ADD_HALVES(a, b) \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15))
#define SOSTENUTO_ADD_PAIRS(a, b) \
  (__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15))

SOSTENUTO_VECTOR void sostenuto_weigh_some(_Bool is_short, _Bool is_stereo, const float *rows, const void *left, const void *right,
                                           const long long *places, float scale, float *to, float *other) {
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
        sostenuto_point_weights w = sostenuto_weights_of_points(rows, (unsigned)place);
        sostenuto_frames products = sostenuto_weigh_points(is_short, left, place >> 32, w);
        sums[0][one] = products.lo + products.hi;
        if (is_stereo) {
          products = sostenuto_weigh_points(is_short, right, place >> 32, w);
          sums[1][one] = products.lo + products.hi;
        }
      }
      for (int side = 0; side < 1 + is_stereo; side++) two[side][pair] = SOSTENUTO_ADD_HALVES(sums[side][0], sums[side][1]);
    }
    for (int side = 0; side < 1 + is_stereo; side++) fours[side][four] = SOSTENUTO_ADD_PAIRS(two[side][0], two[side][1]);
  }
#pragma clang loop unroll(full)
  for (int side = 0; side < 1 + is_stereo; side++) {
    sostenuto_eight all = SOSTENUTO_ADD_PAIRS(fours[side][0], fours[side][1]);
    *(row_of_memory *)(side ? other : to) = __builtin_shufflevector(all, all, 0, 4, 1, 5, 2, 6, 3, 7) * scale;
  }
}
#endif

SOSTENUTO_VECTOR void sostenuto_weigh_all(_Bool is_short, _Bool is_stereo, const float *rows, const void *left, const void *right,
                                          const long long *places, long long count, float scale, float *to, float *other) {
  for (long long frame = 0; frame < count; frame += sostenuto_weighed)
    sostenuto_weigh_some(is_short, is_stereo, rows, left, right, places + frame, scale, to + frame, other + frame);
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

/* Sixteen partial sums of frames between two kernels, the second of which lies `size` numbers later: `numbers` say how far they are above
   `whole`. */
SOSTENUTO_VECTOR void sostenuto_weigh_between(_Bool is_short, const float *rows, long long size, const float *numbers, float whole,
                                              const void *plane, const void *other, const long long *places, float *partials,
                                              float *other_partials) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  for (long long frame = 0; frame < 16; frame++) {
    const long long place = places[frame];
    const sostenuto_frames share = numbers[frame] - whole;
    const sostenuto_point_weights v = sostenuto_weights_of_points(rows, (unsigned)place);
    sostenuto_point_weights w = sostenuto_weights_of_points(rows + size, (unsigned)place);
    w.first = sostenuto_add_product(v.first, w.first - v.first, share);
    w.last = sostenuto_add_product(v.last, w.last - v.last, share);
    sostenuto_frames products = sostenuto_weigh_points(is_short, plane, place >> 32, w);
    *(row_of_memory *)(partials + 8 * frame) = products.lo + products.hi;
    if (!other) continue;
    products = sostenuto_weigh_points(is_short, other, place >> 32, w);
    *(row_of_memory *)(other_partials + 8 * frame) = products.lo + products.hi;
  }
}
#undef SOSTENUTO_ADD_HALVES
#undef SOSTENUTO_ADD_PAIRS
