/* SPDX-License-Identifier: MIT */
/*
 * Declarations that all verbs of the gtu tool share: entry points, exit codes, messages, progress.
 *
 * A verb is one file cmd_<verb>.c with one function. The function is called with the verb's name as
 * argv[0] and returns the exit code of the program. To add a verb, write the file, declare the
 * function here, and add a line to the table in gtu.c. Parse options with getopt_long() and pass
 * what it rejects to cli_option().
 */
#ifndef GTU_CLI_H
#define GTU_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

enum cli_code {
	CLI_DONE = 0,
	CLI_FAILED = 1,			/* at run time */
	CLI_USAGE = 2,
	CLI_INPUT = 3,			/* an input file is wrong */
	CLI_VERIFY = 4,			/* a result differs from the reference */
	CLI_INTERRUPTED = 130,
};

int cmd_bench(int argc, char **argv);
int cmd_bringup(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_fdt(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);

/* Print "gtu VERB: <message>" and a pointer to --help on stderr. Returns CLI_USAGE. */
int cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * Convert @code, a gtu_status, to an exit code. Unless @code is 0, print "gtu: <err->text>" on
 * stderr, or the name of the code if there is no text.
 */
int cli_exit(const struct gtu_error *err, int code);

/*
 * @text for a terminal: control characters become \xNN, C1 ones in UTF-8 too, so that a file or a
 * graph cannot move the cursor by its name. In one of four static buffers, which may cut it.
 */
const char *cli_printable(const char *text);

/*
 * Report the option for which getopt_long(argc, argv, ":...", long_options, NULL) returned '?' or
 * ':', and suggest the nearest known option. Requires opterr = 0. Returns CLI_USAGE.
 */
int cli_option(int argc, char **argv, int returned, const struct option *known);
/*
 * Whether @name is more similar to @word than *best says, which then is the new bound. To find the most
 * similar name, call it with each one; *best starts as CLI_NEAR(word).
 */
bool cli_nearer(const char *word, const char *name, unsigned *best);
#define CLI_NEAR(word) ((unsigned)strlen(word) / 3 + 2)
/* The member of a NULL-terminated list that is most similar to @word; NULL if none is similar. */
const char *cli_nearest(const char *word, const char *const *list);
/* The index of @word in the list, or -1 after a message that names @what and the choices. */
int cli_choice(const char *what, const char *word, const char *const *list);
/*
 * Parse all of @text as a number from @min to @max; the suffixes K, M and G are powers of 1024.
 * Returns false after a message that names @what.
 */
bool cli_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Default timeout of one job, in seconds. cli_timeout_ns() converts to ns; 0 means no timeout. */
#define CLI_TIMEOUT 60.0
uint64_t cli_timeout_ns(double seconds);
bool cli_double(const char *what, const char *text, double min, double max, double *out);

/*
 * The progress callback for long work: a bar on stderr if stderr is a terminal and --quiet is not
 * given. From the first call on, SIGINT and SIGTERM make tick() return non-zero; a second signal
 * ends the program.
 */
const struct gtu_progress *cli_progress(void);
/* Whether a signal has arrived; for loops that do not call tick(). */
bool cli_interrupted(void);
/* Whether --quiet was given: print only what was requested. */
bool cli_quiet(void);

/* used by gtu.c only */
void cli_start(const char *verb, bool quiet);
void cli_clear_bar(void);

#endif
