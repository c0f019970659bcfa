#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* One level that follows its target by the share `up` or `down` of the way, sixteen frames at once. */

/* Of which lanes those above take what they are the next step of: in pairs, fours, eights and all. */
#define SOSTENUTO_FIRST_STEP 16, 0, 16, 2, 16, 4, 16, 6, 16, 8, 16, 10, 16, 12, 16, 14
#define SOSTENUTO_SECOND_STEP 16, 16, 1, 1, 16, 16, 5, 5, 16, 16, 9, 9, 16, 16, 13, 13
#define SOSTENUTO_THIRD_STEP 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11
#define SOSTENUTO_LAST_STEP 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7

/* Halves: one lane in all, the upper four lanes alone, and two as one vector. */
#define SOSTENUTO_LANE(half, lane) __builtin_shufflevector(half, half, lane, lane, lane, lane, lane, lane, lane, lane)
#define SOSTENUTO_UPPER_FOUR(half) __builtin_shufflevector(half, (sostenuto_eight)0.0f, 8, 8, 8, 8, 4, 5, 6, 7)
#define SOSTENUTO_HALVES(low, high) __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

/* Levels of sixteen frames, each of which goes a share of the way from the one before to a target; `adds` is that share of the
   target, and `level` the one before all. Two such steps in a row are one, so that sixteen are made in four rounds: a frame
   waits for four products, not for sixteen. What is kept of a level is one less the share: products of numbers near one would
   add up their rounding. A lane depends on those below it only, to the bit. */
#define SOSTENUTO_STEP(...)                                                       \
  {                                                                               \
    sostenuto_frames keeps = 1.0f - shares;                                       \
    adds = keeps * __builtin_shufflevector(adds, none, __VA_ARGS__) + adds;       \
    shares = keeps * __builtin_shufflevector(shares, none, __VA_ARGS__) + shares; \
  }
SOSTENUTO_VECTOR sostenuto_frames sostenuto_levels(sostenuto_frames shares, sostenuto_frames adds, float level) {
  const sostenuto_frames none = 0.0f;
  SOSTENUTO_STEP(SOSTENUTO_FIRST_STEP)
  SOSTENUTO_STEP(SOSTENUTO_SECOND_STEP)
#ifdef __AVX512F__
  SOSTENUTO_STEP(SOSTENUTO_THIRD_STEP)
  SOSTENUTO_STEP(SOSTENUTO_LAST_STEP)
#else
  // In halves: what the third step leaves as it is is kept by a factor of zero, and the last step changes the second half only.
  sostenuto_frames keeps = 1.0f - shares;
  sostenuto_eight low = SOSTENUTO_UPPER_FOUR(keeps.lo), high = SOSTENUTO_UPPER_FOUR(keeps.hi);
  sostenuto_eight adds_low = low * SOSTENUTO_LANE(adds.lo, 3) + adds.lo, adds_high = high * SOSTENUTO_LANE(adds.hi, 3) + adds.hi;
  sostenuto_eight shares_low = low * SOSTENUTO_LANE(shares.lo, 3) + shares.lo;
  sostenuto_eight shares_high = high * SOSTENUTO_LANE(shares.hi, 3) + shares.hi;
  high = 1.0f - shares_high;
  adds = SOSTENUTO_HALVES(adds_low, high * SOSTENUTO_LANE(adds_low, 7) + adds_high);
  shares = SOSTENUTO_HALVES(shares_low, high * SOSTENUTO_LANE(shares_low, 7) + shares_high);
#endif
  return (level - shares * level) + adds;
}

/* Shares rounded as `1 - share` rounds them, so that one channel has the bits of eight; small ones stay exact
   (`SOSTENUTO_FOLLOW_SLOWLY`). */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_kept(sostenuto_frames shares) {
  return shares < SOSTENUTO_SMALL ? shares : 1.0f - (1.0f - shares);
}

