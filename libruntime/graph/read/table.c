// SPDX-License-Identifier: MIT
/* The table of readers, in the order of detection. */
#include "reader.h"

#define ADDRESS(name) &gtu_reader_##name,
const struct gtu_reader *const gtu_readers[] = { GTU_READERS(ADDRESS) NULL };

bool gtu_window_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
		     const uint8_t **end)
{
	const uint8_t *nl;

	if (*at == in->end)
		return false;
	nl = memchr(*at, '\n', (size_t)(in->end - *at));
	*end = nl ? nl : in->end;
	*p = gtu_skip_blanks(*at, *end);
	*at = nl ? nl + 1 : in->end;
	return true;
}

bool gtu_window_data_line(const struct gtu_input *in, const uint8_t **at, const uint8_t **p,
			  const uint8_t **end)
{
	while (gtu_window_line(in, at, p, end))
		if (*p < *end && **p != '#' && **p != '%')
			return true;
	return false;
}

static const struct gtu_reader *find_reader(const struct gtu_input *in)
{
	size_t i;

	for (i = 0; gtu_readers[i]; i++)
		if (gtu_readers[i]->detect(in))
			return gtu_readers[i];
	return NULL;
}

int gtu_graph_read(struct gtu_input *in, const struct gtu_reader *reader,
		   const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err)
{
	static const struct gtu_read_options plain;
	bool marked;
	int rc;

	*out = NULL;
	opt = opt ? opt : &plain;
	rc = gtu_input_peek(in, 1u << 20, err);
	if (rc)
		return rc;
	marked = gtu_input_skip_mark(in);
	/* an LDBC graph without edges has an empty .e file */
	if (in->cur == in->end && !gtu_reader_ldbc.detect(in))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the file is empty; write or fetch it again", in->path);
	if (!reader)
		reader = find_reader(in);
	if (!reader)
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: the format is unknown: neither the name nor the content, "
				"which is not text, identifies one; 'gtu convert --help' lists the "
				"formats",
				in->path);
	if (opt && opt->names && reader != &gtu_reader_edge_list)
		return gtu_fail(err, GTU_ERR_USAGE, "%s is %s, whose vertices have no names; only an edge list is read with names",
				in->path, reader->name);
	/* in binary formats a byte order mark is content */
	if (marked && reader->binary)
		in->cur -= 3;
	rc = reader->read(in, opt, out, err);
	if (!rc)
		gtu_graph_set_name(*out, in->path);
	return rc;
}
