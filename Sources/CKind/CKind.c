#include "CKind.h"

bool sostenuto_kind_process(const sostenuto_kind *kind, void *instance, sostenuto_block *block) {
  return kind->process(instance, block);
}

bool sostenuto_kind_is_finished(const sostenuto_kind *kind, void *instance) {
  return kind->is_finished && kind->is_finished(instance);
}

void sostenuto_kind_set(const sostenuto_kind *kind, void *instance, int32_t parameter, int32_t element, float value,
                        int32_t frames) {
  if (kind->set) kind->set(instance, parameter, element, value, frames);
}

int32_t sostenuto_kind_voices(const sostenuto_kind *kind, void *instance) {
  return kind->voices ? kind->voices(instance) : 0;
}

float sostenuto_kind_reading(const sostenuto_kind *kind, void *instance, int32_t position) {
  return kind->reading ? kind->reading(instance, position) : 0;
}