/* Levels of sixteen frames from `start` on. Which way a frame goes is guessed by whether its target is above `guess`, and proved
   by the levels that come out: where a guess was wrong, the levels tell the next one. Each round makes at least one more frame
   right, and what comes out in the end does not depend on the first guess. In the lanes below `first` shares and what is added
   are what `done` has, and those of all lanes are left there. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_follow_frames(sostenuto_frames targets, float start, float guess, sostenuto_frames up,
                                                          sostenuto_frames down, int first, float *done) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_integers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // Rounded as those of levels that go frame by frame, which keep the rest of one: a channel is what it would be among many.
  sostenuto_frames kept_up = sostenuto_kept(up), kept_down = sostenuto_kept(down);
  sostenuto_integers rise = targets > (sostenuto_frames)guess;
  sostenuto_frames levels;
#define SOSTENUTO_ROUND                                                                                  \
  if (!sostenuto_has_wide_vectors) rise = (sostenuto_integers)sostenuto_carried((sostenuto_frames)rise); \
  sostenuto_frames shares = rise ? kept_up : kept_down, adds = (rise ? up : down) * targets;             \
  if (first > 0) {                                                                                       \
    shares = places < first ? *(frames_of_memory *)done : shares;                                        \
    adds = places < first ? *(frames_of_memory *)(done + 16) : adds;                                     \
  }                                                                                                      \
  levels = sostenuto_levels(shares, adds, start);                                                        \
  sostenuto_integers proof = targets > sostenuto_delayed_by_one((sostenuto_frames)start, levels);        \
  if (done) *(frames_of_memory *)done = shares, *(frames_of_memory *)(done + 16) = adds;
  // The first round stands alone, where masks stay masks.
  sostenuto_integers next;
  {
    SOSTENUTO_ROUND
    if (__builtin_expect(__builtin_reduce_or(proof ^ rise) == 0, 1)) return levels;
    next = proof;
  }
  for (;;) {
    rise = next;
    SOSTENUTO_ROUND
    if (__builtin_reduce_or(proof ^ rise) == 0) return levels;
    next = proof;
  }
}

/* Whole sixteens of frames; in place. Returns the last level. The guess is a level from a little before, so that a sixteen need
   not wait for the one before it. */
SOSTENUTO_VECTOR float sostenuto_follow_sixteens(float *levels, float level, const float *up, const float *down, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  float guess = level;
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames course = sostenuto_follow_frames(*(frames_of_memory *)(levels + f), level, guess, *(const frames_of_memory *)(up + f),
                                                      *(const frames_of_memory *)(down + f), 0, 0);
    *(frames_of_memory *)(levels + f) = course;
    guess = level;
    level = course[15];
  }
  return level;
}

/* A constant one-pole, up or down: the share of the way that a level has gone after one to sixteen frames, as `sostenuto_levels`
   rounds it, and the rest after one to eight frames; `upper`: the first four of these rests, behind four zeros. */
typedef struct {
  sostenuto_frames shares;
  sostenuto_eight keeps, upper;
} sostenuto_way;

/* Writes the pole down, and behind it the one up; as numbers, since Swift does not know vectors within a structure. */
enum { sostenuto_ways_size = 2 * sizeof(sostenuto_way) / sizeof(float) };
SOSTENUTO_VECTOR void sostenuto_learn_ways(float *numbers, float up, float down) {
  sostenuto_way *ways = (sostenuto_way *)numbers;
  const sostenuto_frames none = 0.0f;
  for (int i = 0; i < 2; i++) {
    sostenuto_frames shares = sostenuto_kept((sostenuto_frames)(i ? up : down)), adds = none;
    SOSTENUTO_STEP(SOSTENUTO_FIRST_STEP)
    SOSTENUTO_STEP(SOSTENUTO_SECOND_STEP)
    SOSTENUTO_STEP(SOSTENUTO_THIRD_STEP)
    SOSTENUTO_STEP(SOSTENUTO_LAST_STEP)
    ways[i].shares = shares;
    ways[i].keeps = 1.0f - shares.lo;
    ways[i].upper = __builtin_shufflevector(ways[i].keeps, none.lo, 8, 8, 8, 8, 0, 1, 2, 3);
  }
}

#ifdef __AVX2__
/* The sign bits of two halves, as a sum: 0 or 510 where all lanes are alike. */
typedef int sostenuto_marks __attribute__((ext_vector_type(8)));
enum { sostenuto_all_marks = 510 };
#define SOSTENUTO_MARKS(low, high) (__builtin_ia32_movmskps256(low) + __builtin_ia32_movmskps256(high))

/* The lanes of a half, each moved up by one place, with the last lane of the half before in the first. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_later(sostenuto_eight before, sostenuto_eight v) {
  typedef long long longs __attribute__((vector_size(32)));
  typedef char bytes __attribute__((vector_size(32)));
  bytes between = (bytes)__builtin_ia32_permti256((longs)before, (longs)v, 0x21);
  return (sostenuto_eight)__builtin_ia32_palignr256((bytes)v, between, 12);
}

/* Whole sixteens at constant shares; in place. Most sixteens rise or fall in all frames: then the rests are known beforehand,
   and only the targets go through the four steps. Which way is guessed by the level at the start, so that no sixteen waits
   for another, and proved as in `sostenuto_follow_frames`, which does the others. The bits are the same. A sixteen
   waits for one number of the sixteen before it, the last level; all else is ready by then. */
