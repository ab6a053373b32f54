/* Seconds that repeated calls take, measured without the interpreter in between, and what empties caches before. */
#include <stdint.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double time_kernel(void (*kernel)(const void *, void *), const void *source, void *destination, int64_t calls) {
  double start = now();
  for (int64_t i = 0; i < calls; i++) kernel(source, destination);
  return now() - start;
}

typedef int (*execute_t)(void *primitive, void *stream, int count, const void *arguments);
typedef int (*wait_t)(void *stream);

/* A negative result is oneDNN's status of a call that failed. */
double time_primitive(execute_t execute, wait_t wait, void *primitive, void *stream, int count, const void *arguments,
                      int64_t calls) {
  double start = now();
  for (int64_t i = 0; i < calls; i++) {
    int status = execute(primitive, stream, count, arguments);
    if (status != 0) return -status;
  }
  wait(stream);
  return now() - start;
}

static void copy(const char *source, char *destination, int64_t bytes, int threads) {
#ifdef _OPENMP
  if (threads > 1) {
    int64_t lines = (bytes + 63) / 64;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++) {
      int64_t first = lines * part / threads * 64, last = lines * (part + 1) / threads * 64;
      if (last > bytes) last = bytes;
      memcpy(destination + first, source + first, last - first);
    }
    return;
  }
#endif
  memcpy(destination, source, bytes);
}

double time_memcpy(const void *source, void *destination, int64_t bytes, int threads, int64_t calls) {
  double start = now();
  for (int64_t i = 0; i < calls; i++) {
    copy(source, destination, bytes, threads);
    __asm__ volatile("" ::: "memory");
  }
  return now() - start;
}

/* Writes the lines of a buffer back to memory and drops them from all caches; 0 where the processor cannot be told. */
int evict(const char *memory, int64_t bytes) {
  const char *line = (const char *)((uintptr_t)memory & ~(uintptr_t)63), *end = memory + bytes;
#if defined(__CLFLUSHOPT__)
  for (; line < end; line += 64) __builtin_ia32_clflushopt(line);
  __builtin_ia32_mfence();
  return 1;
#elif defined(__SSE2__)
  for (; line < end; line += 64) __builtin_ia32_clflush(line);
  __builtin_ia32_mfence();
  return 1;
#elif defined(__aarch64__)
  for (; line < end; line += 64) __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
  __asm__ volatile("dsb sy" ::: "memory");
  return 1;
#else
  (void)line, (void)end;
  return 0;
#endif
}
