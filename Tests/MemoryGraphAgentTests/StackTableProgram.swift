// StackTableProgram: a C program that fills the agent's tables of stacks and holds them against a list.

/// A C program of the agent's own functions: each stack once, frames as they went in, and a trie without doubles.
enum StackTableProgram {
  static let text = #"""
    #include "mg_stacks.h"

    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    #define check(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); exit(99); } } while (0)

    enum { STACKS = 60000, DEEPEST = 60 };
    static uintptr_t stacks[STACKS][DEEPEST]; // the innermost frame first
    static int counts[STACKS];
    static uint32_t rows[STACKS];
    static uint64_t prefixes[STACKS * DEEPEST];
    static size_t prefix_count;

    static uint64_t seed = 1;
    static uint32_t random_below(uint32_t bound) {
      seed = seed * UINT64_C(6364136223846793005) + 1;
      return (uint32_t)(seed >> 33) % bound;
    }

    static int by_number(const void *a, const void *b) {
      uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
      return x < y ? -1 : x > y;
    }

    static uint32_t intern(int n) {
      uint64_t hash = 0;
      for (int i = 0; i < counts[n]; i++) hash = mg_hash_frame(hash, stacks[n][i]);
      return mg_stack_intern(hash, stacks[n], counts[n]);
    }

    // Of four kinds: a recursion of two calls, a function with thousands of callees, frames by chance, and
    // the beginning of an earlier stack, which may go on elsewhere now.
    static void make(int n) {
      int count = 0;
      uintptr_t path[DEEPEST]; // the outermost first
      path[count++] = 0x400000;
      int kind = n ? (int)random_below(4) : 0;
      if (kind == 0) {
        while (count < 18) path[count++] = 0x500000 + random_below(2);
      } else if (kind == 1) {
        path[count++] = 0x600000;
        path[count++] = 0x700000 + random_below(20000);
        path[count++] = 0x710000 + random_below(3);
      } else if (kind == 2) {
        int depth = 1 + (int)random_below(DEEPEST - 1);
        while (count < depth) path[count++] = 0x800000 + random_below(12);
      } else {
        int other = (int)random_below((uint32_t)n);
        count = 1 + (int)random_below((uint32_t)counts[other]);
        for (int i = 0; i < count; i++) path[i] = stacks[other][counts[other] - 1 - i];
        if (count < DEEPEST && random_below(2)) path[count++] = 0x900000 + random_below(30);
      }
      counts[n] = count;
      for (int i = 0; i < count; i++) stacks[n][i] = path[count - 1 - i];
      uint64_t hash = 14695981039346656037u;
      for (int i = 0; i < count; i++) {
        hash = (hash ^ path[i]) * UINT64_C(1099511628211);
        hash ^= hash >> 31;
        prefixes[prefix_count++] = hash * UINT64_C(0x9e3779b97f4a7c15);
      }
    }

    static void look(int n) {
      uint64_t frames[DEEPEST];
      check(mg_stack_frames(rows[n], frames, DEEPEST) == (size_t)counts[n]);
      for (int i = 0; i < counts[n]; i++) check(frames[i] == stacks[n][i]);
    }

    int main(void) {
      check(mg_stacks_start(MG_STACKS_FAST));
      for (int n = 0; n < STACKS; n++) {
        make(n);
        rows[n] = intern(n);
        check(rows[n]);
        look(n);
      }
      for (int n = 0; n < STACKS; n++) {
        look(n);
        check(intern(n) == rows[n]);
      }
      qsort(prefixes, prefix_count, sizeof prefixes[0], by_number);
      uint64_t different = 0;
      for (size_t i = 0; i < prefix_count; i++) different += !i || prefixes[i] != prefixes[i - 1];
      printf("%llu nodes for %llu\n", (unsigned long long)mg_state.trie_count - 1,
             (unsigned long long)different);
      check(mg_state.trie_count - 1 == different);
      return 23;
    }
    """#
}