SOSTENUTO_VECTOR float sostenuto_follow_ways(float *levels, float level, float up, float down, const float *ways, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef double four_pairs __attribute__((ext_vector_type(4)));
  const sostenuto_eight none = 0.0f, start = level;
  float guess = level;
  sostenuto_eight now = level;
#pragma clang loop unroll(disable)
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames targets = *(frames_of_memory *)(levels + f);
    int marks = SOSTENUTO_MARKS((sostenuto_marks)(targets.lo > start), (sostenuto_marks)(targets.hi > start));
    if (__builtin_expect(marks == 0 || marks == sostenuto_all_marks, 1)) {
      const sostenuto_way *way = (const sostenuto_way *)ways;
      float share = down;
      if (marks) {
        way++;
        share = up;
        // A branch, which the processor predicts: a conditional move would wait for the marks.
        __asm__("" : "+r"(way), "+x"(share));
      }
      sostenuto_eight low = share * targets.lo, high = share * targets.hi;
      sostenuto_eight keeps = way->keeps[0];
      low = keeps * __builtin_shufflevector(low, none, 8, 0, 8, 2, 8, 4, 8, 6) + low;
      high = keeps * __builtin_shufflevector(high, none, 8, 0, 8, 2, 8, 4, 8, 6) + high;
      keeps = (sostenuto_eight)(four_pairs)(*(const double *)&way->keeps);
      low = keeps * __builtin_shufflevector(low, none, 8, 8, 1, 1, 8, 8, 5, 5) + low;
      high = keeps * __builtin_shufflevector(high, none, 8, 8, 1, 1, 8, 8, 5, 5) + high;
      low = way->upper * SOSTENUTO_LANE(low, 3) + low;
      high = way->upper * SOSTENUTO_LANE(high, 3) + high;
      high = way->keeps * SOSTENUTO_LANE(low, 7) + high;
      sostenuto_eight last = (now - ((const float *)&way->shares)[15] * now) + SOSTENUTO_LANE(high, 7);
      low = (now - way->shares.lo * now) + low;
      high = (now - way->shares.hi * now) + high;
      int proof = SOSTENUTO_MARKS((sostenuto_marks)(targets.lo > sostenuto_later(now, low)),
                                  (sostenuto_marks)(targets.hi > sostenuto_later(low, high)));
      if (__builtin_expect(proof == marks, 1)) {
        *(frames_of_memory *)(levels + f) = SOSTENUTO_HALVES(low, high);
        guess = level;
        now = last;
        level = now[0];
        continue;
      }
    }
    sostenuto_frames course = sostenuto_follow_frames(targets, level, guess, (sostenuto_frames)up, (sostenuto_frames)down, 0, 0);
    *(frames_of_memory *)(levels + f) = course;
    guess = level;
    level = course[15];
    now = level;
  }
  return level;
}
#endif

/* The same by shares that rest; `ways` are what `sostenuto_learn_ways` made of them. */
SOSTENUTO_VECTOR float sostenuto_follow_resting_sixteens(float *levels, float level, float up, float down, const float *ways,
                                                         long long frames) {
#ifdef __AVX2__
  return sostenuto_follow_ways(levels, level, up, down, ways, frames);
#else
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  float guess = level;
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames course = sostenuto_follow_frames(*(frames_of_memory *)(levels + f), level, guess, (sostenuto_frames)up,
                                                      (sostenuto_frames)down, 0, 0);
    *(frames_of_memory *)(levels + f) = course;
    guess = level;
    level = course[15];
  }
  return level;
#endif
}

/* Gains times a makeup factor, mixed with the gain of the dry signal, one. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_mixed_gains(sostenuto_frames gains, float makeup, float wet) {
#pragma clang fp contract(off)
  return (1.0f - wet) + wet * (gains * makeup);
}

/* Sixteen frames times gains. Adding zero turns -0 into 0, so that silence has one bit pattern. */
SOSTENUTO_VECTOR void sostenuto_give(sostenuto_frames gains, const float *input, float *output) {
#pragma clang fp contract(off)
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  *(frames_of_memory *)output = *(const frames_of_memory *)input * gains + 0.0f;
}

/* Sixteen gains of reductions in octaves, and a channel's frames times them, where there is an output. `makeup`: factor of the
   gain; `wet`: its part in the mix. */
