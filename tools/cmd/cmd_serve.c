// SPDX-License-Identifier: MIT
/*
 * gtu serve: runs the device as a process of its own, which QEMU attaches to over a vfio-user
 * socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "firmware-model/device/gtu_units.h"
#include "libruntime/device/backend.h"
#include "tools/bringup/bringup.h"
#include "tools/support/cli.h"
#include "tools/support/sandbox.h"
#include "firmware-model/transport/step_budget.h"
#include "firmware-model/transport/vfio-user/vfio_user.h"
#include "libruntime/support/clock.h"

#define APERTURE_DEFAULT	(16u << 20)
#define APERTURE_MAX		(64ull << 30)

#define GREETING_MS		3000	/* a connection must send its version within this time */
/*
 * While a peer is attached, a timer interrupts system calls that the peer makes block, and ends the
 * process if it does not take a SIGTERM or SIGINT in TICKS_TO_END ticks.
 */
#define TICK_MS			100
#define TICKS_TO_END		5

struct server {
	const char *path;
	struct pci_setup setup;
	bool map_aperture, once, trace;

	int listener, signals;
	uid_t user;			/* who may connect, besides root; the sandbox has no geteuid() */
	struct pci_function *function;	/* in the state after power-on until a machine attaches */
	struct vfio_user *peer;
	uint64_t greet_by;		/* deadline of the peer's version, by gtu_now_ns() */
	uint64_t budget;		/* cycles per step */
	struct stat made;		/* identifies the socket's file, so that no other is removed */
};

static const char *const fault_names[] = { "lose-irq", "stall", "all-ones", "die-at", "corrupt-completions",
					   "forge-records", "stuck-reset", "keep-master", "power-loss", "late-status", "no-invalidate",
					   "no-queue-state", "no-queue-enable", "refuse-disable", "refuse-queue-state",
					   "refuse-enable", "false-counters", NULL };
_Static_assert(sizeof(fault_names) / sizeof(fault_names[0]) == PCI_FAULTS + 1, "every fault needs a name");

static void help(void)
{
	puts("usage: gtu serve [--socket PATH] [options] [KEY=VALUE,...]\n\n"
	     "Serves the device over vfio-user, for QEMU 10.1 or later:\n"
	     "  qemu-system-x86_64 ... -machine q35,memory-backend=m \\\n"
	     "    -object memory-backend-memfd,id=m,size=512M,share=on -m 512M \\\n"
	     "    -device '{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	     "The guest's memory must be shared (as above): the device reads and writes it in place.\n\n"
	     "  --socket PATH     socket to listen on; created at the start, removed at the end. Only its user\n"
	     "                    can connect [$XDG_RUNTIME_DIR/gtu/serve.sock]. In a folder that others can\n"
	     "                    write (/tmp), another user can listen there first and gets the guest's memory\n"
	     "  --once            exit when the first machine has detached (else wait for the next)\n"
	     "  --aperture SIZE   device memory behind BAR 4, a power of two [16M]\n"
	     "  --map-aperture    let the machine map BAR 4: each access takes nanoseconds instead of tens\n"
	     "                    of microseconds, but the monitor (ZCM) does not see it, and QEMU waits for\n"
	     "                    every register write\n"
	     "  --without CAP     clear a capability of the device: regions, streams, linear, cancel,\n"
	     "                    stream-events, seek, ctx-counters, ctx-groups; may be given more than\n"
	     "                    once. Tests drivers\n"
	     "  --fault KIND[=N]  inject a fault; may be given more than once. Accesses to BARs 0, 2\n"
	     "                    and 4 are counted from 1; N is 1 by default:\n"
	     "                      lose-irq   every N-th interrupt is not sent\n"
	     "                      stall      from access N on no work is done; registers still answer\n"
	     "                      all-ones   from access N on every read returns all ones (surprise removal)\n"
	     "                      die-at     the process is killed at access N\n"
	     "                      corrupt-completions  from the N-th on, completions have wrong phases, indices,\n"
	     "                                 cookies, states and counts, events name other queues, and\n"
	     "                                 status blocks are wrong; the bytes of jobs are right\n"
	     "                      forge-records  from the N-th on, records of streams have other lanes active,\n"
	     "                                 and other indices, positions or edges in them\n"
	     "                      no-invalidate  the N-th INVALIDATE and all later ones never complete\n"
	     "                      no-queue-state, no-queue-enable  the same for QUEUE_STATE, QUEUE_ENABLE\n"
	     "                      stuck-reset  from the N-th reset on the device does not come back\n"
	     "                      keep-master  from the N-th time on, clearing bus mastering has no effect\n"
	     "                      refuse-disable  the N-th QUEUE_DISABLE or CTX_DISABLE and all later ones are\n"
	     "                                 refused with E_INDEX, and the queue goes on\n"
	     "                      refuse-queue-state  the same for QUEUE_STATE\n"
	     "                      refuse-enable  every N-th QUEUE_ENABLE or CTX_ENABLE is refused; the others work\n"
	     "                      false-counters  the N-th CTX_COUNTERS and all later ones give all ones\n"
	     "                      late-status  every N-th completion is visible some ms before the queue's status\n"
	     "                                 counts it\n"
	     "                      power-loss  from the N-th function-level reset on, the reset also loses the\n"
	     "                                 aperture's content and restarts epochs, as power loss does\n"
	     "  --bug NAME        inject a gateware bug for 'gtu bringup' to find; 'gtu bringup --bugs'\n"
	     "                    lists the names\n"
	     "  --seed S          seed of the wrong values of corrupt-completions and forge-records [1]: the\n"
	     "                    same S gives the same values\n"
	     "  --trace           print a line on stderr for each message\n\n"
	     "KEY=VALUE,... describes a smaller, partial or extended board, as --device model:KEY=VALUE,... of the\n"
	     "other verbs does:\n"
	     "  queues=1,contexts=2,vectors=1    parameters of the device; 'gtu info --tables device' lists them\n"
	     "  scu_width=1,iru_sets=64          of the units: 'gtu info --tables scu'\n"
	     "  aperture_bytes=0                 no aperture, and no BAR 4\n"
	     "  absent_units=iru+peg             the board lacks these units\n"
	     "  absent_operations=scu-expand     it reports ABSENT for these operations\n"
	     "  absent_scu=filtering+grouping    and for these options of the SCU\n"
	     "  unknown_unit=1                   it has a unit that no software knows\n"
	     "  caps_off=streams+seek            as --without, several at once\n\n"
	     "Each machine finds the device in its state after power-on. Exit codes: 0 ended by SIGTERM, SIGINT or\n"
	     "--once, 1 failed at run time, 2 usage.");
}

