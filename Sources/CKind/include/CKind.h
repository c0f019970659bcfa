#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node kind that is only known at run time (a plug-in, a sub-patch), as a table of C functions.

   Threads: a function marked "audio thread" must not lock, allocate, or wait. The others are called by the worker,
   one at a time for each instance; those without a further remark while the audio thread may run the instance. */

/* Most frames of a block, and the distance between the channels of an output. */
enum { sostenuto_block_capacity = 64 };

/* An audio input in one block. */
typedef struct {
  /* One pointer a channel, to 64 floats of which the block's frames are valid; zeros while silent. */
  const float *const *channels;
  int32_t count;
  bool is_silent;
  bool is_connected;
} sostenuto_input;

/* An audio output in one block: channel c at samples + 64 * c; never the memory of an input. */
typedef struct {
  float *samples;
  int32_t count;
  /* A cable reads it, or it is the first output. */
  bool is_read;
} sostenuto_output;

/* A continuous parameter in one block, with the modulation at its port added. */
typedef struct {
  /* The values at the first frame, one an element. */
  const float *values;
  /* NULL while all elements are constant; otherwise the frames of element e at stream + 64 * e. */
  const float *stream;
  int32_t elements;
} sostenuto_parameter;

/* A musical or transport event; `type` counts the cases of Swift's `Event.Kind` from 0: note on, note off, control,
   bend, pressure, key pressure, program, all notes off, all sound off, play, stop, cue, ... */
typedef struct {
  double time;
  float value;
  /* Frames from the block's start. */
  int32_t offset;
  int32_t detail;
  uint8_t type;
  uint8_t channel;
  uint8_t key;
} sostenuto_event;

/* One block: 1...64 frames that do not cross a multiple of 64 of the engine's time. */
typedef struct {
  /* Engine time of the first frame. */
  int64_t time;
  const sostenuto_input *inputs;
  const sostenuto_output *outputs;
  /* By position in the kind's description; valid for continuous parameters that are ramped. */
  const sostenuto_parameter *parameters;
  const sostenuto_event *events;
  /* Room for events to be sent. */
  sostenuto_event *sent;
  int32_t event_count;
  int32_t sent_capacity;
  /* Set by the instance. */
  int32_t sent_count;
  int32_t frames;
  /* Hz. */
  float rate;
} sostenuto_block;

/* Settings that an instance is prepared with; valid during the call. */
typedef struct {
  /* Hz. */
  double rate;
  /* Channels of each audio input and output, in the description's order. */
  const int32_t *inputs;
  const int32_t *outputs;
  int32_t input_count;
  int32_t output_count;
  int32_t parameter_count;
  /* First value of each parameter: gains linear, choices and toggles as numbers, files and texts as 0. */
  const float *values;
  /* Saved state; NULL: none. */
  const char *state;
  /* Shows the progress, 0...1. False: the node is gone, and the instance need not be finished. */
  bool (*progress)(void *listener, float fraction);
  void *listener;
} sostenuto_setup;

/* The functions of a kind. Those that are optional may be NULL. */
typedef struct {
  /* Passed to `prepare`. It must outlive the kind. */
  void *context;
  /* Makes an instance. May take long, and runs on a thread of its own, before any other function. NULL: it failed, for
     the reason written to `fault`, of `capacity` bytes with the final 0. */
  void *(*prepare)(void *context, const sostenuto_setup *setup, char *fault, size_t capacity);
  /* Renders a block. False: all outputs are silent, and need not be written. Audio thread. */
  bool (*process)(void *instance, sostenuto_block *block);
  /* Frees an instance that no audio thread runs any more. */
  void (*release)(void *instance);
  /* Optional: true when no tail is left and the input is silent; called at multiples of 64 frames. Audio thread. */
  bool (*is_finished)(void *instance);
  /* Optional: moves a parameter that the instance smooths itself. Audio thread. */
  void (*set)(void *instance, int32_t parameter, int32_t element, float value, int32_t frames);
  /* Optional: number of sounding voices. Audio thread. */
  int32_t (*voices)(void *instance);
  /* Optional: the figure of this position among the description's readings. Audio thread. */
  float (*reading)(void *instance, int32_t position);
  /* Optional: latency in frames. Asked again and again where the description says that it varies. */
  int32_t (*latency)(void *instance);
  /* Optional: writes the state as text with a final 0, as far as `capacity` goes; returns its length without the 0. */
  size_t (*save)(void *instance, char *text, size_t capacity);
  /* Optional: adapts to a new rate in Hz, while no audio thread runs. */
  void (*retune)(void *instance, double from, double to);
} sostenuto_kind;

/* Calls through the table, for callers that may not call an address themselves. Audio thread. */
bool sostenuto_kind_process(const sostenuto_kind *kind, void *instance, sostenuto_block *block);
bool sostenuto_kind_is_finished(const sostenuto_kind *kind, void *instance);
void sostenuto_kind_set(const sostenuto_kind *kind, void *instance, int32_t parameter, int32_t element, float value,
                        int32_t frames);
int32_t sostenuto_kind_voices(const sostenuto_kind *kind, void *instance);
float sostenuto_kind_reading(const sostenuto_kind *kind, void *instance, int32_t position);
