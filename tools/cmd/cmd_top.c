// SPDX-License-Identifier: MIT
/* gtu top: shows the activity of devices on a terminal. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "libruntime/support/clock.h"
#include "tools/support/cli.h"
#include "tools/top/top.h"
#include "tools/support/atomic_file.h"
#include "tools/support/host.h"

static const char help[] =
	"usage: gtu top [--device D] [--interval S] [--once] [--json FILE|-]\n\n"
	"Shows the activity of this computer's devices: how busy each unit is, its jobs, and with the zero-copy monitor the\n"
	"requests by size, from the driver's counters below /sys/class/gtu, which root may read; and the owners of queues,\n"
	"from debugfs if it is mounted; and for each open file of a device, its process, share and memory, from the files\n"
	"/proc/PID/fdinfo that this user may read. Each update only reads a unit's registers, at most every 20 ms however many programs\n"
	"are watching.\n\n"
	"  --device D     /dev/gtu0 or gtu0 (default: all)\n"
	"  --interval S   seconds between two updates (1)\n"
	"  --once         sample twice, print once, then exit\n"
	"  --json FILE    the same as JSON, with all counters; - is standard output\n\n"
	"On a terminal q ends it. If standard output is not a terminal, updates are separated by a blank line.\n"
	"busy      cycles in which a job of the unit ran, as a share of the device's nominal clock. A software device\n"
	"          counts logical cycles and may exceed its clock\n"
	"requests  while a user has the monitor enabled: gtu run --monitor, gtu bringup\n\n"
	"  gtu top --interval 0.5\n"
	"  gtu top --device gtu0 --once\n"
	"  gtu top --json -\n";

#define SHOW	"\033[?1049h\033[?25l"	/* alternate screen, no cursor */
#define RESTORE	"\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t on_terminal, keys, ended, stopped;

/* Restore the terminal's screen, cursor and mode. */
static void restore(void)
{
	if (on_terminal && write(STDOUT_FILENO, RESTORE, sizeof(RESTORE) - 1) < 0)
		on_terminal = 0;	/* the terminal is closed */
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	on_terminal = keys = 0;
}

/* The first signal ends the loop after the current update; a second one exits at once. */
static void on_signal(int number)
{
	if (ended) {
		restore();
		_exit(CLI_INTERRUPTED);
	}
	ended = number;
}

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void on_resize(int number)
{
	(void)number;			/* interrupts poll() */
}

static void enter_screen(void)
{
	struct termios raw;

	if (!isatty(STDOUT_FILENO))
		return;
	on_terminal = 1;
	fputs(SHOW, stdout);
	if (tcgetattr(STDIN_FILENO, &before))
		return;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	keys = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction end = { .sa_handler = on_signal };
	struct sigaction stop = { .sa_handler = on_stop }, resize = { .sa_handler = on_resize };
	unsigned i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &end, NULL);
	sigaction(SIGTSTP, &stop, NULL);
	sigaction(SIGWINCH, &resize, NULL);
}

/* Ctrl-Z: give the terminal back until SIGCONT. */
static void suspend(void)
{
	bool shown = on_terminal;

	stopped = 0;
	restore();
	raise(SIGSTOP);
	if (shown && !ended)
		enter_screen();
}

/* Write a whole update at once, cut to the terminal's size, to avoid flicker and scrolling. */
static void put_on_terminal(char *text)
{
	struct winsize w = { 0 };
	unsigned rows = 24, columns = 80, row = 0;
	char *line, *next;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col) {
		rows = w.ws_row;
		columns = w.ws_col;
	}
	fputs("\033[H", stdout);
	for (line = text; *line && row < rows; line = next, row++) {
		bool bold = *line == '\1';

		next = line + strcspn(line, "\n");
		next += *next ? 1 : 0;
		line += bold;
		printf("%s%s%.*s\033[0m\033[K", row ? "\r\n" : "", bold ? "\033[1m" : "",
		       (int)(strcspn(line, "\n") < columns ? strcspn(line, "\n") : columns), line);
	}
	fputs("\033[J", stdout);
}

