/* SPDX-License-Identifier: MIT */
/*
 * Text files of values, "key = value unit # source: ...": shared by machine descriptions (machine.h)
 * and by the parameters of experiments:
 *
 *	scu.width = 4			# source: paper: SCU, table 2
 *	scu.bfs_bytes = 1024 KiB	# source: paper: SCU, table 2
 *
 * The source of an experiment's parameter has one of these kinds, and a text:
 *
 *	paper: a section, figure or table that is not judged by this value
 *	vendor: a document of the hardware's maker, or its configuration
 *	oracle: the independent counts
 *	compiled: instructions counted in compiled code
 *	calibrated on: a baseline's row in the experiment's table, which is printed but not judged
 *	settled: our choice, with its reason
 */
#ifndef GTU_LAB_PARAMETERS_H
#define GTU_LAB_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

enum lab_dimension { LAB_NUMBER, LAB_BYTES, LAB_CYCLES, LAB_INSTRUCTIONS, LAB_PERCENT, LAB_MHZ, LAB_GBS, LAB_NS, LAB_WORD, LAB_TEXT };

/* The unit to print behind a value; may be "". */
const char *lab_unit(enum lab_dimension dimension);
/* Write the reason to @why, and return false. */
bool lab_text_bad(char *why, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* @s without spaces at its ends, in place. */
char *lab_text_trim(char *s);
/*
 * Parse "12 KiB" for @name into *@v; @bare: the unit may be left out. False: @why has the reason,
 * without file and line.
 */
bool lab_value_parse(const char *name, enum lab_dimension dimension, bool bare, double min, double max, bool whole,
		     const char *text, double *v, char *why, size_t size);

/* A line; @source is the text behind "#", or NULL. Return false with a reason in @why. */
typedef bool lab_line(void *ctx, unsigned number, char *name, char *value, char *source, char *why, size_t size);
/*
 * Call @line for each line that is neither empty nor a comment. GTU_ERR_INPUT names file, line and
 * reason. @text need not end in NUL.
 */
int lab_lines_parse(const char *text, size_t bytes, const char *file, lab_line *line, void *ctx, struct gtu_error *err);
/* The source behind its "source:"; NULL: there is none. */
const char *lab_source_text(char *source);

/* A whole number of an experiment. */
struct lab_key {
	const char *name;
	uint32_t *value, min, max;
	enum lab_dimension dimension;
};
/*
 * Parse the parameters of an experiment: every key once, in any order. GTU_ERR_INPUT names file, line
 * and reason; values are unspecified then. @n is at most 256.
 */
int lab_parameters_parse(const char *text, size_t bytes, const char *file, const struct lab_key *keys, unsigned n,
			 struct gtu_error *err);
/* The text of the built-in firmware-model/machines/NAME.parameters, or NULL. */
const char *lab_parameters_builtin(const char *name, size_t *bytes);

#endif