/* ---- The socket ------------------------------------------------------------------------------- */

/* Remove an existing socket file unless a server listens on it. */
static int clear_path(const struct sockaddr_un *addr, struct gtu_error *err)
{
	struct stat st;
	int fd, taken;

	if (lstat(addr->sun_path, &st)) {
		if (errno == ENOENT)
			return 0;
		return gtu_fail(err, GTU_ERR_FAIL, "cannot examine %s: %s", addr->sun_path, strerror(errno));
	}
	if (!S_ISSOCK(st.st_mode))
		return gtu_fail(err, GTU_ERR_FAIL, "%s exists and is not a socket; choose another path",
				addr->sun_path);
	/* a connection must not wait for a server whose backlog is full: EAGAIN */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	taken = fd < 0 || !connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) || errno != ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	if (taken)
		return gtu_fail(err, GTU_ERR_FAIL, "another server already listens on %s; stop it or choose another path",
				addr->sun_path);
	if (unlink(addr->sun_path))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot remove the unused socket %s: %s", addr->sun_path,
				strerror(errno));
	return 0;
}

/*
 * The default path, in a folder of this user alone. NULL with a message in @err. The caller frees
 * the result.
 */
static char *default_path(struct gtu_error *err)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	char *path;

	if (!base || *base != '/') {
		gtu_fail(err, GTU_ERR_USAGE, "needs --socket PATH: there is no default, because XDG_RUNTIME_DIR is not set");
		return NULL;
	}
	if (asprintf(&path, "%s/gtu/serve.sock", base) < 0) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for a path");
		return NULL;
	}
	*strrchr(path, '/') = 0;
	if ((mkdir(path, 0700) && errno != EEXIST) || lstat(path, &st)) {
		gtu_fail(err, GTU_ERR_FAIL, "cannot create the folder %s: %s", path, strerror(errno));
	} else if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077) {
		gtu_fail(err, GTU_ERR_FAIL, "%s is not a folder of your own with mode 0700; remove it or give --socket PATH",
			 path);
	} else {
		path[strlen(path)] = '/';
		return path;
	}
	free(path);
	return NULL;
}