SOSTENUTO_VECTOR void sostenuto_give_gains(sostenuto_frames reductions, float makeup, float wet, float *gains, const float *input,
                                           float *output) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames gain = sostenuto_powers_of_two(0.0f - reductions);
  if (makeup != 1.0f || wet != 1.0f) gain = sostenuto_mixed_gains(gain, makeup, wet);
  *(frames_of_memory *)gains = gain;
  if (output) sostenuto_give(gain, input, output);
}

/* Gains from target reductions, which are followed by shares that rest; whole sixteens of frames, in place. `input` and `output`:
   the channel that they are given to at once, or null. Returns the last reduction. */
SOSTENUTO_VECTOR float sostenuto_gains_of_sixteens(float *rows, float level, float up, float down, const float *ways, float makeup,
                                                   float wet, const float *input, float *output, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  float next = sostenuto_follow_resting_sixteens(rows, level, up, down, ways, frames);
  // Without makeup and fully wet, as most are, there is a shorter loop.
#define SOSTENUTO_GIVE_GAINS(makeup, wet)                                                                         \
  _Pragma("clang loop unroll(disable)") for (long long f = 0; f < frames; f += 16) {                              \
    sostenuto_give_gains(*(frames_of_memory *)(rows + f), makeup, wet, rows + f, input + f, output ? output + f : 0); \
  }
  if (makeup == 1.0f && wet == 1.0f) {
    SOSTENUTO_GIVE_GAINS(1.0f, 1.0f)
  } else {
    SOSTENUTO_GIVE_GAINS(makeup, wet)
  }
  return next;
}

/* Sixteen peaks: each is its target or, if that is more, what is left of the one before on its way there by the share `down`. The
   larger of two such steps in a row is one such step again, so that nothing has to be guessed. */
#define SOSTENUTO_HOLD(...)                                                     \
  {                                                                             \
    sostenuto_frames keeps = 1.0f - shares;                                     \
    peaks = __builtin_elementwise_max(                                          \
        peaks, keeps * __builtin_shufflevector(peaks, none, __VA_ARGS__) + adds); \
    adds = keeps * __builtin_shufflevector(adds, none, __VA_ARGS__) + adds;     \
    shares = keeps * __builtin_shufflevector(shares, none, __VA_ARGS__) + shares; \
  }
SOSTENUTO_VECTOR sostenuto_frames sostenuto_hold_frames(sostenuto_frames peaks, float level, float down) {
  const sostenuto_frames none = 0.0f;
  sostenuto_frames shares = sostenuto_kept((sostenuto_frames)down), adds = down * SOSTENUTO_BELOW * peaks;
  SOSTENUTO_HOLD(SOSTENUTO_FIRST_STEP)
  SOSTENUTO_HOLD(SOSTENUTO_SECOND_STEP)
  SOSTENUTO_HOLD(SOSTENUTO_THIRD_STEP)
  SOSTENUTO_HOLD(SOSTENUTO_LAST_STEP)
  return __builtin_elementwise_max(peaks, (level - shares * level) + adds);
}

SOSTENUTO_VECTOR float sostenuto_hold_sixteens(float *levels, float level, float down, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames course = sostenuto_hold_frames(*(frames_of_memory *)(levels + f), level, down);
    *(frames_of_memory *)(levels + f) = course;
    level = course[15];
  }
  return level;
}

/* The lanes `first..<last` of a sixteen; others are zero. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_part(sostenuto_frames v, int first, int last) {
  const sostenuto_integers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return (sostenuto_frames)((sostenuto_integers)v & ((places >= first) & (places < last)));
}

/* The peaks `first..<last` of sixteen, as `sostenuto_follow_part` has levels; `done` has the targets that went before. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_hold_part(sostenuto_frames targets, float start, float down, int first, int last,
                                                      float *done) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  targets = sostenuto_join(*(frames_of_memory *)done, sostenuto_part(targets, first, last), first);
  *(frames_of_memory *)done = targets;
  return sostenuto_hold_frames(targets, start, down);
}

/* The frames `first..<last` of a sixteen: `start` is the level before it, and `done` has the shares of those that went before, and
   what they added. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_follow_part(sostenuto_frames targets, float start, sostenuto_frames up,
                                                        sostenuto_frames down, int first, int last, float *done) {
  return sostenuto_follow_frames(sostenuto_part(targets, first, last), start, start, sostenuto_part(up, first, last),
                                 sostenuto_part(down, first, last), first, done);
}
