// SPDX-License-Identifier: MIT
/* Exit codes, error messages, option parsing and the progress bar of the gtu tool. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "libruntime/support/clock.h"

#define BAR_WIDTH	28
#define BAR_INTERVAL_NS	100000000ll

static const char *verb_name;
static bool be_quiet, bar_shown;
static volatile sig_atomic_t signalled;

void cli_start(const char *verb, bool quiet)
{
	verb_name = verb;
	be_quiet = quiet;
	opterr = 0;
}

bool cli_quiet(void)
{
	return be_quiet;
}

bool cli_interrupted(void)
{
	return signalled;
}

int cli_usage(const char *fmt, ...)
{
	va_list ap;

	cli_clear_bar();
	fprintf(stderr, verb_name ? "gtu %s: " : "gtu: ", verb_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (verb_name)
		fprintf(stderr, "\nTry 'gtu %s --help'.\n", verb_name);
	else
		fprintf(stderr, "\nTry 'gtu --help'.\n");
	return CLI_USAGE;
}

/* Length of the UTF-8 sequence at @p that is not a control character, or 0. */
static unsigned printable_length(const unsigned char *p)
{
	unsigned n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2, i;

	if (n == 1)
		return *p >= ' ' && *p != 0x7f;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* lone continuations and invalid starts; U+0080 to U+009F */
	return *p < 0xc2 || *p > 0xf4 || (*p == 0xc2 && p[1] < 0xa0) ? 0 : n;
}

const char *cli_printable(const char *text)
{
	static char buffer[4][1024];
	static unsigned next;
	char *to = buffer[next++ % 4];
	size_t at = 0;
	unsigned n;

	for (; *text && at + 5 < sizeof(buffer[0]); text += n ? n : 1) {
		n = printable_length((const unsigned char *)text);
		if (n)
			memcpy(to + at, text, n);
		at += n ? n : (size_t)sprintf(to + at, "\\x%02x", (unsigned char)*text);
	}
	to[at] = 0;
	return to;
}

int cli_exit(const struct gtu_error *err, int code)
{
	cli_clear_bar();
	if (code == GTU_OK)
		return CLI_DONE;
	fprintf(stderr, "gtu: %s\n", cli_printable(err && *err->text ? err->text : gtu_status_name(code)));
	if (code == GTU_ERR_NOMEM && !(err && strstr(err->text, "ulimit")))
		fputs("Try a smaller graph or --weights none, free memory ('free -h'), or raise the limit ('ulimit -v').\n", stderr);
	switch (code) {
	case GTU_ERR_USAGE: return CLI_USAGE;
	case GTU_ERR_INPUT: return CLI_INPUT;
	case GTU_ERR_VERIFY: return CLI_VERIFY;
	case GTU_ERR_INTERRUPTED: return signalled ? 128 + signalled : CLI_INTERRUPTED;
	}
	return CLI_FAILED;
}

/*
 * The Damerau distance from @a to @b (optimal string alignment): edits of one letter and swaps of
 * neighbours.
 */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned d[3][34], n = strlen(b), i, j;

	if (strlen(a) > 32 || n > 32)
		return ~0u;
	for (j = 0; j <= n; j++)
		d[0][j] = j;
	for (i = 1; a[i - 1]; i++) {
		unsigned *now = d[i % 3], *last = d[(i + 2) % 3], *before = d[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= n; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return d[(i - 1) % 3][n];
}

bool cli_nearer(const char *word, const char *name, unsigned *best)
{
	const size_t length = strlen(word);
	unsigned distance = edit_distance(word, name);

	/* the beginning of a name, and any word in capitals, are near however many letters differ */
	if (length > 1 && !strncasecmp(word, name, length))
		distance = name[length] != 0;
	if (distance >= *best || distance >= strlen(name))
		return false;
	*best = distance;
	return true;
}

const char *cli_nearest(const char *word, const char *const *list)
{
	unsigned best = CLI_NEAR(word);
	const char *nearest = NULL;

	for (; *list; list++)
		if (cli_nearer(word, *list, &best))
			nearest = *list;
	return nearest;
}

static int bad_long_option(const char *word, const struct option *known)
{
	const char *name[64], *equals = strchr(word, '='), *nearest;
	int length = equals ? (int)(equals - word) : (int)strlen(word);
	char bare[40];
	unsigned i;

	for (i = 0; known[i].name && i < 63; i++)
		name[i] = known[i].name;
	name[i] = NULL;
	snprintf(bare, sizeof(bare), "%.*s", length < 33 ? length : 33, word);
	for (i = 0; name[i]; i++)
		if (equals && !strcmp(name[i], bare))
			return cli_usage("option --%s takes no value", bare);
	nearest = cli_nearest(bare, name);
	if (nearest)
		return cli_usage("unknown option --%.*s; did you mean --%s?", length, word, nearest);
	return cli_usage("unknown option --%.*s", length, word);
}

int cli_option(int argc, char **argv, int returned, const struct option *known)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

	if (returned == ':')
		return cli_usage("option %s needs a value", word);
	if (optopt && strncmp(word, "--", 2))
		return cli_usage("unknown option -%c", optopt);
	return bad_long_option(word + 2, known);
}

