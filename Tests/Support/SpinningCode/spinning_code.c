#include "spinning_code.h"

// In assembly, since a compiler keeps a copy elsewhere.
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl spin_with_red_zone\n"
        ".type spin_with_red_zone, @function\n"
        "spin_with_red_zone:\n"
        "  movq (%rdi), %rax\n"
        "  notq %rax\n"
        "  movq %rax, -64(%rsp)\n"
        "  xorl %eax, %eax\n"
        "  movl $1, 8(%rdi)\n"
        "1: pause\n"
        "  jmp 1b\n"
        ".size spin_with_red_zone, . - spin_with_red_zone\n"
        ".globl spin_with_vector\n"
        ".type spin_with_vector, @function\n"
        "spin_with_vector:\n"
        "  movq (%rdi), %rax\n"
        "  notq %rax\n"
        "  movq %rax, %xmm7\n"
        "  pslldq $8, %xmm7\n"
        "  xorl %eax, %eax\n"
        "  movl $1, 8(%rdi)\n"
        "1: pause\n"
        "  jmp 1b\n"
        ".size spin_with_vector, . - spin_with_vector\n");
#endif
