#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Levels: logarithms of whole vectors, and what goes from frame to frame in compressors and gates. */

/* The logarithms to base 2 of positive numbers, to 1.8e-7; of zero -127. A number is split into a power of two, its nearest eighth
   and a factor of about one; the logarithms of eighths, and their inverses, come from tables that a register holds. Around one there
   is nothing to add, so that small logarithms keep their digits. For the factor there is the polynomial of least error, in pairs. */
#define SOSTENUTO_SPLIT(v, factor, power)                                                                               \
  const sostenuto_eight inverses = {1.0f,       0.8888889f,  0.8f,       0.72727275f,                                   \
                                    0.6666667f, 0.61538464f, 0.5714286f, 0.53333336f};                                  \
  const sostenuto_eight known = {0.0f, 0.16992499f, 0.32192808f, 0.4594316f, 0.5849625f, 0.7004397f, 0.80735487f, 0.9068905f}; \
  sostenuto_integers bits = (sostenuto_integers)(v), eighths = bits - 0x3F780000;                                       \
  sostenuto_bits place = (sostenuto_bits)(eighths >> 20);                                                               \
  sostenuto_frames within = (sostenuto_frames)(bits - (eighths & (int)0xFF800000));                                     \
  factor = within * sostenuto_pick_of_eight(inverses, place) - 1.0f;                                                    \
  power = __builtin_convertvector(eighths >> 23, sostenuto_frames) + sostenuto_pick_of_eight(known, place);
#define SOSTENUTO_LOGARITHM(logarithm, r, power)                                                                        \
  __typeof__(r) high = r * -0.36223125f + 0.48230422f, low = r * -0.7213451f + 1.4426937f;                              \
  logarithm = (high * (r * r) + low) * r + power;
SOSTENUTO_VECTOR sostenuto_frames sostenuto_logarithms(sostenuto_frames v) {
  sostenuto_frames r, power;
  SOSTENUTO_SPLIT(v, r, power)
  SOSTENUTO_LOGARITHM(v, r, power)
  return v;
}

/* Reductions in octaves of magnitudes, times `scale` in parts of where the curve begins to bend: `knee` octaves further on it has
   become a line of that `slope`. `bend`: the factor of the square. In C, since Swift's compiler takes the last product apart into
   lanes. */
#define SOSTENUTO_REDUCTION(over, slope, knee, bend)                       \
  over = __builtin_elementwise_max(over, (__typeof__(over))0.0f);          \
  __typeof__(over) bent = over < (knee) ? over : (__typeof__(over))(knee); \
  over = (slope) * (over - bent) + bent * ((bend) * bent);
SOSTENUTO_VECTOR sostenuto_frames sostenuto_reductions(sostenuto_frames magnitudes, sostenuto_frames scale, sostenuto_frames slope,
                                                       sostenuto_frames knee, sostenuto_frames bend) {
  sostenuto_frames over = sostenuto_logarithms(magnitudes * scale);
  SOSTENUTO_REDUCTION(over, slope, knee, bend)
  return over;
}

/* Factors of magnitudes, for thresholds; of a threshold of one it is `scale`. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_threshold_scales(sostenuto_frames threshold, float scale) {
  return scale / __builtin_elementwise_max(threshold, (sostenuto_frames)1e-6f);
}

/* Reductions of samples, in sixteens of frames; `rows` may be `heard`. `thresholds`: one for each frame, which divides `scale`, or
   null. With registers of eight floats there are two short loops: the processor has more of them under way at a time than of
   one long chain. */
