// Renders many instances of an LV2 plug-in to a file: `lv2host WORK SECONDS OUTPUT`, one thread, without a GUI or a server.
//
// WORK is a text of lines:
//   plugin URI             set SYMBOL VALUE            move SYMBOL CENTRE AMOUNT (a sine, once a block)
//   count NODES            series 0 or 1               level OF_THE_TONE           tone FREQUENCY… (one a channel)
// A node has as many instances as its channels need. Inputs beyond the plug-in's outputs are sidechains: they get the tone.
// Side by side every node hears the tone, and the sum is heard; in series the last node.
#include <lilv/lilv.h>
#include <lv2/atom/atom.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/options/options.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { BLOCK = 64, RATE = 48000, MOST = 256, EVENTS = 65536 };
static const double movingFreq = 3.1;

static void refuse(const char *message, const char *of) {
  fprintf(stderr, "lv2host: %s: %s\n", of, message);
  exit(1);
}

// --- Features that plug-ins ask for

static char *uris[4096];
static uint32_t uriCount;

static LV2_URID map(LV2_URID_Map_Handle handle, const char *uri) {
  for (uint32_t i = 0; i < uriCount; i++)
    if (!strcmp(uris[i], uri)) return i + 1;
  if (uriCount == 4096) refuse("more names than there is room for", uri);
  uris[uriCount] = strdup(uri);
  return ++uriCount;
}

static const char *unmap(LV2_URID_Unmap_Handle handle, LV2_URID urid) {
  return urid > 0 && urid <= uriCount ? uris[urid - 1] : NULL;
}

typedef struct {
  LilvInstance *instance;
  const LV2_Worker_Interface *worker;
} Node;

static LV2_Worker_Status respond(LV2_Worker_Respond_Handle handle, uint32_t size, const void *data) {
  Node *node = handle;
  return node->worker->work_response(lilv_instance_get_handle(node->instance), size, data);
}

// Work that is not for the audio thread is done at once: its time counts, as it would on another thread.
static LV2_Worker_Status schedule(LV2_Worker_Schedule_Handle handle, uint32_t size, const void *data) {
  Node *node = handle;
  if (!node->worker) return LV2_WORKER_ERR_UNKNOWN;
  return node->worker->work(lilv_instance_get_handle(node->instance), respond, node, size, data);
}

// --- The file

static void writeHeader(FILE *file, uint32_t frames) {
  const uint32_t bytes = frames * 8, riff = bytes + 50 - 8 + 8, form = 18, rate = RATE, second = RATE * 8;
  const uint16_t ieee = 3, channels = 2, frame = 8, bits = 32, none = 0;
  fwrite("RIFF", 1, 4, file), fwrite(&riff, 4, 1, file), fwrite("WAVEfmt ", 1, 8, file), fwrite(&form, 4, 1, file);
  fwrite(&ieee, 2, 1, file), fwrite(&channels, 2, 1, file), fwrite(&rate, 4, 1, file), fwrite(&second, 4, 1, file);
  fwrite(&frame, 2, 1, file), fwrite(&bits, 2, 1, file), fwrite(&none, 2, 1, file);
  fwrite("data", 1, 4, file), fwrite(&bytes, 4, 1, file);
}