/* Open the folder of the socket, and report the consequence if others can write there. */
static int open_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	int fd = name ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat st;

	if (fd >= 0 && !cli_quiet() && !fstat(fd, &st) &&
	    (st.st_mode & 022 || (st.st_uid != geteuid() && st.st_uid)))
		fprintf(stderr, "gtu serve: other users can write to %s: a server of theirs that listens on this path "
			"first gets the guest's memory; leave out --socket to use a private folder\n", name);
	free(name);
	return fd;
}

static int start_listening(struct server *s, struct gtu_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int code;

	if (strlen(s->path) >= sizeof(addr.sun_path))
		return gtu_fail(err, GTU_ERR_USAGE, "the socket's path has %zu bytes, the limit is %zu: %s",
				strlen(s->path), sizeof(addr.sun_path) - 1, s->path);
	strcpy(addr.sun_path, s->path);
	code = clear_path(&addr, err);
	if (code)
		return code;
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	code = s->listener < 0 || bind(s->listener, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (code)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create the socket %s: %s%s", s->path, strerror(errno),
				errno == ENOENT ? "; create its directory first, or choose another path" : "");
	/* at once: a machine may connect as soon as the path exists */
	if (listen(s->listener, 4) || lstat(s->path, &s->made))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot listen on %s: %s", s->path, strerror(errno));
	return 0;
}

/* Remove the socket's file. Also called by a signal handler. */
static void remove_socket(const struct server *s)
{
	struct stat st;

	/* another server may have replaced the path */
	if (s->made.st_ino && !lstat(s->path, &st) && st.st_ino == s->made.st_ino &&
	    st.st_dev == s->made.st_dev)
		unlink(s->path);
}

/* Confine the process, and report what the kernel lacks for that. */
static void enter_sandbox(const struct server *s)
{
	int folder = open_folder(s->path);
	const char *lacks;

	/* reads a file of the kernel at its first call */
	dma_table_limit();
	lacks = sandbox_enter(folder);
	if (lacks && !cli_quiet())
		fprintf(stderr, "gtu serve: %s\n", lacks);
	if (folder >= 0)
		close(folder);
}

/* ---- Signals ---------------------------------------------------------------------------------- */

static struct server *serving;		/* for signal handlers, which have no argument */

/*
 * If a peer truncates a file whose memory is mapped here, the next access raises SIGBUS. The
 * handler maps zero pages there, and the main loop drops the peer after the device's step.
 */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (serving && serving->function &&
	    dma_table_mend(pci_function_memory(serving->function), info->si_addr))
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

/*
 * Its arrival makes a blocked system call fail with EINTR. A peer can make several calls block, so
 * if the main loop does not take a signal that ends the server, end the process here.
 */
static void on_tick(int sig)
{
	static unsigned ticks;
	sigset_t set;

	(void)sig;
	sigemptyset(&set);
	sigpending(&set);
	if (!sigismember(&set, SIGTERM) && !sigismember(&set, SIGINT))
		return;
	if (++ticks < TICKS_TO_END)
		return;
	remove_socket(serving);
	_exit(CLI_DONE);
}

static void set_ticks(unsigned ms)
{
	const struct itimerval every = { { 0, ms * 1000 }, { 0, ms * 1000 } };

	setitimer(ITIMER_REAL, &every, NULL);
}

static int take_signals(struct server *s, struct gtu_error *err)
{
	struct sigaction bus = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	struct sigaction tick = { .sa_handler = on_tick };
	sigset_t set;

	serving = s;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGALRM, &tick, NULL);
	/* the reader of standard error may have ended */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

/* ---- The loop --------------------------------------------------------------------------------- */

static void step(struct server *s)
{
	uint64_t before = gtu_now_ns();

	pci_function_step(s->function, s->budget);
	s->budget = step_budget_next(s->budget, gtu_now_ns() - before);
}

static int power_on(struct server *s, struct gtu_error *err)
{
	pci_function_destroy(s->function);
	s->budget = STEP_BUDGET_FIRST;
	s->function = pci_function_create(&s->setup, err);
	return s->function ? 0 : err->code;
}