SOSTENUTO_VECTOR void sostenuto_write_reductions(const float *heard, float *rows, const float *thresholds, float scale, float slope,
                                                 float knee, float bend, long long frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (sostenuto_has_wide_vectors) {
    for (long long f = 0; f < frames; f += 16) {
      sostenuto_frames scales = thresholds ? sostenuto_threshold_scales(*(const frames_of_memory *)(thresholds + f), scale) : scale;
      sostenuto_frames magnitudes = __builtin_elementwise_abs(*(const frames_of_memory *)(heard + f));
      *(frames_of_memory *)(rows + f) = sostenuto_reductions(magnitudes, scales, slope, knee, bend);
    }
    return;
  }
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  float work[128] __attribute__((aligned(64)));
#pragma clang loop unroll(disable)
  for (long long f = 0; f < frames; f += 16) {
    sostenuto_frames scales = thresholds ? sostenuto_threshold_scales(*(const frames_of_memory *)(thresholds + f), scale) : scale;
    sostenuto_frames level = __builtin_elementwise_abs(*(const frames_of_memory *)(heard + f)) * scales;
    SOSTENUTO_SPLIT(level, *(frames_of_memory *)(work + f), *(frames_of_memory *)(work + 64 + f))
  }
#pragma clang loop unroll(disable)
  for (long long f = 0; f < frames; f += 8) {
    sostenuto_eight r = *(row_of_memory *)(work + f), over;
    SOSTENUTO_LOGARITHM(over, r, *(row_of_memory *)(work + 64 + f))
    SOSTENUTO_REDUCTION(over, slope, knee, bend)
    *(row_of_memory *)(rows + f) = over;
  }
}

/* 1 - exp(-1 / n) for times of n frames: how much of the way a one-pole goes in a frame. Of a long time by its series, since
   most of one less a number near one is rounding. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_approaches(sostenuto_frames frames) {
  sostenuto_frames u = 1.0f / __builtin_elementwise_max(frames, (sostenuto_frames)0.001f);
  sostenuto_frames near = 1.0f - sostenuto_powers_of_two(u * -1.4426950f);
  sostenuto_frames p = u * -0.2f + 1.0f;
  p = p * (u * -0.25f) + 1.0f;
  p = p * (u * -0.33333333f) + 1.0f;
  p = p * (u * -0.5f) + 1.0f;
  return sostenuto_where_above(u, 0.5f, near, p * u);
}

/* A level that follows its target, by the share `up` or `down` of the way: of both ways that which is taken is the higher one
   where `up` is the larger share, else the lower one. So a frame waits for one product and one comparison only. */
#define SOSTENUTO_FOLLOW(level, target, up, down, larger)                            \
  __typeof__(level) rise = (up) * (target), fall = (down) * (target);                \
  __typeof__(level) one = (1.0f - (up)) * (level) + rise, other = (1.0f - (down)) * (level) + fall; \
  level = (larger) ? (one > other ? one : other) : (one < other ? one : other);

/* The same by shares that are small: what one less such a share keeps of a level is mostly rounding, which would make a way of
   seconds some percent longer or shorter. A frame waits for a sum more. */
#define SOSTENUTO_SMALL 0x1p-17f
#define SOSTENUTO_FOLLOW_SLOWLY(level, target, up, down, larger)                                      \
  __typeof__(level) one = level + ((up) * (target) - (up) * (level));                                 \
  __typeof__(level) other = level + ((down) * (target) - (down) * (level));                           \
  level = (larger) ? (one > other ? one : other) : (one < other ? one : other);

/* Which way is taken faster in all of some frames: 1 where going up is never the slower one, -1 where it is never the faster
   one, 0 where neither is true. */
SOSTENUTO_VECTOR int sostenuto_faster_way(const float *up, const float *down, long long frames) {
  _Bool is_up = 1, is_down = 1;
  for (long long f = 0; f < frames; f++) is_up &= up[f] >= down[f];
  if (is_up) return 1;
  for (long long f = 0; f < frames; f++) is_down &= up[f] <= down[f];
  return is_down ? -1 : 0;
}

/* Levels that follow their targets; in place. Returns the last one. The faster way is known before the loop, so that no frame
   waits for a choice between the higher and the lower level. */
