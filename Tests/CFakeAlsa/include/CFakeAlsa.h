#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Sound cards that are not there. In the program of the tests, ALSA's functions are found here first: a device whose
   name begins with `fake` is one of these, every other is ALSA's own.

   A fake card has no time of its own but that of the thread that plays through it, which goes on when that thread
   waits, sleeps, or renders: an hour passes in a few seconds, and in the same way each time. The clock that the
   driver asks on that thread is the system's; the card's runs faster or slower. */

/* One direction of the card that is opened next. */
struct fake_alsa_shape {
  bool is_absent;
  /* A card itself, which only one may have open, not a way to one. */
  bool is_card;
  uint32_t rate;
  uint32_t channels_max;
  /* What it takes: 1 is float, 2 is 32 bits, 4 is 16 bits, 8 is 24 bits in four bytes, 16 in three. */
  uint32_t formats;
  uint32_t period_min, period_max, period_multiple;
  uint32_t buffer_max;
  /* How much faster than the system's clock, in millionths; negative: slower. */
  int32_t ppm;
  /* Of a thousand transfers, how many take or give a part only, or nothing, or are interrupted. */
  uint32_t hesitations;
  /* Of a thousand transfers, before how many it runs dry or over by itself; or has slept. */
  uint32_t xruns, sleeps;
  /* The transfer from which on it is gone; 0: none. And the one from which on it says that it has room and takes
     nothing. */
  uint64_t vanishes_at, stalls_at;
  uint32_t seed;
  /* Its clock swings by so many millionths besides, back and forth in so many seconds. */
  int32_t swing, swing_seconds;
  /* Its thread wakes up to so many microseconds late. */
  uint32_t jitter;
  /* Having vanished, it is there again after so many milliseconds; 0: never. */
  uint32_t returns_after;
  /* What it captures: a sine of half of full scale and so many Hz by its own clock; 0: the frames' numbers. */
  uint32_t tone;
  /* The transferred frame from which on it keeps what is heard. */
  int64_t heard_from;
};

/* What came of one direction of the card that was opened last. */
struct fake_alsa_fate {
  int opened, closed;
  /* Frames handed over. */
  int64_t transferred;
  /* Times that it ran dry or over since nobody came in time; and as it was told to. */
  int64_t late, told;
  /* Reads into memory that is smaller than what was asked for. */
  int64_t overflows;
  /* Milliseconds since it first started, of the system's clock as the driver sees it. */
  int64_t played;
  uint32_t channels, period, buffer;
  /* When it first started, in nanoseconds. */
  int64_t first_started;
};

/* Also forgets what came of those before. */
void fake_alsa_insert(const struct fake_alsa_shape *playback, const struct fake_alsa_shape *capture,
                      int64_t render_nanoseconds);
struct fake_alsa_fate fake_alsa_look(bool is_capture);
/* Is called on the thread of a fake card whenever its time has gone on, with that time; NULL: nothing is. */
void fake_alsa_follow(void (*follow)(int64_t time));

/* What was played through it from `heard_from` on, up to 65,536 frames of its first channel, as floats. Captured frame n has
   the value (n % 1000 + 1) / 1024, plus two for each channel after the first in units of 1/8192. */
int64_t fake_alsa_heard(float *samples, int64_t count);

/* A sequencer that is not there: while it is inserted, ALSA's functions open this one. What it is told to send comes in
   from there on, in order. */
void fake_sequencer_insert(bool is_inserted);
/* How many ports the product has made on it. */
int fake_sequencer_ports(void);
/* An event, an `snd_seq_event_t`. With bytes: a piece of a system exclusive message, of which a copy is made. */
void fake_sequencer_send(const void *event, const uint8_t *bytes, uint32_t count);
/* More came in than ALSA had room for. */
void fake_sequencer_overflow(void);
/* What the product has sent: for each event its port, the number of its bytes, the lower eight bits first, and the
   bytes, as they are on a wire. Returns the number of all bytes. */
uint32_t fake_sequencer_sent(uint8_t *bytes, uint32_t room);
/* So many calls of the product find no room for an event. */
void fake_sequencer_fill(int calls);

/* Fill all memory that is allocated from now on with this byte; 0: leave it as it is. */
void fake_memory(int byte);
