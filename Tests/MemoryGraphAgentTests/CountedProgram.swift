// CountedProgram: a C program whose allocations are counted.

/// A C program that allocates at a depth, as often as it is told, and says what the allocator then has.
///
/// `churn DEPTH COUNT` keeps 64 blocks; `hold COUNT` keeps all, and tells the bytes of the allocator's that they
/// took and what is resident.
enum CountedProgram {
  static let text = #"""
    #include <malloc.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>

    static void *ring[64];

    static __attribute__((noinline)) void churn(long count) {
      for (long i = 0; i < count; i++) {
        free(ring[i & 63]);
        ring[i & 63] = malloc(40);
      }
    }

    static __attribute__((noinline)) void descend(int depth, long count) {
      if (depth > 0) descend(depth - 1, count); else churn(count);
      __asm__ volatile("");
    }

    static long resident(void) {
      char line[256];
      long kilobytes = 0;
      FILE *file = fopen("/proc/self/status", "r");
      while (fgets(line, sizeof line, file)) sscanf(line, "RssAnon: %ld", &kilobytes);
      fclose(file);
      return kilobytes * 1024;
    }

    static void hold(long count) {
      size_t before = mallinfo2().uordblks;
      void **last = NULL;
      for (long i = 0; i < count; i++) {
        void **block = malloc(32);
        block[0] = last;
        last = block;
      }
      printf("taken %zu\n", mallinfo2().uordblks - before);
      printf("resident %ld\n", resident());
      for (long i = 0; i < count; i++) {
        void **next = last[0];
        free(last);
        last = next;
      }
      printf("left %zd\n", (ssize_t)(mallinfo2().uordblks - before));
    }

    int main(int count, char **arguments) {
      setvbuf(stdout, NULL, _IONBF, 0);
      if (count == 4 && strcmp(arguments[1], "churn") == 0) descend(atoi(arguments[2]), atol(arguments[3]));
      else if (count == 3 && strcmp(arguments[1], "hold") == 0) hold(atol(arguments[2]));
      else return 2;
      return 0;
    }
    """#
}