#define SOSTENUTO_FOLLOW_ROWS(larger)                         \
  for (long long f = 0; f < frames; f++) {                    \
    SOSTENUTO_FOLLOW(level, levels[f], up[f], down[f], larger) \
    levels[f] = level;                                        \
  }
SOSTENUTO_VECTOR float sostenuto_follow(float *levels, float level, const float *up, const float *down, long long frames) {
  int way = sostenuto_faster_way(up, down, frames);
  if (way > 0) {
    SOSTENUTO_FOLLOW_ROWS(1)
  } else if (way < 0) {
    SOSTENUTO_FOLLOW_ROWS(0)
  } else {
    SOSTENUTO_FOLLOW_ROWS(up[f] >= down[f])
  }
  return level;
}

/* The same of sixteen frames by shares that rest. Which way each frame takes is guessed by whether its target is above a level
   from a little before: so a frame waits for one product only, and what it is made from need not wait for a level at all. The
   guess is proved by both ways of all frames at once, bit for bit; where it fails, at the few frames in which targets cross
   the level, each frame asks for both ways. `work` is room for 64 numbers. */
SOSTENUTO_VECTOR float sostenuto_follow_sixteen(float *levels, float level, float guess, float up, float down, float *work) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames targets = *(frames_of_memory *)levels, rises = (sostenuto_frames)up * targets;
  sostenuto_frames falls = (sostenuto_frames)down * targets, keeps_up = 1.0f - up, keeps_down = 1.0f - down;
  sostenuto_integers rise = targets > (sostenuto_frames)guess;
  // The level before, and the sixteen.
  float *course = work, *keeps = work + 32, *adds = work + 48;
  *(frames_of_memory *)keeps = rise ? keeps_up : keeps_down;
  *(frames_of_memory *)adds = rise ? rises : falls;
  // From memory a number comes by one instruction; out of a vector it takes two.
  __asm__("" : "+m"(*(float(*)[32])keeps));
  float now = level;
  course[15] = level;
#pragma clang loop unroll(full)
  for (int f = 0; f < 16; f++) {
    now = keeps[f] * now + adds[f];
    course[16 + f] = now;
  }
  sostenuto_frames before = *(frames_of_memory *)(course + 15), after = *(frames_of_memory *)(course + 16);
  sostenuto_frames one = keeps_up * before + rises, other = keeps_down * before + falls;
  sostenuto_frames taken = up >= down ? (one > other ? one : other) : (one < other ? one : other);
  if (__builtin_expect(__builtin_reduce_or((sostenuto_integers)taken ^ (sostenuto_integers)after) == 0, 1)) {
    *(frames_of_memory *)levels = after;
    return now;
  }
  if (up >= down) {
    for (int f = 0; f < 16; f++) {
      SOSTENUTO_FOLLOW(level, levels[f], up, down, 1)
      levels[f] = level;
    }
  } else {
    for (int f = 0; f < 16; f++) {
      SOSTENUTO_FOLLOW(level, levels[f], up, down, 0)
      levels[f] = level;
    }
  }
  return level;
}

/* The same of any number of frames. */
SOSTENUTO_VECTOR float sostenuto_follow_resting(float *levels, float level, float up, float down, float *work, long long frames) {
  float guess = level;
  long long f = 0;
  for (; f + 16 <= frames; f += 16) {
    float next = sostenuto_follow_sixteen(levels + f, level, guess, up, down, work);
    guess = level;
    level = next;
  }
  for (; f < frames; f++) {
    SOSTENUTO_FOLLOW(level, levels[f], up, down, up >= down)
    levels[f] = level;
  }
  return level;
}

