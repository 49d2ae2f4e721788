// SPDX-License-Identifier: MIT
/* Reader of the road networks of Li et al.: "edge-id u v distance", each edge once. */
#include "reader.h"

static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".cedge");
}

static int read_cedge(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
		      struct gtu_error *err)
{
	static const struct gtu_pairs how = { .undirected = true, .skip = 1 };

	return gtu_read_pairs(in, &how, opt, out, err);
}

const struct gtu_reader gtu_reader_cedge = { "cedge", detect, read_cedge, false };
