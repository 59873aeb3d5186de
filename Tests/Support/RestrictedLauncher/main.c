// A program that starts another with fewer rights, as containers and service managers do it:
//
//     RestrictedLauncher [--no-trace] [--user NUMBER] [--pid-namespace] PROGRAM [ARGUMENT...]
//
// --pid-namespace runs it as process 1 of a namespace, with the /proc of the outer one.
// --no-trace is a seccomp filter under which ptrace and process_vm_readv give EPERM.

#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int forbid_tracing(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Goes on as a child in a new namespace; the parent ends as the child does.
static int enter_namespace(void) {
  if (unshare(CLONE_NEWPID))
    return -1;
  pid_t child = fork();
  if (child <= 0)
    return child;
  for (int stream = 0; stream < 3; stream++)
    close(stream);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int count, char **arguments) {
  int at = 1;
  for (; at < count; at++) {
    int failed;
    if (strcmp(arguments[at], "--no-trace") == 0) {
      failed = forbid_tracing();
    } else if (strcmp(arguments[at], "--user") == 0 && at + 1 < count) {
      unsigned user = (unsigned)strtoul(arguments[++at], NULL, 10);
      failed = setgroups(0, NULL) || setgid(user) || setuid(user);
    } else if (strcmp(arguments[at], "--pid-namespace") == 0) {
      failed = enter_namespace();
    } else {
      break;
    }
    if (failed) {
      perror(arguments[at]);
      return 126;
    }
  }
  if (at < count)
    execvp(arguments[at], arguments + at);
  perror(at < count ? arguments[at]
                    : "usage: RestrictedLauncher [OPTION...] PROGRAM [ARGUMENT...]");
  return 127;
}