/* The same of eight channels, whose levels in a frame follow each other. */
#define SOSTENUTO_FOLLOW_LANES(larger)                               \
  for (long long f = 0; f < frames; f++) {                           \
    sostenuto_eight target = *(row_of_memory *)(levels + 8 * f);     \
    if (up[f] < SOSTENUTO_SMALL || down[f] < SOSTENUTO_SMALL) {      \
      SOSTENUTO_FOLLOW_SLOWLY(level, target, up[f], down[f], larger) \
    } else {                                                         \
      SOSTENUTO_FOLLOW(level, target, up[f], down[f], larger)        \
    }                                                                \
    *(row_of_memory *)(levels + 8 * f) = level;                      \
  }
SOSTENUTO_VECTOR sostenuto_eight sostenuto_follow_eight(float *levels, sostenuto_eight level, const float *up, const float *down,
                                                        long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  int way = sostenuto_faster_way(up, down, frames);
  if (way > 0) {
    SOSTENUTO_FOLLOW_LANES(1)
  } else if (way < 0) {
    SOSTENUTO_FOLLOW_LANES(0)
  } else {
    SOSTENUTO_FOLLOW_LANES(up[f] >= down[f])
  }
  return level;
}

/* By shares that rest. */
#define SOSTENUTO_FOLLOW_RESTING_LANES(follow, larger)           \
  for (long long f = 0; f < frames; f++) {                       \
    sostenuto_eight target = *(row_of_memory *)(levels + 8 * f); \
    follow(level, target, up, down, larger)                      \
    *(row_of_memory *)(levels + 8 * f) = level;                  \
  }
SOSTENUTO_VECTOR sostenuto_eight sostenuto_follow_resting_eight(float *levels, sostenuto_eight level, float up, float down,
                                                                long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  if (up < SOSTENUTO_SMALL || down < SOSTENUTO_SMALL) {
    if (up >= down) {
      SOSTENUTO_FOLLOW_RESTING_LANES(SOSTENUTO_FOLLOW_SLOWLY, 1)
    } else {
      SOSTENUTO_FOLLOW_RESTING_LANES(SOSTENUTO_FOLLOW_SLOWLY, 0)
    }
  } else if (up >= down) {
    SOSTENUTO_FOLLOW_RESTING_LANES(SOSTENUTO_FOLLOW, 1)
  } else {
    SOSTENUTO_FOLLOW_RESTING_LANES(SOSTENUTO_FOLLOW, 0)
  }
  return level;
}

/* Peaks fall to a hundredth of a decibel below their targets. Rounding would else lift those of a sound that stays as
   it is, by up to 3e-4 where the share is small, which a ratio of fifty shows. */
#define SOSTENUTO_BELOW (1.0f - 0x1p-10f)

/* Eight peaks: each is its target or, if that is more, what is left of the one before on its way there by the share `down`. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_hold_eight(float *levels, sostenuto_eight level, float down, long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  for (long long f = 0; f < frames; f++) {
    sostenuto_eight target = *(row_of_memory *)(levels + 8 * f), fall = (1.0f - down) * level + down * SOSTENUTO_BELOW * target;
    level = target > fall ? target : fall;
    *(row_of_memory *)(levels + 8 * f) = level;
  }
  return level;
}

/* Eight counts of frames. */
typedef int sostenuto_counts __attribute__((ext_vector_type(8)));

/* Eight gates. What each hears becomes its gain: above `open` it opens for `hold` frames, and above `shut` one that is open
   stays so; `counts` are the frames left. The gain goes to 1 while it is open, else to `least`. */
SOSTENUTO_VECTOR void sostenuto_gate_eight(float *heard, float *gains, int *counts, const float *open,
                                           const float *shut, const float *hold, const float *least, const float *up,
                                           const float *down, long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef int counts_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight gain = *(row_of_memory *)gains;
  sostenuto_counts left = *(counts_of_memory *)counts, none = 0;
  for (long long f = 0; f < frames; f++) {
    sostenuto_eight x = *(row_of_memory *)(heard + 8 * f);
    sostenuto_counts all = (sostenuto_counts)(int)hold[f], keeps = (x > open[f]) | ((x > shut[f]) & (left > none));
    left = keeps ? all : __builtin_elementwise_max(left - 1, none);
    sostenuto_eight target = left > none ? (sostenuto_eight)1.0f : (sostenuto_eight)least[f];
    SOSTENUTO_FOLLOW(gain, target, up[f], down[f], up[f] >= down[f])
    *(row_of_memory *)(heard + 8 * f) = gain;
  }
  *(row_of_memory *)gains = gain;
  *(counts_of_memory *)counts = left;
}

