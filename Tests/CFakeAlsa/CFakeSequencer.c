#define _GNU_SOURCE
#include "CFakeAlsa.h"
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

struct message {
  struct message *next;
  int error;
  snd_seq_event_t event;
  uint8_t bytes[];
};

/* A handle of ALSA's is the address of this. */
static struct {
  bool is_inserted;
  int ports, pipe[2];
  /* Events that the product has sent: the port and the length of each, then its bytes; see `fake_sequencer_sent`. */
  uint8_t sent[1 << 16];
  uint32_t sent_count;
  /* Calls that find no room, before one finds some. */
  int full;
  struct message *first, *last, *given;
} fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(function, ...) \
  ({ \
    static __typeof__(&function) found; \
    if (!found) found = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
    found(__VA_ARGS__); \
  })

static bool is_fake(const snd_seq_t *seq) { return (const void *)seq == &fake; }

static void forget(struct message *message) {
  while (message) {
    struct message *next = message->next;
    free(message);
    message = next;
  }
}

void fake_sequencer_insert(bool is_inserted) {
  pthread_mutex_lock(&lock);
  forget(fake.first);
  fake.first = fake.last = NULL;
  fake.ports = 0;
  fake.sent_count = 0;
  fake.full = 0;
  fake.is_inserted = is_inserted;
  pthread_mutex_unlock(&lock);
}

int fake_sequencer_ports(void) {
  pthread_mutex_lock(&lock);
  int ports = fake.ports;
  pthread_mutex_unlock(&lock);
  return ports;
}

static void queue(struct message *message) {
  pthread_mutex_lock(&lock);
  if (fake.last) fake.last->next = message;
  else fake.first = message;
  fake.last = message;
  ssize_t written = write(fake.pipe[1], "", 1);
  (void)written;
  pthread_mutex_unlock(&lock);
}

void fake_sequencer_send(const void *event, const uint8_t *bytes, uint32_t count) {
  struct message *message = calloc(1, sizeof *message + count);
  message->event = *(const snd_seq_event_t *)event;
  if (bytes) {
    memcpy(message->bytes, bytes, count);
    snd_seq_ev_set_sysex(&message->event, count, message->bytes);
  }
  queue(message);
}

void fake_sequencer_overflow(void) {
  struct message *message = calloc(1, sizeof *message);
  message->error = -ENOSPC;
  queue(message);
}

void fake_sequencer_fill(int calls) {
  pthread_mutex_lock(&lock);
  fake.full = calls;
  pthread_mutex_unlock(&lock);
}

uint32_t fake_sequencer_sent(uint8_t *bytes, uint32_t room) {
  pthread_mutex_lock(&lock);
  uint32_t count = fake.sent_count < room ? fake.sent_count : room;
  memcpy(bytes, fake.sent, count);
  pthread_mutex_unlock(&lock);
  return count;
}

/* ALSA's functions, those that the product uses. */

int snd_seq_open(snd_seq_t **seq, const char *name, int streams, int mode) {
  if (!fake.is_inserted) return REAL(snd_seq_open, seq, name, streams, mode);
  if (pipe2(fake.pipe, O_NONBLOCK | O_CLOEXEC)) return -errno;
  *seq = (snd_seq_t *)&fake;
  return 0;
}

int snd_seq_close(snd_seq_t *seq) {
  if (!is_fake(seq)) return REAL(snd_seq_close, seq);
  close(fake.pipe[0]);
  close(fake.pipe[1]);
  free(fake.given);
  fake.given = NULL;
  return 0;
}

int snd_seq_set_client_name(snd_seq_t *seq, const char *name) {
  return is_fake(seq) ? 0 : REAL(snd_seq_set_client_name, seq, name);
}

int snd_seq_client_id(snd_seq_t *seq) { return is_fake(seq) ? 128 : REAL(snd_seq_client_id, seq); }

int snd_seq_create_simple_port(snd_seq_t *seq, const char *name, unsigned int caps, unsigned int type) {
  if (!is_fake(seq)) return REAL(snd_seq_create_simple_port, seq, name, caps, type);
  pthread_mutex_lock(&lock);
  int port = fake.ports++;
  pthread_mutex_unlock(&lock);
  return port;
}

int snd_seq_delete_simple_port(snd_seq_t *seq, int port) {
  return is_fake(seq) ? 0 : REAL(snd_seq_delete_simple_port, seq, port);
}

int snd_seq_connect_from(snd_seq_t *seq, int port, int client, int their_port) {
  return is_fake(seq) ? 0 : REAL(snd_seq_connect_from, seq, port, client, their_port);
}

int snd_seq_connect_to(snd_seq_t *seq, int port, int client, int their_port) {
  return is_fake(seq) ? 0 : REAL(snd_seq_connect_to, seq, port, client, their_port);
}

int snd_seq_event_output_direct(snd_seq_t *seq, snd_seq_event_t *event) {
  if (!is_fake(seq)) return REAL(snd_seq_event_output_direct, seq, event);
  uint8_t bytes[512];
  long count = 0;
  if (event->type == SND_SEQ_EVENT_SYSEX) {
    count = event->data.ext.len;
    if (count > (long)sizeof bytes) return -EINVAL;
    memcpy(bytes, event->data.ext.ptr, count);
  } else {
    snd_midi_event_t *decoder;
    if (snd_midi_event_new(sizeof bytes, &decoder) < 0) return -ENOMEM;
    snd_midi_event_no_status(decoder, 1);
    count = snd_midi_event_decode(decoder, bytes, sizeof bytes, event);
    snd_midi_event_free(decoder);
    if (count < 0) return count;
  }
  pthread_mutex_lock(&lock);
  int error = fake.full > 0 || fake.sent_count + 3 + count > sizeof fake.sent ? -EAGAIN : 0;
  if (fake.full > 0) fake.full--;
  if (!error) {
    uint8_t *to = fake.sent + fake.sent_count;
    to[0] = event->source.port;
    to[1] = count & 0xFF;
    to[2] = count >> 8;
    memcpy(to + 3, bytes, count);
    fake.sent_count += 3 + count;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int snd_seq_query_next_client(snd_seq_t *seq, snd_seq_client_info_t *info) {
  return is_fake(seq) ? -ENOENT : REAL(snd_seq_query_next_client, seq, info);
}

int snd_seq_poll_descriptors_count(snd_seq_t *seq, short events) {
  return is_fake(seq) ? 1 : REAL(snd_seq_poll_descriptors_count, seq, events);
}

int snd_seq_poll_descriptors(snd_seq_t *seq, struct pollfd *descriptors, unsigned int room, short events) {
  if (!is_fake(seq)) return REAL(snd_seq_poll_descriptors, seq, descriptors, room, events);
  if (!room) return 0;
  *descriptors = (struct pollfd){.fd = fake.pipe[0], .events = events};
  return 1;
}

int snd_seq_event_input(snd_seq_t *seq, snd_seq_event_t **event) {
  if (!is_fake(seq)) return REAL(snd_seq_event_input, seq, event);
  char byte;
  ssize_t count = read(fake.pipe[0], &byte, 1);
  (void)count;
  pthread_mutex_lock(&lock);
  free(fake.given);
  fake.given = fake.first;
  if (fake.first) fake.first = fake.first->next;
  if (!fake.first) fake.last = NULL;
  pthread_mutex_unlock(&lock);
  if (!fake.given) return -EAGAIN;
  if (fake.given->error) return fake.given->error;
  *event = &fake.given->event;
  return 1;
}
