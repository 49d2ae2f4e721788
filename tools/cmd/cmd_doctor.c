// SPDX-License-Identifier: MIT
/*
 * gtu doctor: checks everything that a working device needs, in order, and reports how to fix it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "tools/support/cli.h"
#include "tools/doctor/doctor.h"
#include "tools/support/json.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu doctor [--device D] [--graph FILE] [--json FILE|-]\n\n"
	"Checks everything that a working device needs, in order: the kernel's module, the function on the\n"
	"bus, the device file and its permissions, the limit on pinned memory, the IOMMU that restricts the\n"
	"device to its memory. Then it tests the device itself: whether it answers, a job gives the right\n"
	"result, and an interrupt arrives.\n\n"
	"  --device D     a device file (/dev/gtu0, the default), or model: the device in this process\n"
	"  --graph FILE   compare the limit on pinned memory with what this graph needs\n"
	"  --json FILE    the findings as JSON; - is standard output, and then nothing else is printed\n\n"
	"Each line is ok, warn (works with restrictions), fail (does not work; the remedy follows) or skip.\n"
	"Exit codes: 0 nothing failed, 1 something did, 2 usage.\n";

#define FINDINGS_MAX	40
/* A device or a driver that produces no finding for this long is taken for hung. */
#define ANSWER_MS	20000

struct line {
	char state[8], name[24], text[GTU_ERROR_TEXT];
};

struct findings {
	struct line line[FINDINGS_MAX];
	unsigned n;
	bool failed, show;
};

/* ---- Functions for the checks ------------------------------------------------------------------------ */

void doctor_say(struct doctor *d, enum finding finding, const char *name, const char *fmt, ...)
{
	static const char *const state[] = { "ok", "warn", "fail", "skip" };
	char text[GTU_ERROR_TEXT], *p;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (p = text; *p; p++)		/* file names may contain any byte */
		if ((unsigned char)*p < ' ')
			*p = '?';
	fprintf(d->to, "%s\t%s\t%s\n", state[finding], name, text);
	fflush(d->to);
}

const char *doctor_path(const struct doctor *d, const char *path)
{
	static char whole[4096];

	snprintf(whole, sizeof(whole), "%s%s", d->root, path);
	return whole;
}

bool doctor_exists(const struct doctor *d, const char *path)
{
	return !access(doctor_path(d, path), F_OK);
}

bool doctor_read(const struct doctor *d, const char *path, char *text, size_t size)
{
	FILE *f = fopen(doctor_path(d, path), "re");
	bool got = f && fgets(text, (int)size, f);

	if (f)
		fclose(f);
	if (got)
		text[strcspn(text, "\n")] = 0;
	return got;
}

/* ---- Findings ----------------------------------------------------------------------------------------- */

static void add_finding(struct findings *all, char *text)
{
	struct line *l = &all->line[all->n];
	char *name = strchr(text, '\t'), *message = name ? strchr(name + 1, '\t') : NULL;

	if (!message || all->n == FINDINGS_MAX)
		return;
	*name++ = *message++ = 0;
	snprintf(l->state, sizeof(l->state), "%s", text);
	snprintf(l->name, sizeof(l->name), "%s", name);
	snprintf(l->text, sizeof(l->text), "%s", message);
	all->n++;
	all->failed = all->failed || !strcmp(l->state, "fail");
	if (all->show) {
		printf("%-5s %-11s %s\n", l->state, l->name, l->text);
		fflush(stdout);
	}
}

/* Read findings from @fd; false if none arrives within ANSWER_MS. */
static bool collect(struct findings *all, int fd)
{
	char buffer[2 * GTU_ERROR_TEXT], *end;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, ANSWER_MS) <= 0)
			return false;
		n = read(fd, buffer + have, sizeof(buffer) - 1 - have);
		if (n <= 0)
			return true;
		have += (size_t)n;
		buffer[have] = 0;
		while ((end = strchr(buffer, '\n'))) {
			*end = 0;
			add_finding(all, buffer);
			have -= (size_t)(end + 1 - buffer);
			memmove(buffer, end + 1, have + 1);
		}
		if (have == sizeof(buffer) - 1)
			have = 0;
	}
}

