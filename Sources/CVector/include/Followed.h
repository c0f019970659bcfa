#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* One level that follows its target by the share `up` or `down` of the way, sixteen frames at once. */

/* Of which lanes those above take what they are the next step of: in pairs, fours, eights and all. */
#define SOSTENUTO_FIRST_STEP 16, 0, 16, 2, 16, 4, 16, 6, 16, 8, 16, 10, 16, 12, 16, 14
#define SOSTENUTO_SECOND_STEP 16, 16, 1, 1, 16, 16, 5, 5, 16, 16, 9, 9, 16, 16, 13, 13
#define SOSTENUTO_THIRD_STEP 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11
#define SOSTENUTO_LAST_STEP 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7

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
  SOSTENUTO_STEP(SOSTENUTO_THIRD_STEP)
  SOSTENUTO_STEP(SOSTENUTO_LAST_STEP)
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
  sostenuto_frames rises = up * targets, falls = down * targets;
  // Rounded as those of levels that go frame by frame, which keep the rest of one: a channel is what it would be among many.
  up = sostenuto_kept(up);
  down = sostenuto_kept(down);
  sostenuto_integers rise = targets > (sostenuto_frames)guess;
  sostenuto_frames levels;
#define SOSTENUTO_ROUND                                                                                  \
  sostenuto_frames shares = rise ? up : down, adds = rise ? rises : falls;                               \
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

/* The same by shares that rest. */
SOSTENUTO_VECTOR float sostenuto_follow_resting_sixteens(float *levels, float level, float up, float down, long long frames) {
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
}

/* Sixty-four frames at once, by shares that rest; `courses` are the bits that `sostenuto_follow_frames` gives. The scans of the four
   sixteens run side by side, and only the last frame of each is carried on to the next. Whether a frame rises is guessed: from the
   level that a way towards the middle target of each sixteen would reach. Returns false where a guess was wrong. */
SOSTENUTO_VECTOR _Bool sostenuto_follow_at_once(const float *levels, float *level, float up, float down, sostenuto_frames *courses) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_frames none = 0.0f;
  const sostenuto_frames kept_up = sostenuto_kept((sostenuto_frames)up), kept_down = sostenuto_kept((sostenuto_frames)down);
  // All ways begin at the first level, so that none waits for another.
  const float far_up = up * 16.0f < 1.0f ? up * 16.0f : 1.0f, far_down = down * 16.0f < 1.0f ? down * 16.0f : 1.0f;
  float ways[3], guesses[4];
  for (int i = 0; i < 3; i++) {
    float way = levels[16 * i + 8] - *level, one = far_up * way, other = far_down * way;
    ways[i] = far_up > far_down ? (one > other ? one : other) : (one < other ? one : other);
  }
  guesses[0] = *level;
  guesses[1] = *level + ways[0];
  guesses[2] = *level + (ways[0] + ways[1]);
  guesses[3] = guesses[1] + (ways[1] + ways[2]);
  sostenuto_frames shares[4], adds[4], keeps[4];
  sostenuto_integers rises[4];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    sostenuto_frames targets = *(const frames_of_memory *)(levels + 16 * i);
    rises[i] = targets > (sostenuto_frames)guesses[i];
    shares[i] = rises[i] ? kept_up : kept_down;
    adds[i] = rises[i] ? up * targets : down * targets;
  }
#define SOSTENUTO_STEP_OF_FOUR(...)                                                              \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) {                               \
    keeps[i] = 1.0f - shares[i];                                                                 \
    adds[i] = keeps[i] * __builtin_shufflevector(adds[i], none, __VA_ARGS__) + adds[i];          \
    shares[i] = keeps[i] * __builtin_shufflevector(shares[i], none, __VA_ARGS__) + shares[i];    \
  }
  SOSTENUTO_STEP_OF_FOUR(SOSTENUTO_FIRST_STEP)
  SOSTENUTO_STEP_OF_FOUR(SOSTENUTO_SECOND_STEP)
  SOSTENUTO_STEP_OF_FOUR(SOSTENUTO_THIRD_STEP)
  SOSTENUTO_STEP_OF_FOUR(SOSTENUTO_LAST_STEP)
  float now = *level;
  sostenuto_integers wrong = 0;
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    courses[i] = (now - shares[i] * now) + adds[i];
    sostenuto_frames targets = *(const frames_of_memory *)(levels + 16 * i);
    wrong |= rises[i] ^ (targets > sostenuto_delayed_by_one((sostenuto_frames)now, courses[i]));
    float share = shares[i][15], add = adds[i][15];
    now = (now - share * now) + add;
  }
  *level = now;
  return __builtin_reduce_or(wrong) == 0;
}

/* Gains from target reductions in octaves, which are followed by shares that rest; whole sixteens of frames, in place. `makeup`:
   factor of the gain; `wet`: its part in the mix. Returns the last reduction. */
SOSTENUTO_VECTOR float sostenuto_gains_of_sixteens(float *rows, float level, float up, float down, float makeup, float wet,
                                                   long long frames) {
#pragma clang fp contract(off)
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  float dry = 1.0f - wet, next = level;
  sostenuto_frames courses[4];
  if (sostenuto_has_wide_vectors && frames == 64 &&
      __builtin_expect(sostenuto_follow_at_once(rows, &next, up, down, courses), 1)) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
      *(frames_of_memory *)(rows + 16 * i) = dry + wet * (sostenuto_powers_of_two(0.0f - courses[i]) * makeup);
    }
    return next;
  }
  next = sostenuto_follow_resting_sixteens(rows, level, up, down, frames);
#pragma clang loop unroll(disable)
  for (long long f = 0; f < frames; f += 16) {
    *(frames_of_memory *)(rows + f) = dry + wet * (sostenuto_powers_of_two(0.0f - *(frames_of_memory *)(rows + f)) * makeup);
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

/* Some of sixteen peaks, as `sostenuto_follow_part` has levels; `done` has the targets that went before. */
SOSTENUTO_VECTOR float sostenuto_hold_part(float *levels, float start, float down, int first, int count, float *done) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  for (int f = 0; f < count; f++) done[first + f] = levels[f];
  sostenuto_frames course = sostenuto_hold_frames(*(frames_of_memory *)done, start, down);
  for (int f = 0; f < count; f++) levels[f] = course[first + f];
  return levels[count - 1];
}

/* Some frames of a sixteen, of which `first` went before: `start` is the level before these, and `done` their shares and
   what they added. Returns the last level. */
SOSTENUTO_VECTOR float sostenuto_follow_part(float *levels, float start, const float *up, const float *down, int first, int count,
                                             float *done) {
  float room[48] = {0};
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  for (int f = 0; f < count; f++) {
    room[first + f] = levels[f];
    room[16 + first + f] = up[f];
    room[32 + first + f] = down[f];
  }
  sostenuto_frames course = sostenuto_follow_frames(*(frames_of_memory *)room, start, start, *(frames_of_memory *)(room + 16),
                                                    *(frames_of_memory *)(room + 32), first, done);
  for (int f = 0; f < count; f++) levels[f] = course[first + f];
  return levels[count - 1];
}
