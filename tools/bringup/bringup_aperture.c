// SPDX-License-Identifier: MIT
/*
 * bringup: tests device memory behind BAR 4. Lanes, byte enables and address lines are tested
 * first, because their errors can be named; then march tests find errors in any cell at every
 * width.
 */
#include <inttypes.h>
#include <string.h>

#include "bringup.h"
#include "tools/support/cli.h"

#define MARCH_WINDOWS	2
#define TICK		4096u

static uint64_t get(struct bringup *b, uint64_t at, unsigned bytes)
{
	return b->a->ops->read(b->a, GTU_BAR_APERTURE, at, bytes);
}

static void put(struct bringup *b, uint64_t at, unsigned bytes, uint64_t value)
{
	b->a->ops->write(b->a, GTU_BAR_APERTURE, at, bytes, value);
}

static uint64_t bytes_mask(unsigned bytes)
{
	return bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
}

/* Write 4 bytes at a time and read at every width, to find the position of each byte on the bus. */
static bool lanes(struct bringup *b)
{
	static const uint8_t width[] = { 8, 4, 2, 1 };
	const uint64_t pattern = 0x8796a5b4c3d2e1f0u;
	unsigned w, i;

	put(b, 0, 4, (uint32_t)pattern);
	put(b, 4, 4, pattern >> 32);
	for (w = 0; w < 4; w++) {
		for (i = 0; i < 8; i += width[w]) {
			const uint64_t want = pattern >> 8 * i & bytes_mask(width[w]), is = get(b, i, width[w]);
			const bool swapped = width[w] == 8 && is == (pattern << 32 | pattern >> 32);
			const bool reversed = is == __builtin_bswap64(want) >> (64 - 8 * width[w]);

			if (is == want)
				continue;
			bringup_say(b, BRINGUP_FAIL, swapped ? "dword-swap" : NULL, "0x%016" PRIx64 " written as two halves reads, %u bytes at %u, as 0x%"
				    PRIx64 ", not 0x%" PRIx64 "%s", pattern, width[w], i, is, want,
				    swapped ? ": its halves are exchanged" : reversed ? ": its bytes are reversed" : "");
			return false;
		}
	}
	put(b, 0, 8, pattern);
	if (get(b, 0, 4) != (uint32_t)pattern || get(b, 4, 4) != pattern >> 32) {
		bringup_say(b, BRINGUP_FAIL, "dword-swap", "0x%016" PRIx64 " written as 8 bytes reads as 0x%08" PRIx64 " and 0x%08" PRIx64, pattern, get(b, 0, 4),
			    get(b, 4, 4));
		return false;
	}
	return true;
}

static bool byte_enables(struct bringup *b)
{
	unsigned bytes, at;

	for (bytes = 1; bytes <= 4; bytes *= 2) {
		for (at = 0; at < 8; at += bytes) {
			const uint64_t mask = bytes_mask(bytes) << 8 * at, want = ~mask | (0x3c3c3c3c3c3c3c3cu & mask);
			uint64_t is;

			put(b, 64, 8, ~0ull);
			put(b, 64 + at, bytes, 0x3c3c3c3cu & bytes_mask(bytes));
			is = get(b, 64, 8);
			if (is == want)
				continue;
			bringup_say(b, BRINGUP_FAIL, (is & mask) == (want & mask) ? "byte-enable" : NULL, "%u byte%s of 0x3c at %u of a word of all ones "
				    "give 0x%016" PRIx64 ", not 0x%016" PRIx64 "%s", bytes, bytes > 1 ? "s" : "", at, is, want,
				    (is & mask) == (want & mask) ? ": neighbours are written too: byte enables are ignored" : "");
			return false;
		}
	}
	return true;
}