int main(int argc, char **argv) {
  if (argc != 4) refuse("WORK SECONDS OUTPUT", "usage");
  _mm_setcsr(_mm_getcsr() | 0x8040);

  char uri[256] = "", symbols[MOST][64], movingSymbol[64] = "";
  float values[MOST], centre = 0, amount = 0, level = 0.002f;
  double frequencies[MOST];
  int settings = 0, count = 1, inSeries = 0, width = 0;
  FILE *work = fopen(argv[1], "r");
  if (!work) refuse("can't be opened", argv[1]);
  char word[32];
  while (fscanf(work, "%31s", word) == 1) {
    int read = 1;
    if (!strcmp(word, "plugin")) read = fscanf(work, "%255s", uri) == 1;
    else if (!strcmp(word, "count")) read = fscanf(work, "%d", &count) == 1;
    else if (!strcmp(word, "series")) read = fscanf(work, "%d", &inSeries) == 1;
    else if (!strcmp(word, "level")) read = fscanf(work, "%f", &level) == 1;
    else if (!strcmp(word, "move")) read = fscanf(work, "%63s %f %f", movingSymbol, &centre, &amount) == 3;
    else if (!strcmp(word, "set") && settings < MOST)
      read = fscanf(work, "%63s %f", symbols[settings], values + settings) == 2, settings++;
    else if (!strcmp(word, "tone"))
      while (width < MOST && fscanf(work, "%lf", frequencies + width) == 1) width++;
    else read = 0;
    if (!read) refuse("a line that isn't understood", word);
  }
  fclose(work);

  LilvWorld *world = lilv_world_new();
  lilv_world_load_all(world);
  LilvNode *name = lilv_new_uri(world, uri);
  const LilvPlugin *plugin = lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), name);
  if (!plugin) refuse("not installed", uri);
  const uint32_t ports = lilv_plugin_get_num_ports(plugin);
  if (ports > 1024) refuse("more than 1024 ports", uri);
  LilvNode *audio = lilv_new_uri(world, LILV_URI_AUDIO_PORT), *input = lilv_new_uri(world, LILV_URI_INPUT_PORT);
  LilvNode *control = lilv_new_uri(world, LILV_URI_CONTROL_PORT), *events = lilv_new_uri(world, LV2_ATOM__AtomPort);

  static float defaults[1024];
  lilv_plugin_get_port_ranges_float(plugin, NULL, NULL, defaults);
  uint32_t audioIns[64], audioOuts[64], ins = 0, outs = 0, movingPort = UINT32_MAX;
  for (uint32_t p = 0; p < ports; p++) {
    const LilvPort *port = lilv_plugin_get_port_by_index(plugin, p);
    if (lilv_port_is_a(plugin, port, audio)) {
      if (ins == 64 || outs == 64) refuse("more than 64 channels", uri);
      if (lilv_port_is_a(plugin, port, input)) audioIns[ins++] = p;
      else audioOuts[outs++] = p;
    }
    const char *symbol = lilv_node_as_string(lilv_port_get_symbol(plugin, port));
    if (!strcmp(symbol, movingSymbol)) movingPort = p;
    if (defaults[p] != defaults[p]) defaults[p] = 0;
    for (int i = 0; i < settings; i++)
      if (!strcmp(symbol, symbols[i])) defaults[p] = values[i], symbols[i][0] = 0;
  }
  for (int i = 0; i < settings; i++)
    if (symbols[i][0]) refuse("no such port", symbols[i]);
  if (movingSymbol[0] && movingPort == UINT32_MAX) refuse("no such port", movingSymbol);
  const uint32_t channels = ins == 0 ? outs : ins < outs ? ins : outs;
  if (channels == 0 || width % channels != 0) refuse("its channels don't fit", uri);

  LV2_URID_Map mapping = {NULL, map};
  LV2_URID_Unmap unmapping = {NULL, unmap};
  const int32_t block = BLOCK, sequence = EVENTS;
  const float rate = RATE;
  const LV2_URID whole = map(NULL, LV2_ATOM__Int);
  const LV2_Options_Option options[] = {
    {LV2_OPTIONS_INSTANCE, 0, map(NULL, LV2_BUF_SIZE__minBlockLength), 4, whole, &block},
    {LV2_OPTIONS_INSTANCE, 0, map(NULL, LV2_BUF_SIZE__maxBlockLength), 4, whole, &block},
    {LV2_OPTIONS_INSTANCE, 0, map(NULL, LV2_BUF_SIZE__nominalBlockLength), 4, whole, &block},
    {LV2_OPTIONS_INSTANCE, 0, map(NULL, LV2_BUF_SIZE__sequenceSize), 4, whole, &sequence},
    {LV2_OPTIONS_INSTANCE, 0, map(NULL, "http://lv2plug.in/ns/ext/parameters#sampleRate"), 4, map(NULL, LV2_ATOM__Float), &rate},
    {LV2_OPTIONS_INSTANCE, 0, 0, 0, 0, NULL},
  };

  const int parts = width / (int)channels, instances = count * parts;
  Node *nodes = calloc(instances, sizeof(Node));
  float *controls = malloc((size_t)instances * ports * sizeof(float));
  float *buffers = aligned_alloc(64, (size_t)instances * outs * BLOCK * sizeof(float));
  float *tones = aligned_alloc(64, (size_t)width * BLOCK * sizeof(float));
  if (!nodes || !controls || !buffers || !tones) refuse("no memory", uri);
  memset(buffers, 0, (size_t)instances * outs * BLOCK * sizeof(float));
  // No instance has events: all share an empty sequence, and one that nobody reads.
  LV2_Atom_Sequence *nothing = calloc(1, EVENTS), *unread = calloc(1, EVENTS);
  nothing->atom.type = map(NULL, LV2_ATOM__Sequence);
  nothing->atom.size = sizeof(LV2_Atom_Sequence_Body);

  for (int n = 0; n < instances; n++) {
    Node *node = nodes + n;
    LV2_Worker_Schedule scheduling = {node, schedule};
    LV2_Worker_Schedule *lasting = malloc(sizeof scheduling);
    *lasting = scheduling;
    const LV2_Feature features[] = {
      {LV2_URID__map, &mapping}, {LV2_URID__unmap, &unmapping}, {LV2_OPTIONS__options, (void *)options},
      {LV2_WORKER__schedule, lasting}, {LV2_BUF_SIZE__boundedBlockLength, NULL},
      {LV2_BUF_SIZE__fixedBlockLength, NULL}, {LV2_BUF_SIZE__powerOf2BlockLength, NULL},
    };
    const LV2_Feature *all[] = {features, features + 1, features + 2, features + 3, features + 4, features + 5, features + 6, NULL};
    node->instance = lilv_plugin_instantiate(plugin, RATE, all);
    if (!node->instance) refuse("can't be instantiated", uri);
    node->worker = lilv_instance_get_extension_data(node->instance, LV2_WORKER__interface);
    for (uint32_t p = 0; p < ports; p++) {
      const LilvPort *port = lilv_plugin_get_port_by_index(plugin, p);
      float *value = controls + (size_t)n * ports + p;
      *value = defaults[p];
      if (lilv_port_is_a(plugin, port, control)) lilv_instance_connect_port(node->instance, p, value);
      else if (lilv_port_is_a(plugin, port, events))
        lilv_instance_connect_port(node->instance, p, lilv_port_is_a(plugin, port, input) ? nothing : unread);
      else lilv_instance_connect_port(node->instance, p, NULL);
    }
    const int part = n % parts;
    for (uint32_t i = 0; i < ins; i++) {
      const uint32_t channel = part * channels + i % channels;
      const int isFirst = n < parts || !inSeries || i >= channels;
      float *from = isFirst ? tones + channel * BLOCK : buffers + ((size_t)(n - parts) * outs + i) * BLOCK;
      lilv_instance_connect_port(node->instance, audioIns[i], from);
    }
    for (uint32_t o = 0; o < outs; o++)
      lilv_instance_connect_port(node->instance, audioOuts[o], buffers + ((size_t)n * outs + o) * BLOCK);
    lilv_instance_activate(node->instance);
  }

  const uint32_t blocks = (uint32_t)ceil(atof(argv[2]) * RATE / BLOCK);
  FILE *file = fopen(argv[3], "wb");
  if (!file) refuse("can't be written", argv[3]);
  writeHeader(file, blocks * BLOCK);
  for (uint32_t b = 0; b < blocks; b++) {
    for (int c = 0; c < width; c++) {
      // A turning pointer: a sine without a call for each frame.
      const double start = 2 * M_PI * fmod(frequencies[c] / RATE * b * BLOCK, 1), step = 2 * M_PI * frequencies[c] / RATE;
      double x = cos(start), y = sin(start);
      const double cosine = cos(step), sine = sin(step);
      for (int f = 0; f < BLOCK; f++) {
        tones[c * BLOCK + f] = (float)(level * y);
        const double turned = x * cosine - y * sine;
        y = x * sine + y * cosine, x = turned;
      }
    }
    const float moved = centre + amount * (float)sin(2 * M_PI * movingFreq * b * BLOCK / RATE);
    float left[BLOCK] = {0}, right[BLOCK] = {0};
    for (int n = 0; n < instances; n++) {
      // How much room there is; the plug-in puts how much it wrote.
      unread->atom.size = EVENTS - sizeof(LV2_Atom);
      if (movingPort != UINT32_MAX) controls[(size_t)n * ports + movingPort] = moved;
      lilv_instance_run(nodes[n].instance, BLOCK);
      if (nodes[n].worker && nodes[n].worker->end_run)
        nodes[n].worker->end_run(lilv_instance_get_handle(nodes[n].instance));
      if ((inSeries && n < instances - parts) || n % parts != 0) continue;
      const float *out = buffers + (size_t)n * outs * BLOCK;
      for (int f = 0; f < BLOCK; f++) left[f] += out[f];
      if (outs > 1)
        for (int f = 0; f < BLOCK; f++) right[f] += out[BLOCK + f];
    }
    float frames[2 * BLOCK];
    for (int f = 0; f < BLOCK; f++) frames[2 * f] = left[f], frames[2 * f + 1] = right[f];
    if (fwrite(frames, sizeof frames, 1, file) != 1) refuse("can't be written", argv[3]);
  }
  if (fclose(file) != 0) refuse("can't be written", argv[3]);
  return 0;
}
