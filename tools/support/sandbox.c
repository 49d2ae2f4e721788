// SPDX-License-Identifier: MIT
/* Restricts the process with Landlock and with a seccomp filter, by plain system calls. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

#define LENGTH(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- Landlock ---------------------------------------------------------------------------------- */

/* Newer than the kernel headers of Debian 12 in part, therefore written out here. */
#define LANDLOCK_CREATE_RULESET	444
#define LANDLOCK_ADD_RULE	445
#define LANDLOCK_RESTRICT_SELF	446
#define LANDLOCK_VERSION	1u
#define LANDLOCK_PATH_BENEATH	1
#define LANDLOCK_REMOVE_FILE	(1ull << 5)

struct landlock_rules {
	uint64_t files, network, scope;
};

struct landlock_path {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

/* Refuse all that the kernel's version of Landlock knows; false if the kernel has none. */
static int restrict_files(int folder)
{
	long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);
	struct landlock_path path = { LANDLOCK_REMOVE_FILE, folder };
	struct landlock_rules rules = { .files = (1ull << 13) - 1 };
	int fd, done;

	if (version < 1)
		return 0;
	if (version >= 2)
		rules.files |= 1ull << 13;	/* moving to another folder */
	if (version >= 3)
		rules.files |= 1ull << 14;	/* truncation */
	if (version >= 4)
		rules.network = 3;		/* TCP: bind, connect */
	if (version >= 5)
		rules.files |= 1ull << 15;	/* ioctl() of devices */
	if (version >= 6)
		rules.scope = 3;		/* abstract sockets, signals to others */
	fd = (int)syscall(LANDLOCK_CREATE_RULESET, &rules, sizeof(rules), 0u);
	if (fd < 0)
		return 0;
	done = (folder < 0 || !syscall(LANDLOCK_ADD_RULE, fd, LANDLOCK_PATH_BENEATH, &path, 0u)) &&
	       !syscall(LANDLOCK_RESTRICT_SELF, fd, 0u);
	close(fd);
	return done;
}

/* ---- seccomp ----------------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__LP64__)
#define ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH	AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH	AUDIT_ARCH_RISCV64
#endif

#ifdef ARCH
/* Found by strace of a server and its end, and completed by calls that the C library may use. */
static const uint16_t allowed[] = {
	__NR_read, __NR_write, __NR_writev, __NR_close, __NR_ppoll, __NR_accept4, __NR_recvmsg, __NR_recvfrom,
	__NR_sendmsg, __NR_shutdown, __NR_getsockopt, __NR_fcntl, __NR_fstat, __NR_newfstatat, __NR_fstatfs,
	__NR_readlinkat, __NR_unlinkat, __NR_ftruncate, __NR_memfd_create,
	__NR_brk, __NR_munmap, __NR_mremap, __NR_madvise, __NR_getrandom, __NR_futex,
	__NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigpending, __NR_setitimer,
	__NR_clock_gettime, __NR_restart_syscall, __NR_getpid, __NR_gettid, __NR_exit, __NR_exit_group,
#ifdef __x86_64__
	__NR_poll, __NR_lstat, __NR_stat, __NR_readlink, __NR_unlink, __NR_time, __NR_gettimeofday,
#endif
};
/* Allowed unless the third argument has PROT_EXEC. */
static const uint16_t mapping[] = { __NR_mmap, __NR_mprotect };
/* Allowed if the first argument is this process. */
static const uint16_t to_self[] = { __NR_kill, __NR_tgkill };

struct program {
	struct sock_filter code[256];
	uint16_t length;
};

static void add(struct program *p, struct sock_filter one)
{
	p->code[p->length++] = one;
}

#define LOAD(member)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define JUMP(test, k, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, k, yes, no)
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE		(SECCOMP_RET_ERRNO | EPERM)

/* The lower half of an argument: PROT_ flags and process numbers have 32 bits. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the offset of an argument's lower half");

static void build(struct program *p)
{
	size_t i;

	/* numbers of system calls mean other calls under another architecture */
	add(p, (struct sock_filter)LOAD(arch));
	add(p, (struct sock_filter)JUMP(BPF_JEQ, ARCH, 1, 0));
	add(p, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	/* the x32 calls of x86-64 have numbers above all of the lists, and are refused with the rest */
	add(p, (struct sock_filter)LOAD(nr));
	for (i = 0; i < LENGTH(allowed); i++) {
		add(p, (struct sock_filter)JUMP(BPF_JEQ, allowed[i], 0, 1));
		add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	}
	for (i = 0; i < LENGTH(mapping); i++) {
		add(p, (struct sock_filter)JUMP(BPF_JEQ, mapping[i], 0, 4));
		add(p, (struct sock_filter)LOAD(args[2]));
		add(p, (struct sock_filter)JUMP(BPF_JSET, PROT_EXEC, 0, 1));
		add(p, (struct sock_filter)RETURN(REFUSE));
		add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	}
	for (i = 0; i < LENGTH(to_self); i++) {
		add(p, (struct sock_filter)JUMP(BPF_JEQ, to_self[i], 0, 4));
		add(p, (struct sock_filter)LOAD(args[0]));
		add(p, (struct sock_filter)JUMP(BPF_JEQ, (uint32_t)getpid(), 0, 1));
		add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
		add(p, (struct sock_filter)RETURN(REFUSE));
	}
	add(p, (struct sock_filter)RETURN(REFUSE));
}

static int restrict_calls(void)
{
	static struct program p;
	struct sock_fprog filter = { .filter = p.code };

	build(&p);
	filter.len = p.length;
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
#else
static int restrict_calls(void)
{
	return 0;
}
#endif

const char *sandbox_enter(int folder)
{
	int files, calls;

#if defined(__SANITIZE_ADDRESS__)
	/* the sanitizers open files and start processes to report an error */
	(void)folder;
	(void)restrict_files;
	(void)restrict_calls;
	(void)files;
	(void)calls;
	return "a build with sanitizers is not confined to its descriptors";
#endif
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return "this kernel has neither Landlock nor seccomp: a defect of this server endangers all files of "
		       "its user";
	files = restrict_files(folder);
	calls = restrict_calls();
	if (!files && !calls)
		return "this kernel has neither Landlock nor seccomp: a defect of this server endangers all files of "
		       "its user";
	if (!files)
		return "this kernel has no Landlock: only seccomp confines this server";
	return calls ? NULL : "this kernel or processor has no seccomp filter: only Landlock confines this server";
}