static int accept_peer(struct server *s, struct gtu_error *err)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(who);

	if (fd < 0)
		return 0;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
	if (who.uid && who.uid != s->user) {
		fprintf(stderr, "gtu serve: refused a connection of user %u; run the machine as user %u or as root\n",
			who.uid, s->user);
		close(fd);
		return 0;
	}
	if (s->peer) {
		fprintf(stderr, "gtu serve: refused a second connection; a machine is attached already\n");
		close(fd);
		return 0;
	}
	s->peer = vfio_user_open(fd, s->function, s->map_aperture, s->trace);
	if (!s->peer)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a connection");
	s->greet_by = gtu_now_ns() + GREETING_MS * 1000000ull;
	set_ticks(TICK_MS);
	return 0;
}

/* Close the connection, for @code and @why, and return the device to its state after power-on. */
static int drop_peer(struct server *s, int code, const struct gtu_error *why, bool *done, struct gtu_error *err)
{
	bool greeted = vfio_user_greeted(s->peer);

	if (code != GTU_ERR_DEVICE_LOST)
		fprintf(stderr, "gtu serve: dropped the machine: %s\n", why->text);
	else if (greeted && !cli_quiet())
		fprintf(stderr, "gtu serve: the machine has detached\n");
	vfio_user_close(s->peer);
	s->peer = NULL;
	*done = s->once && greeted;
	code = *done ? 0 : power_on(s, err);
	set_ticks(0);
	return code;
}

static int serve_peer(struct server *s, bool *done, struct gtu_error *err)
{
	bool greeted = vfio_user_greeted(s->peer);
	struct gtu_error why = { .text = "" };
	int code = vfio_user_serve(s->peer, &why);

	if (!greeted && vfio_user_greeted(s->peer) && !cli_quiet())
		fprintf(stderr, "gtu serve: a machine has attached\n");
	return code ? drop_peer(s, code, &why, done, err) : 0;
}

/* The reason to end the connection of the peer; NULL: none. */
static const char *violation(const struct server *s)
{
	if (pci_function_memory(s->function)->torn)
		return "it truncated a file below the memory mapped from it";
	if (pci_function_memory(s->function)->stuck)
		return "the kernel refused to unmap its memory";
	if (pci_function_blocked(s->function))
		return "it filled an eventfd while the device wrote to it";
	if (!vfio_user_greeted(s->peer) && gtu_now_ns() >= s->greet_by)
		return "it sent no version";
	return NULL;
}

/* Advance the device by one step. */
static int step_peer(struct server *s, bool *done, struct gtu_error *err)
{
	struct gtu_error why = { .text = "" };
	const char *what;

	step(s);
	what = violation(s);
	if (!what)
		return 0;
	gtu_fail(&why, GTU_ERR_INPUT, "%s", what);
	return drop_peer(s, GTU_ERR_INPUT, &why, done, err);
}

/* Timeout of the main loop's poll(), in milliseconds; -1: none. */
static int wait_ms(const struct server *s, bool busy, bool waiting)
{
	if (busy)
		return 0;
	if (waiting)
		return STEP_IDLE_MS;
	return s->peer && !vfio_user_greeted(s->peer) ? GREETING_MS / 10 : -1;
}

/* Report the time from *@since on, in which the device was idle, before anything else happens to it. */
static void report_idle(struct server *s, uint64_t *since)
{
	const uint64_t now = gtu_now_ns();

	pci_function_idle(s->function, now - *since);
	*since = now;
}

static int loop(struct server *s, struct gtu_error *err)
{
	bool done = false;

	while (!done) {
		struct pollfd p[3] = {
			{ .fd = s->signals, .events = POLLIN },
			{ .fd = s->listener, .events = POLLIN },
			{ .fd = s->peer ? vfio_user_fd(s->peer) : -1,
			  .events = s->peer ? vfio_user_events(s->peer) : 0 },
		};
		bool busy = s->peer && pci_function_pending(s->function);
		bool waiting = s->peer && !busy && pci_function_waiting(s->function);
		uint64_t since = gtu_now_ns();
		int n = poll(p, 3, wait_ms(s, busy, waiting)), code = 0;

		if (n < 0 && errno != EINTR)
			return gtu_fail(err, GTU_ERR_FAIL, "cannot wait: %s", strerror(errno));
		if (p[0].revents)
			return 0;
		if (s->peer && !busy)
			report_idle(s, &since);
		/*
		 * no pointer into the machine's memory is held here: unmapping takes effect at once
		 */
		if (p[2].revents)
			code = serve_peer(s, &done, err);
		if (!code && p[1].revents)
			code = accept_peer(s, err);
		if (!code && s->peer && !busy)
			report_idle(s, &since);
		if (!code && s->peer)
			code = step_peer(s, &done, err);
		if (code)
			return code;
	}
	return 0;
}

