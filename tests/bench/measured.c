/* Runs a command and writes what it took, with what it waited for: seconds, seconds of processor
 * time, peak memory in KiB, exit status.
 *   measured FILE COMMAND...
 * The kernel counts the memory of whoever starts a command towards the command, so that must be
 * small: an interpreter would be larger than most of what is measured. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const double start = now();
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) return 2;
  const double end = now();
  FILE *out = fopen(argv[1], "w");
  if (out == NULL) return 2;
  fprintf(out, "%.9f %.6f %ld %d\n", end - start,
          seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return fclose(out) == 0 ? 0 : 2;
}