/* Write a word at 0 and at every power of two: two addresses with the same content are aliases. */
static bool address_lines(struct bringup *b, uint64_t size)
{
	const uint64_t mark = 0x6100000000000000u;
	unsigned line, lines = 0;

	while (8ull << (lines + 1) <= size)
		lines++;
	put(b, 0, 8, mark);
	for (line = 0; line < lines; line++)
		put(b, 8ull << line, 8, mark + line + 1);
	for (line = 0; line <= lines; line++) {
		const uint64_t at = line ? 8ull << (line - 1) : 0, is = get(b, at, 8);
		const uint64_t other = is - mark;

		if (is == mark + line)
			continue;
		if (other <= lines && (!line || !other)) {
			const unsigned bit = 3 + (unsigned)(line ? line : other) - 1;

			bringup_say(b, BRINGUP_FAIL, "aperture-alias", "what is written at 0x%" PRIx64 " is read at 0x%" PRIx64 ": address line %u is not "
				    "connected, or stuck", other ? (uint64_t)8 << (other - 1) : 0, at, bit);
		} else {
			bringup_say(b, BRINGUP_FAIL, other <= lines ? "aperture-alias" : NULL, "0x%" PRIx64 " reads 0x%016" PRIx64 ", 0x%016" PRIx64 " was "
				    "written", at, is, mark + line);
		}
		return false;
	}
	return true;
}

struct march_progress {
	const struct gtu_progress *progress;
	uint64_t done, total;		/* cells, over all elements */
};

/*
 * March C-: up w0; up r0 w1; up r1 w0; down r0 w1; down r1 w0; up r0. 0 is a hash of the cell's
 * number, 1 its complement.
 */
static bool march(struct bringup *b, uint64_t from, uint64_t bytes, unsigned width, struct march_progress *p)
{
	static const struct {
		bool down, reads, writes, was, becomes;
	} element[] = {
		{ false, false, true, false, false }, { false, true, true, false, true }, { false, true, true, true, false },
		{ true, true, true, false, true }, { true, true, true, true, false }, { false, true, false, false, false },
	};
	const uint64_t cells = bytes / width, mask = bytes_mask(width);
	unsigned e;
	uint64_t i;

	for (e = 0; e < sizeof(element) / sizeof(element[0]); e++) {
		for (i = 0; i < cells; i++) {
			const uint64_t cell = element[e].down ? cells - 1 - i : i, at = from + cell * width;
			const uint64_t zero = (cell * 0x9e3779b97f4a7c15u >> 7) & mask;
			const uint64_t want = element[e].was ? ~zero & mask : zero;
			uint64_t is;

			if (++p->done % TICK == 0 && p->progress->tick(p->progress->user, "march", p->done, p->total)) {
				bringup_say(b, BRINGUP_WARN, NULL, "the march tests were interrupted, at width %u", width);
				return false;
			}
			if (element[e].reads && (is = get(b, at, width)) != want) {
				bringup_say(b, BRINGUP_FAIL, NULL, "march test, %u bytes wide, element %u: 0x%" PRIx64 " holds 0x%" PRIx64 ", not 0x%" PRIx64
					    " (bits 0x%" PRIx64 ")", width, e, at, is, want, is ^ want);
				return false;
			}
			if (element[e].writes)
				put(b, at, width, element[e].becomes ? ~zero & mask : zero);
		}
	}
	return true;
}

void bringup_aperture(struct bringup *b)
{
	const uint64_t size = b->aperture < b->bar[GTU_BAR_APERTURE] ? b->aperture : b->bar[GTU_BAR_APERTURE];
	struct march_progress progress = { .progress = cli_progress() };
	uint64_t window = b->march, at;
	unsigned width, w;

	if (!size) {
		bringup_say(b, BRINGUP_SKIP, NULL, "the device has no aperture");
		return;
	}
	if (!lanes(b) || !byte_enables(b) || !address_lines(b, size))
		return;
	bringup_say(b, BRINGUP_OK, NULL, "lanes and byte enables at widths 1, 2, 4, 8; address lines up to 0x%" PRIx64, size - 1);
	if (window > size)
		window = size;
	/* six elements at 8, 4, 2 and 1 bytes: 15 cells for 8 bytes */
	progress.total = 6 * 15 * (window / 8) * (window == size ? 1 : MARCH_WINDOWS);
	for (w = 0; w < MARCH_WINDOWS; w++) {
		at = w ? size - window : 0;
		for (width = 1; width <= 8; width *= 2)
			if (!march(b, at, window, width, &progress))
				return;
		if (window == size)
			break;
	}
	bringup_say(b, BRINGUP_OK, NULL, "march tests (C-) at widths 1, 2, 4, 8 over %" PRIu64 " bytes%s", window,
		    window == size ? ", all of it" : " at its start and at its end (--march SIZE tests more)");
}