/* ---- The verb --------------------------------------------------------------------------------- */

/* Parse KIND or KIND=N into the plan; false after a message. */
static bool parse_fault(char *text, uint64_t *plan)
{
	char *value = strchr(text, '=');
	uint64_t n = 1;
	int kind;

	if (value)
		*value++ = 0;
	kind = cli_choice("fault", text, fault_names);
	if (kind < 0 || (value && !cli_u64("the fault's number", value, 1, UINT64_MAX, &n)))
		return false;
	plan[kind] = n;
	return true;
}

static int run_server(struct server *s)
{
	struct gtu_error err = { .text = "" };
	int code = power_on(s, &err);

	if (!code)
		code = take_signals(s, &err);
	if (!code)
		code = start_listening(s, &err);
	if (!code && !cli_quiet())
		fprintf(stderr, "gtu serve: waiting for a machine on %s\n", s->path);
	if (!code) {
		enter_sandbox(s);
		code = loop(s, &err);
	}
	remove_socket(s);
	if (s->listener >= 0)
		close(s->listener);
	vfio_user_close(s->peer);
	pci_function_destroy(s->function);
	s->function = NULL;
	if (s->signals >= 0)
		close(s->signals);
	return cli_exit(&err, code);
}

int cmd_serve(int argc, char **argv)
{
	enum { SOCKET = 1, ONCE, APERTURE, MAP_APERTURE, WITHOUT, FAULT, BUG, SEED, TRACE, HELP = 'h' };
	static const struct option options[] = {
		{ "socket", required_argument, NULL, SOCKET },
		{ "once", no_argument, NULL, ONCE },
		{ "aperture", required_argument, NULL, APERTURE },
		{ "map-aperture", no_argument, NULL, MAP_APERTURE },
		{ "without", required_argument, NULL, WITHOUT },
		{ "fault", required_argument, NULL, FAULT },
		{ "bug", required_argument, NULL, BUG },
		{ "seed", required_argument, NULL, SEED },
		{ "trace", no_argument, NULL, TRACE },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	struct server s = { .listener = -1, .signals = -1, .user = geteuid(), .setup.seed = 1 };
	uint64_t aperture = APERTURE_DEFAULT;
	struct gtu_error err = { .text = "" };
	char *path = NULL;
	int option, cap, code;

	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (option) {
		case SOCKET: s.path = optarg; break;
		case ONCE: s.once = true; break;
		case MAP_APERTURE: s.map_aperture = true; break;
		case TRACE: s.trace = true; break;
		case APERTURE:
			if (!cli_u64("--aperture", optarg, 4096, APERTURE_MAX, &aperture))
				return CLI_USAGE;
			if (aperture & (aperture - 1))
				return cli_usage("--aperture %s is not a power of two", optarg);
			break;
		case WITHOUT:
			cap = cli_choice("capability", optarg, gtu_capability_names);
			if (cap < 0)
				return CLI_USAGE;
			s.setup.device.caps_off |= 1ull << cap;
			break;
		case FAULT:
			if (!parse_fault(optarg, s.setup.fault))
				return CLI_USAGE;
			break;
		case BUG:
			if (!bringup_bug(optarg, &s.setup.bug))
				return CLI_USAGE;
			break;
		case SEED:
			if (!cli_u64("--seed", optarg, 0, UINT64_MAX, &s.setup.seed))
				return CLI_USAGE;
			break;
		case HELP:
			help();
			return CLI_DONE;
		default:
			return cli_option(argc, argv, option, options);
		}
	}
	for (; optind < argc; optind++)
		if (gtu_model_parameters(argv[optind], &s.setup.device, &err))
			return cli_usage("%s", err.text);
	if (s.map_aperture && s.setup.device.no_aperture)
		return cli_usage("--map-aperture needs an aperture; aperture_bytes=0 leaves it out");
	if (s.path && !*s.path)
		return cli_usage("needs --socket PATH");
	if (!s.path)
		s.path = path = default_path(&err);
	if (!s.path)
		return err.code == GTU_ERR_USAGE ? cli_usage("%s", err.text) : cli_exit(&err, err.code);
	if (!s.setup.device.aperture_bytes)
		s.setup.device.aperture_bytes = aperture;
	code = run_server(&s);
	free(path);
	return code;
}
