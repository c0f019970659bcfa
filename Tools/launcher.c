/* The program that `make install-portable` installs as PREFIX/bin/sostenuto: it becomes PREFIX/lib/sostenuto/LEVEL/sostenuto, where
   LEVEL is the highest of the processor's levels (x86-64 psABI) for which one is installed. SOSTENUTO_CPU names another. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct level {
  const char *name;
  bool fits;
};

/* Writes the folder that the file at `path` is in over `path`. */
static void leave(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

int main(int count, char **arguments) {
  (void)count;
#ifdef __x86_64__
  __builtin_cpu_init();
  const struct level levels[] = {
    {"x86-64-v4", __builtin_cpu_supports("x86-64-v4")},
    {"x86-64-v3", __builtin_cpu_supports("x86-64-v3")},
    {"x86-64", true},
  };
#else
  const struct level levels[] = {{"armv8-a", true}};
#endif
  char prefix[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
  if (length < 0) {
    perror("sostenuto: /proc/self/exe");
    return 1;
  }
  prefix[length] = 0;
  leave(prefix);
  leave(prefix);

  char program[PATH_MAX + 64];
  const char *wanted = getenv("SOSTENUTO_CPU");
  if (wanted && *wanted) {
    snprintf(program, sizeof program, "%s/lib/sostenuto/%s/sostenuto", prefix, wanted);
    execv(program, arguments);
    fprintf(stderr, "sostenuto: SOSTENUTO_CPU=%s: %s: %s\n", wanted, program, strerror(errno));
    return 1;
  }
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (!levels[i].fits) continue;
    snprintf(program, sizeof program, "%s/lib/sostenuto/%s/sostenuto", prefix, levels[i].name);
    execv(program, arguments);
    if (errno != ENOENT) {
      fprintf(stderr, "sostenuto: %s: %s\n", program, strerror(errno));
      return 1;
    }
  }
  fprintf(stderr, "sostenuto: no program for this processor in %s/lib/sostenuto: install it again\n", prefix);
  return 1;
}