/*
 * Test the device in a child, so that a driver or device that never answers blocks the child only.
 * A child that cannot be killed because it waits inside the kernel is left to the system.
 */
static int run_in_child(struct doctor *d, void (*part)(struct doctor *), struct findings *all, struct gtu_error *err)
{
	struct gtu_error advice;
	int fd[2];
	pid_t child;

	if (pipe2(fd, O_CLOEXEC))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create a pipe: %s", strerror(errno));
	fflush(stdout);
	child = fork();
	if (child < 0) {
		close(fd[0]);
		close(fd[1]);
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create a process: %s", strerror(errno));
	}
	if (!child) {
		close(fd[0]);
		d->to = fdopen(fd[1], "w");
		if (d->to)
			part(d);
		_exit(0);
	}
	close(fd[1]);
	if (!collect(all, fd[0])) {
		char line[GTU_ERROR_TEXT + 32];

		gtu_advise_timeout(d->device, ANSWER_MS / 1e3, &advice);
		snprintf(line, sizeof(line), "fail\tdevice\t%s", advice.text);
		add_finding(all, line);
		kill(child, SIGKILL);
		waitpid(child, NULL, WNOHANG);
	} else {
		waitpid(child, NULL, 0);
	}
	close(fd[0]);
	return 0;
}

/*
 * Run checks of the computer in this process because they set fields of @d; collect their lines in
 * a file.
 */
static int run_in_process(struct doctor *d, void (*part)(struct doctor *), struct findings *all, struct gtu_error *err)
{
	char line[GTU_ERROR_TEXT + 64];
	FILE *f = tmpfile();

	if (!f)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create a temporary file: %s", strerror(errno));
	d->to = f;
	part(d);
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		add_finding(all, line);
	}
	fclose(f);
	return 0;
}

static int write_json(const char *path, const struct doctor *d, const struct findings *all, struct gtu_error *err)
{
	struct atomic_file w;
	struct json j;
	unsigned i;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	json_start(&j, w.file);
	json_begin_object(&j, NULL);
	json_string(&j, "device", d->device);
	json_bool(&j, "healthy", !all->failed);
	json_begin_array(&j, "findings");
	for (i = 0; i < all->n; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "name", all->line[i].name);
		json_string(&j, "state", all->line[i].state);
		json_string(&j, "message", all->line[i].text);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

static int run_all(struct doctor *d, const char *json, struct gtu_error *err)
{
	struct findings all = { .show = !json || !atomic_file_is_stdout(json) };
	int rc = run_in_process(d, doctor_system, &all, err);

	if (!rc && !d->blocked)
		rc = run_in_child(d, doctor_device, &all, err);
	else if (!rc)
		add_finding(&all, (char[]){ "skip\tdevice\tnot tested: fix the failures above first" });
	if (!rc)
		rc = run_in_process(d, doctor_cuda, &all, err);
	if (!rc && json)
		rc = write_json(json, d, &all, err);
	if (!rc && all.show && !cli_quiet())
		puts(all.failed ? "\nThe device will not work: fix the lines that begin with fail, starting with the first." :
				  "\nEverything that was checked works.");
	return rc ? cli_exit(err, rc) : all.failed ? CLI_FAILED : CLI_DONE;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "graph", required_argument, NULL, 'g' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct doctor d = { .root = getenv("GTU_DOCTOR_ROOT"), .device = "/dev/gtu0" };
	struct gtu_error err = { 0 };
	const char *json = NULL;
	int opt, rc;

	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'd': d.device = optarg; break;
		case 'g': d.graph = optarg; break;
		case 'j': json = optarg; break;
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, opt, options);
		}
	}
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	d.root = d.root ? d.root : "";
	d.behind_kernel = d.device[0] == '/';
	if (!d.behind_kernel && strncmp(d.device, "model", 5))
		return cli_usage("--device %s is neither a device file nor model", d.device);
	snprintf(d.node, sizeof(d.node), "%s", strrchr(d.device, '/') ? strrchr(d.device, '/') + 1 : "");
	rc = json ? atomic_file_try(json, &err) : 0;
	if (rc)
		return cli_exit(&err, rc);
	return run_all(&d, json, &err);
}