/* Levels that one gate hears in some frames, sixteen at most, become the targets of its gain: 1 while it is open, else `least`. Returns
   the frames left. Of sixteen frames within a hold all are open, and of sixteen below the threshold of one that is shut none:
   else each asks the one before. */
SOSTENUTO_VECTOR int sostenuto_gate_targets(float *heard, int left, const float *open, const float *shut, const float *hold,
                                            const float *least, int frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (frames == 16) {
    sostenuto_frames x = *(frames_of_memory *)heard, holds = *(const frames_of_memory *)hold;
    sostenuto_integers opens = x > *(const frames_of_memory *)open, stays = x > *(const frames_of_memory *)shut;
    if (left > 16 && __builtin_reduce_and(holds >= 16.0f)) {
      const sostenuto_integers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
      int last = __builtin_reduce_max(places | ~(opens | stays));
      *(frames_of_memory *)heard = (sostenuto_frames)1.0f;
      return last < 0 ? left - 16 : (int)hold[last] - (15 - last);
    }
    if (left == 0 && !__builtin_reduce_or(opens)) {
      *(frames_of_memory *)heard = *(const frames_of_memory *)least;
      return 0;
    }
  }
  for (int f = 0; f < frames; f++) {
    // Masks, since what is heard is hard to foretell for a jump.
    int keeps = -((heard[f] > open[f]) | ((heard[f] > shut[f]) & (left > 0))), fewer = left > 0 ? left - 1 : 0;
    left = ((int)hold[f] & keeps) | (fewer & ~keeps);
    heard[f] = left > 0 ? 1.0f : least[f];
  }
  return left;
}

/* True, and the targets are the level, where these are the same in sixteen frames and one frame leaves the level as it is: it
   has come as near as it will. */
SOSTENUTO_VECTOR _Bool sostenuto_stays(float *levels, float level, float up, float down, int frames) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (frames < 16) return 0;
  sostenuto_frames targets = *(frames_of_memory *)levels;
  float next = level;
  SOSTENUTO_FOLLOW(next, levels[0], up, down, up >= down)
  if (next != level || !__builtin_reduce_and(targets == (sostenuto_frames)levels[0])) return 0;
  *(frames_of_memory *)levels = (sostenuto_frames)level;
  return 1;
}

/* One gate, as `sostenuto_gate_eight` has eight. */
SOSTENUTO_VECTOR void sostenuto_gate(float *heard, float *gains, int *counts, const float *open, const float *shut,
                                     const float *hold, const float *least, const float *up, const float *down, float *work,
                                     long long frames) {
  float gain = *gains;
  int left = *counts;
  _Bool rests = 1;
  for (long long f = 0; f < frames; f++) rests &= (up[f] == up[0]) & (down[f] == down[0]);
  for (long long f = 0; f < frames; f += 16) {
    int count = frames - f < 16 ? (int)(frames - f) : 16;
    left = sostenuto_gate_targets(heard + f, left, open + f, shut + f, hold + f, least + f, count);
    if (!rests) {
      gain = sostenuto_follow(heard + f, gain, up + f, down + f, count);
    } else if (!sostenuto_stays(heard + f, gain, up[0], down[0], count)) {
      gain = sostenuto_follow_resting(heard + f, gain, up[0], down[0], work, count);
    }
  }
  *gains = gain;
  *counts = left;
}