int cli_choice(const char *what, const char *word, const char *const *list)
{
	char choices[256] = "";
	const char *nearest;
	size_t used = 0;
	int i;

	for (i = 0; list[i]; i++) {
		if (!strcmp(word, list[i]))
			return i;
		if (used < sizeof(choices))
			used += snprintf(choices + used, sizeof(choices) - used, "%s%s",
					 i ? ", " : "", list[i]);
	}
	nearest = cli_nearest(word, list);
	if (nearest)
		cli_usage("%s '%s' is none of: %s; did you mean %s?", what, word, choices, nearest);
	else
		cli_usage("%s '%s' is none of: %s", what, word, choices);
	return -1;
}

bool cli_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	unsigned shift = 0;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (end != text && *end && !end[1]) {
		switch (*end) {
		case 'k': case 'K': shift = 10; break;
		case 'm': case 'M': shift = 20; break;
		case 'g': case 'G': shift = 30; break;
		}
		end += shift != 0;
	}
	if (*text < '0' || *text > '9' || *end) {
		cli_usage("%s '%s' is not a whole number; K, M or G behind it multiplies it by a power of 1024", what, text);
		return false;
	}
	if (errno || (v << shift) >> shift != v || v << shift < min || v << shift > max) {
		cli_usage("%s %s is not within %llu to %llu", what, text, (unsigned long long)min,
			  (unsigned long long)max);
		return false;
	}
	*out = v << shift;
	return true;
}

bool cli_double(const char *what, const char *text, double min, double max, double *out)
{
	char *end;
	double v;

	v = strtod(text, &end);
	if (end == text || *end || isnan(v)) {
		cli_usage("%s '%s' is not a number", what, text);
		return false;
	}
	if (v < min || v > max) {
		cli_usage("%s %s is not within %g to %g", what, text, min, max);
		return false;
	}
	*out = v;
	return true;
}

uint64_t cli_timeout_ns(double seconds)
{
	return seconds > 0 ? (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

void cli_clear_bar(void)
{
	if (bar_shown)
		fputs("\r\033[K", stderr);
	bar_shown = false;
}

static void show_bar(const char *what, uint64_t done, uint64_t total)
{
	char bar[BAR_WIDTH + 1];
	unsigned filled;
	double part;

	bar_shown = true;
	if (!total) {
		fprintf(stderr, "\r%s  %llu\033[K", what, (unsigned long long)done);
		return;
	}
	part = done < total ? (double)done / total : 1;
	filled = part * BAR_WIDTH;
	memset(bar, '#', filled);
	memset(bar + filled, '.', BAR_WIDTH - filled);
	bar[BAR_WIDTH] = 0;
	fprintf(stderr, "\r%s  [%s] %3.0f%%\033[K", what, bar, part * 100);
}

static int bar_tick(void *user, const char *what, uint64_t done, uint64_t total)
{
	static uint64_t first, last;
	static int terminal = -1;
	uint64_t now;

	(void)user;
	if (signalled)
		return 1;
	if (terminal < 0)
		terminal = !be_quiet && isatty(STDERR_FILENO);
	if (!terminal)
		return 0;
	now = gtu_now_ns();
	if (!first)
		first = now;
	/* show no bar for short work, and clear a full bar */
	if (now - first < 3 * BAR_INTERVAL_NS || now - last < BAR_INTERVAL_NS)
		return 0;
	last = now;
	if (total && done >= total)
		cli_clear_bar();
	else
		show_bar(what, done, total);
	return 0;
}

static void on_signal(int number)
{
	signalled = number;
}

const struct gtu_progress *cli_progress(void)
{
	static const struct gtu_progress progress = { bar_tick, NULL };
	static bool caught;
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	if (!caught) {
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		caught = true;
	}
	return &progress;
}
