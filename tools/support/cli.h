/* SPDX-License-Identifier: MIT */
/*
 * What all verbs of the gtu tool share: their table, exit codes, complaints, progress.
 *
 * A verb is one file cmd_<verb>.c with one function, called with its own name as argv[0]; it returns
 * the exit code of the program. To add one: write the file, declare it here, put a line into the table in
 * gtu.c. It parses with getopt_long() and gives what that does not know to cli_option().
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

/* "gtu VERB: <sentence>" on stderr and where to find help; returns CLI_USAGE. */
int cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * How a verb ends: nothing for @code 0, else "gtu: <err->text>" on stderr (the code's name where there is
 * no text); returns the exit code for @code, a gtu_status.
 */
int cli_exit(const struct gtu_error *err, int code);

/*
 * For getopt_long(argc, argv, ":...", long_options, NULL), with opterr = 0: complain about what it
 * returned '?' or ':' for, with the nearest option there is; returns CLI_USAGE.
 */
int cli_option(int argc, char **argv, int returned, const struct option *known);
/* The member of a NULL-terminated list that @word was likely meant to be, or NULL. */
const char *cli_nearest(const char *word, const char *const *list);
/* The place of @word in the list, or -1 after a complaint that names @what and the choices. */
int cli_choice(const char *what, const char *word, const char *const *list);
/* The whole of @text as a number (K, M, G: powers of 1024); false after a complaint that names @what. */
bool cli_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* How long a verb waits for one job of a device when it is not told, seconds; and in ns, 0 for "for ever". */
#define CLI_TIMEOUT 60.0
uint64_t cli_timeout_ns(double seconds);
bool cli_double(const char *what, const char *text, double min, double max, double *out);

/*
 * For long work: a bar on stderr if that is a terminal and --quiet was not given. From the first call
 * on, SIGINT and SIGTERM make tick() return non-zero (a second one ends the program at once).
 */
const struct gtu_progress *cli_progress(void);
/* A signal came: for loops that have no tick(). */
bool cli_interrupted(void);
/* Whether --quiet was given: say nothing that was not asked for. */
bool cli_quiet(void);

/* gtu.c's own */
void cli_start(const char *verb, bool quiet);
void cli_clear_bar(void);

#endif
