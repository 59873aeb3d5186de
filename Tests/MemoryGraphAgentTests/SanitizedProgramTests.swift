// SanitizedProgramTests: the agent linked into a build with a sanitizer, whose allocator has to meet every block.

import Foundation
import Testing

@Suite struct SanitizedProgramTests {
  @Test(
    "A build with a sanitizer runs as it does without the agent, and the agent says why it records nothing",
    arguments: ["address", "thread"])
  func sanitized(by sanitizer: String) throws {
    let program = try AgentPrograms.sanitized(by: sanitizer)
    // The kernel may place a program where this version of the sanitizer can't run.
    let result = try Command(["setarch", "--addr-no-randomize", program]).run()
    #expect(result.errors == "")
    #expect(result.status == 0)
    #expect(result.output.contains("\nnot recorded: this build has a sanitizer in it"))
    #expect(result.output.hasSuffix("\n50000 blocks\n"))
  }

  /// Allocates and frees on two threads, through libc too, and asks the agent to start in between.
  static let program = #"""
    #include "memory_graph.h"
    #include <errno.h>
    #include <malloc.h>
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>

    static int counts[2];

    static void *work(void *argument) {
      int *count = argument;
      for (int i = 0; i < 25000; i++) {
        char *copy = strdup("a block that libc asks for");
        void *aligned = NULL;
        if (posix_memalign(&aligned, 64, 100) || malloc_usable_size(copy) < strlen(copy)) return NULL;
        copy = realloc(copy, 1000);
        free(aligned);
        free(copy);
        ++*count;
      }
      usleep(1000);
      return NULL;
    }

    int main(void) {
      pthread_t threads[2];
      for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &counts[i]);
      int status = memory_graph_start();
      printf("status %d\n", status == ENOTSUP);
      if (status) printf("not recorded: %s\n", memory_graph_problem());
      for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
      printf("%d blocks\n", counts[0] + counts[1]);
      return 0;
    }
    """#
}