static int put(const struct top_sample *last, const struct top_sample *now, double interval, struct gtu_error *err)
{
	static bool again;
	char *text = NULL, *c;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for an update");
	top_show(last, now, f);
	if (on_terminal)
		fprintf(f, "\nevery %g s; q quits\n", interval);
	if (fclose(f)) {
		free(text);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for an update");
	}
	if (on_terminal) {
		put_on_terminal(text);
	} else {
		for (c = text; *c; c++)
			if (*c != '\1')
				putchar(*c);
			else if (again && c == text)
				putchar('\n');
		again = true;
	}
	free(text);
	return fflush(stdout) && !ended ? gtu_fail(err, GTU_ERR_FAIL, "cannot write: %s", strerror(errno)) : 0;
}

/* Wait until @when or a signal; false if q was pressed. */
static bool wait_until(double when)
{
	struct pollfd p = { .fd = keys ? STDIN_FILENO : -1, .events = POLLIN };
	double left;
	char key;

	while (!ended && (left = when - gtu_now_s()) > 0) {
		if (stopped)
			suspend();
		/* wait in short pieces: a signal may arrive just before poll() */
		if (poll(&p, 1, (int)((left < 0.2 ? left : 0.2) * 1000) + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			p.fd = -1;	/* standard input is closed */
		else if (key == 'q' || key == 'Q')
			return false;
	}
	return true;
}

static int write_json(const char *path, const struct top_sample *last, const struct top_sample *now, struct gtu_error *err)
{
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	top_json(last, now, w.file);
	return atomic_file_close(&w, 0, err);
}

struct top_request {
	const char *root, *device, *json;
	double interval;
	bool once;
};

static int watch(const struct top_request *rq, struct gtu_error *err)
{
	static struct top_sample sample[2];
	struct gtu_error later = { 0 };
	struct top_sample *last = &sample[0], *now = &sample[1], *swap;
	double next;
	int rc = top_read(last, rq->root, rq->device, err);

	if (rc)
		return rc;
	catch_signals();
	if (!rq->once)
		enter_screen();
	if (on_terminal)
		rc = put(NULL, last, rq->interval, err);
	next = gtu_now_s();
	while (!rc && !ended) {
		next += rq->interval;
		if (!wait_until(next) || ended)
			break;
		/* ignore errors: a device may disappear and come back */
		if (top_read(now, rq->root, rq->device, &later))
			now->devices = 0;
		rc = rq->json ? write_json(rq->json, last, now, err) : put(last, now, rq->interval, err);
		if (rq->once)
			break;
		swap = last;
		last = now;
		now = swap;
		/* after a long stop do not catch up */
		next = next < gtu_now_s() - rq->interval ? gtu_now_s() : next;
	}
	restore();
	return rc ? rc : ended ? gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted") : 0;
}

int cmd_top(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "interval", required_argument, NULL, 'i' },
		{ "once", no_argument, NULL, 'o' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct top_request rq = { .root = getenv("GTU_TOP_ROOT"), .interval = 1 };
	struct gtu_error err = { 0 };
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'd': rq.device = strncmp(optarg, "/dev/", 5) ? optarg : optarg + 5; break;
		case 'i':
			if (!cli_double("--interval", optarg, 0.05, 86400, &rq.interval))
				return CLI_USAGE;
			break;
		case 'o': rq.once = true; break;
		case 'j':
			rq.json = optarg;
			rq.once = true;
			break;
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, c, options);
		}
	}
	if (optind < argc)
		return cli_usage("unexpected argument '%s'; --device names a device", argv[optind]);
	if (rq.device && (strncmp(rq.device, "gtu", 3) || strchr(rq.device, '/')))
		return cli_usage("--device %s is not a device of the driver, such as /dev/gtu0", rq.device);
	if (!rq.root)
		rq.root = "";
	rc = rq.json ? atomic_file_try(rq.json, &err) : 0;
	if (!rc)
		rc = watch(&rq, &err);
	return cli_exit(&err, rc);
}
