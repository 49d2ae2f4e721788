// SPDX-License-Identifier: MIT
/* gtu top: a terminal that shows what devices do. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tools/support/cli.h"
#include "tools/top/top.h"
#include "tools/support/whole_file.h"

static const char help[] =
	"usage: gtu top [--device D] [--interval S] [--once] [--json FILE|-]\n\n"
	"What the devices of this computer do: how busy each unit is, its jobs, and by the zero-copy monitor the requests by\n"
	"size, from the counters that the driver shows below /sys/class/gtu, which are for root; and who has how many queues,\n"
	"from debugfs, where it is mounted. Looking costs the device nothing but reading a unit's registers, at most every 20 ms\n"
	"whoever looks.\n\n"
	"  --device D     /dev/gtu0 or gtu0; without it, all\n"
	"  --interval S   between two looks (1)\n"
	"  --once         two looks, one picture, and the end\n"
	"  --json FILE    that picture as JSON, with all counters; - is standard output\n\n"
	"On a terminal q ends it. Where standard output is none, a picture follows the other, a blank line between.\n"
	"busy      of the device's nominal clock, the cycles in which a job of the unit ran. A device that is a program\n"
	"          counts logical cycles, and may have more of them than the clock\n"
	"requests  while a user has the monitor on: gtu run --monitor, gtu bringup\n\n"
	"  gtu top --interval 0.5\n"
	"  gtu top --device gtu0 --once\n"
	"  gtu top --json -\n";

#define SHOW	"\033[?1049h\033[?25l"	/* the other screen, no cursor */
#define RESTORE	"\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t on_terminal, keys, ended, stopped;

/* As it was. */
static void restore(void)
{
	if (on_terminal && write(STDOUT_FILENO, RESTORE, sizeof(RESTORE) - 1) < 0)
		on_terminal = 0;	/* there is nobody to see it */
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	on_terminal = keys = 0;
}

/* The picture that is being put is put first; who asks twice gets no more of it, but the terminal as it was. */
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
	(void)number;			/* poll() ends, and that is all */
}

static void take_terminal(void)
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

/* Ctrl-Z: the terminal is somebody else's until SIGCONT. */
static void stop_here(void)
{
	bool shown = on_terminal;

	stopped = 0;
	restore();
	raise(SIGSTOP);
	if (shown && !ended)
		take_terminal();
}

/* A whole picture at once, cut to the terminal, so that nothing flickers or scrolls. */
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

static int put(const struct top_look *last, const struct top_look *now, double interval, struct gtu_error *err)
{
	static bool again;
	char *text = NULL, *c;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a picture");
	top_show(last, now, f);
	if (on_terminal)
		fprintf(f, "\nevery %g s; q ends\n", interval);
	if (fclose(f)) {
		free(text);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a picture");
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

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until then, or a signal; false when q was pressed. */
static bool wait_until(double when)
{
	struct pollfd p = { .fd = keys ? STDIN_FILENO : -1, .events = POLLIN };
	double left;
	char key;

	while (!ended && (left = when - now_s()) > 0) {
		if (stopped)
			stop_here();
		/* in pieces: a signal may come just before poll() */
		if (poll(&p, 1, (int)((left < 0.2 ? left : 0.2) * 1000) + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			p.fd = -1;	/* the other end is gone */
		else if (key == 'q' || key == 'Q')
			return false;
	}
	return true;
}

static int write_json(const char *path, const struct top_look *last, const struct top_look *now, struct gtu_error *err)
{
	struct whole_file w;
	int rc = whole_file_open(&w, path, err);

	if (rc)
		return rc;
	if (top_json(last, now, w.file))
		rc = whole_file_failed(&w, err);
	return whole_file_close(&w, rc, err);
}

struct top_request {
	const char *root, *device, *json;
	double interval;
	bool once;
};

static int watch(const struct top_request *rq, struct gtu_error *err)
{
	static struct top_look look[2];
	struct gtu_error later = { 0 };
	struct top_look *last = &look[0], *now = &look[1], *swap;
	double next;
	int rc = top_look(last, rq->root, rq->device, err);

	if (rc)
		return rc;
	catch_signals();
	if (!rq->once)
		take_terminal();
	if (on_terminal)
		rc = put(NULL, last, rq->interval, err);
	next = now_s();
	while (!rc && !ended) {
		next += rq->interval;
		if (!wait_until(next) || ended)
			break;
		/* a device may go and come back meanwhile */
		if (top_look(now, rq->root, rq->device, &later))
			now->devices = 0;
		rc = rq->json ? write_json(rq->json, last, now, err) : put(last, now, rq->interval, err);
		if (rq->once)
			break;
		swap = last;
		last = now;
		now = swap;
		/* after a long stop not all that was missed */
		next = next < now_s() - rq->interval ? now_s() : next;
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
		return cli_usage("takes no '%s'; --device names a device", argv[optind]);
	if (rq.device && (strncmp(rq.device, "gtu", 3) || strchr(rq.device, '/')))
		return cli_usage("--device %s is no device of the driver's, as /dev/gtu0 is", rq.device);
	if (!rq.root)
		rq.root = "";
	rc = rq.json ? whole_file_try(rq.json, &err) : 0;
	if (!rc)
		rc = watch(&rq, &err);
	return cli_exit(&err, rc);
}
