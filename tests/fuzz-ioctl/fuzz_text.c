// SPDX-License-Identifier: MIT
/*
 * Programs as text, one call per line: its name, "!N" if its struct is invalid in way N, and its
 * values in hexadecimal up to the last that is not 0. A reference is its kind and the number of
 * newer results of that kind.
 *
 * 	open
 * 	queue_create fd0 0 3 3
 * 	mmap fd0 offset1 bytes1 1
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_ioctl.h"

static const char *const op_name[FUZZ_OPS] = {
#define NAME_OF(NAME, name, type) #name,
	GTU_IOCTL_TABLE(NAME_OF)
	"open", "close", "dup", "fork", "mmap", "munmap", "touch", "doorbell", "job", "read", "poll", "eventfd", "raw", "operand", "thread",
	"mremap", "memory", "foreign", "look", "reset", "nobody",
};
static const char *const kind_name[FUZZ_KINDS] = { "", "key", "queue", "offset", "fd", "address", "bytes" };

bool fuzz_valid(const struct fuzz_program *p)
{
	unsigned i;

	for (i = 0; i < p->calls && i < FUZZ_CALLS; i++)
		if (p->call[i].op >= FUZZ_OPS)
			return false;
	return p->calls <= FUZZ_CALLS;
}

static void write_value(uint64_t v, FILE *to)
{
	const unsigned kind = v >> 56;

	if (kind && kind < FUZZ_KINDS && (v & 0xffffffffffffff) < 256)
		fprintf(to, " %s%u", kind_name[kind], (unsigned)v & 255);
	else
		fprintf(to, " %" PRIx64, v);
}

void fuzz_write(const struct fuzz_program *p, FILE *to)
{
	unsigned i, v, n;

	for (i = 0; i < p->calls; i++) {
		const struct fuzz_call *c = &p->call[i];

		fputs(op_name[c->op], to);
		if (c->wrong)
			fprintf(to, "!%u", c->wrong);
		for (n = FUZZ_VALUES; n && !c->value[n - 1]; n--)
			;
		for (v = 0; v < n; v++)
			write_value(c->value[v], to);
		putc('\n', to);
	}
	putc('\n', to);
}

static bool read_value(const char *word, uint64_t *v)
{
	size_t n;
	char *end;
	unsigned kind;

	for (kind = 1; kind < FUZZ_KINDS; kind++) {
		n = strlen(kind_name[kind]);
		if (!strncmp(word, kind_name[kind], n) && isdigit((unsigned char)word[n])) {
			unsigned long back = strtoul(word + n, &end, 10);

			*v = FUZZ_REF(kind, back);
			return !*end && back < 256;
		}
	}
	*v = strtoull(word, &end, 16);
	return isxdigit((unsigned char)*word) && !*end;
}

/* Parse one call; returns the error, or NULL. */
static const char *read_call(char *line, struct fuzz_call *c)
{
	char *word = strtok(line, " \t\n"), *wrong = strchr(word, '!'), *end = "";
	unsigned long way = 0;
	unsigned op, v = 0;

	if (wrong) {
		*wrong++ = 0;
		way = strtoul(wrong, &end, 10);
	}
	for (op = 0; op < FUZZ_OPS && strcmp(word, op_name[op]); op++)
		;
	if (op == FUZZ_OPS)
		return "is not a call";
	if (*end || (wrong && !isdigit((unsigned char)*wrong)) || way > 255)
		return "needs a number up to 255 after its '!'";
	memset(c, 0, sizeof(*c));
	c->op = (uint8_t)op;
	c->wrong = (uint8_t)way;
	while ((word = strtok(NULL, " \t\n"))) {
		if (v == FUZZ_VALUES)
			return "has too many values";
		if (!read_value(word, &c->value[v++]))
			return "has a value that is neither a number nor a reference to a result";
	}
	return NULL;
}

int fuzz_read(struct fuzz_program *p, FILE *from)
{
	char line[512], said[32];
	const char *bad;

	memset(p, 0, sizeof(*p));
	while (fgets(line, sizeof(line), from)) {
		if (line[0] == '#')
			continue;
		if (line[strspn(line, " \t\n")] == 0) {
			if (p->calls)
				return 1;
			continue;
		}
		snprintf(said, sizeof(said), "%.*s", (int)strcspn(line, "\n"), line);
		bad = p->calls == FUZZ_CALLS ? "is one too many" : read_call(line, &p->call[p->calls]);
		if (bad) {
			fprintf(stderr, "fuzz_ioctl: call %u of a program, '%s...', %s (of %u calls, %u values each)\n",
				p->calls + 1, said, bad, FUZZ_CALLS, FUZZ_VALUES);
			return -1;
		}
		p->calls++;
	}
	return p->calls > 0;
}
