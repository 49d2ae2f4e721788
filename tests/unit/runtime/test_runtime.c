// SPDX-License-Identifier: MIT
/*
 * libgtu over the model: opening, regions, queues, jobs, the papers' functions, mapped graphs,
 * error messages.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gtu/gtu.h"
#include "libruntime/backend/cuda/api.h"
#include "tests/unit/library.h"

/* Split long work into jobs at 1000 elements. */
#define JOB_MAX	1000u
#define JOB_CHUNK	256ull
#include "libruntime/device/api_scu.c"

static struct gtu_device *device(const char *name, struct gtu_queue **q)
{
	struct gtu_device *dev = open_model(name);

	*q = open_queue(dev, NULL);
	return dev;
}

TEST(devices_that_cannot_be_opened_are_reported)
{
	struct gtu_device *dev;

	FAILS(gtu_open("gpu", &dev, &err), GTU_ERR_USAGE, "no device \"gpu\"");
	FAILS(gtu_open("cuda:x", &dev, &err), GTU_ERR_USAGE, "use \"cuda:0\"");
	FAILS(gtu_open("model:colour=3", &dev, &err), GTU_ERR_USAGE, "no parameter \"colour\"");
	FAILS(gtu_open("model:scu_width", &dev, &err), GTU_ERR_USAGE, "NAME=VALUE");
	FAILS(gtu_open("model:scu_width=-1", &dev, &err), GTU_ERR_USAGE, "not a number");
	FAILS(gtu_open("model:scu_width=4294967297", &dev, &err), GTU_ERR_USAGE, "not a number");
	FAILS(gtu_open("model:iru_banks=2147483648", &dev, &err), GTU_ERR_USAGE, "at most 64");
	FAILS(gtu_open("model:iru_partitions=3", &dev, &err), GTU_ERR_USAGE, "power of two");
	CHECK(!dev);
	FAILS(gtu_open("/dev/null/gtu0", &dev, &err), err.code, "/dev/null/gtu0");
	CHECK(err.code < 0);
}

/* Not in test_cuda.c, which has kernels of its own. */
TEST(a_build_without_kernels_refuses_gpus)
{
	struct gtu_device *dev;

	if (gtu_cuda_kernels_bytes)
		SKIP("built with nvcc");
	FAILS(gtu_open("cuda:0", &dev, &err), GTU_ERR_UNSUPPORTED, "built without nvcc");
}

TEST(info_has_parameters_and_accepted_settings)
{
	struct gtu_device *dev = open_model("model:scu_width=1,iru_sets=256,aperture_bytes=0x100000");
	size_t bytes;

	CHECK_EQ(gtu_get_info(dev)->scu[GTU_SCU_P_WIDTH], 1);
	CHECK_EQ(gtu_get_info(dev)->iru[GTU_IRU_P_SETS], 256);
	CHECK_EQ(gtu_get_info(dev)->aperture_bytes, 0x100000);
	CHECK_EQ(gtu_get_info(dev)->units, GTU_UNIT_SCU | GTU_UNIT_IRU | GTU_UNIT_PEG |
					   GTU_UNIT_WVR | GTU_UNIT_ZCM);
	CHECK_EQ(gtu_get_info(dev)->peg[GTU_PEG_P_ENTRIES], 24);
	CHECK_EQ(gtu_get_info(dev)->weaver[GTU_WVR_P_ENTRIES], 512);
	CHECK_EQ(gtu_get_info(dev)->peg_setting[GTU_PEG_S_INTERVAL], 512);
	OK(gtu_setting(dev, GTU_UNIT_PEG, GTU_PEG_S_SHIFT, 0, &err));
	CHECK_EQ(gtu_get_info(dev)->peg_setting[GTU_PEG_S_SHIFT], 0);
	FAILS(gtu_setting(dev, GTU_UNIT_PEG, GTU_PEG_S_FLOOR, 1, &err), GTU_ERR_USAGE, "does not accept");
	CHECK(gtu_get_fdt(dev, &bytes) && bytes > 200);
	OK(gtu_setting(dev, GTU_UNIT_IRU, GTU_IRU_S_TIMEOUT, 77, &err));
	CHECK_EQ(gtu_get_info(dev)->iru_timeout, 77);
	FAILS(gtu_setting(dev, GTU_UNIT_ZCM, GTU_ZCM_S_ENABLE, 5, &err), GTU_ERR_USAGE, "does not accept");
	FAILS(gtu_open("model:absent_units=peg+pig", &dev, &err), GTU_ERR_USAGE, "no unit \"pig\"; give a sum of scu, iru, peg");
	dev = open_model("model:aperture_bytes=0,absent_operations=scu-data,caps_off=seek");
	CHECK_EQ(gtu_get_info(dev)->aperture_bytes, 0);
	CHECK_EQ(gtu_get_info(dev)->caps & GTU_CAP_SEEK, 0);
	dev = open_model("model:absent_units=peg");
	FAILS(gtu_setting(dev, GTU_UNIT_PEG, 0, 1, &err), GTU_ERR_UNSUPPORTED, "no unit");
}

/* More than 2^16, in rings of 4096. */
TEST(many_jobs_complete_in_order)
{
	const uint64_t jobs = 100000;
	struct gtu_hw_desc nop[8] = { { 0 } };
	struct gtu_queue *q = open_queue(open_model("model"), NULL);
	struct gtu_completion c;
	uint64_t sent = 0, got = 0, first;

	while (got < jobs) {
		if (sent < jobs && sent - got < 200) {
			OK(gtu_submit_batch(q, nop, 8, &first, &err));
			CHECK_EQ(first, sent);
			sent += 8;
		} else {
			OK(gtu_next(q, GTU_FOREVER, &c, &err));
			CHECK(c.job == got && c.status == 0 && c.cycles == 1);
			got++;
		}
	}
	FAILS(gtu_next(q, 0, &c, &err), GTU_ERR_USAGE, "no job");
}

TEST(full_rings_are_reported_and_lose_no_job)
{
	struct gtu_queue_options small = { .sq_log2 = 2, .cq_log2 = 1 };
	struct gtu_hw_desc nop = { 0 };
	struct gtu_device *dev = open_model("model");
	struct gtu_queue *q;
	struct gtu_completion c;
	int rc, sent = 0, got = 0;

	FAILS(gtu_queue_create(dev, &(struct gtu_queue_options){ .sq_log2 = 20 }, &q, &err), GTU_ERR_USAGE,
	      "the maximum of model:aperture_bytes=65536 is 2^12");
	q = open_queue(dev, &small);
	while ((rc = gtu_submit(q, &nop, NULL, &err)) == 0)
		sent++;
	CHECK(rc == GTU_ERR_USAGE && strstr(err.text, "take completions") && sent >= 4);
	while (got < sent) {
		OK(gtu_next(q, GTU_FOREVER, &c, &err));
		CHECK_EQ(c.job, got);
		got++;
	}
	OK(gtu_submit(q, &nop, NULL, &err));
	OK(gtu_next(q, GTU_FOREVER, &c, &err));
}

TEST(a_wait_times_out_and_the_job_continues)
{
	struct gtu_queue *q;
	struct gtu_device *dev = device("model", &q);
	struct gtu_region a;
	struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 3 };
	struct gtu_completion c;

	OK(gtu_region_alloc(dev, 64 << 20, &a, &err));
	d.operand[1] = (struct gtu_hw_operand){ a.key, 8 << 20, 0 };
	OK(gtu_submit(q, &d, NULL, &err));
	FAILS(gtu_next(q, 1000, &c, &err), GTU_ERR_TIMEOUT, "has not completed job 0 within");
	OK(gtu_next(q, GTU_FOREVER, &c, &err));		/* the job continued */
	CHECK(c.status == 0 && c.count == 8 << 20);
	OK(gtu_submit(q, &d, NULL, &err));
	FAILS(gtu_next(q, 0, &c, &err), GTU_ERR_TIMEOUT, "has not completed job");
	OK(gtu_queue_reset(q, &err));
	FAILS(gtu_next(q, 0, &c, &err), GTU_ERR_USAGE, "no job");
	OK(gtu_do(q, &d, GTU_FOREVER, &c, &err));
	OK(gtu_region_remove(dev, &a, &err));
	FAILS(gtu_do(q, &d, GTU_FOREVER, &c, &err), GTU_ERR_USAGE, "does not exist or was removed");
}

TEST(regions_are_checked_and_keys_never_reused)
{
	struct gtu_queue *q;
	struct gtu_device *dev = device("model:regions_log2=4", &q);
	struct gtu_region r[17], x;
	static uint64_t memory[64];
	unsigned i, round;

	FAILS(gtu_region_add(dev, (char *)memory + 1, 8, GTU_READ, &x, &err), GTU_ERR_USAGE, "aligned");
	FAILS(gtu_region_add(dev, memory, 0, GTU_READ, &x, &err), GTU_ERR_USAGE, "0 bytes");
	FAILS(gtu_region_add(dev, memory, 8, 4, &x, &err), GTU_ERR_USAGE, "rights");
	for (i = 0; i < 16; i++)
		OK(gtu_region_add(dev, memory, 512, GTU_READ, &r[i], &err));
	FAILS(gtu_region_add(dev, memory, 512, GTU_READ, &r[16], &err), GTU_ERR_NOMEM, "in use");
	for (i = 0; i < 16; i++)
		OK(gtu_region_remove(dev, &r[i], &err));
	OK(gtu_region_remove(dev, &r[0], &err));	/* no effect: the region is zeroed */
	/* keys are never reused; a slot is retired when its generations are used up */
	for (round = 0; round < 20; round++) {
		uint32_t key;

		OK(gtu_region_add(dev, memory, 512, GTU_READ, &x, &err));
		key = x.key;
		OK(gtu_region_remove(dev, &x, &err));
		OK(gtu_region_add(dev, memory, 512, GTU_READ, &x, &err));
		CHECK(x.key != key);
		OK(gtu_region_remove(dev, &x, &err));
	}
	for (i = 0; !gtu_region_add(dev, memory, 512, GTU_READ, &x, &err); i++)
		OK(gtu_region_remove(dev, &x, &err));
	CHECKF(i > 15 * 65000 && strstr(err.text, "in use"), "%u regions", i);
}

struct worker {
	struct gtu_device *dev;
	uint64_t seed;
	char failed[GTU_ERROR_TEXT];
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct gtu_error e = { 0 };
	struct gtu_region a = { 0 }, b = { 0 };
	struct gtu_queue *q = NULL;
	struct gtu_completion c;
	unsigned round;
	int rc = gtu_queue_create(w->dev, NULL, &q, &e);

	rc = rc ? rc : gtu_region_alloc(w->dev, 1 << 16, &a, &e);
	rc = rc ? rc : gtu_region_alloc(w->dev, 1 << 16, &b, &e);
	for (round = 0; !rc && round < 300; round++) {
		const uint64_t n = 1 + test_random(&w->seed) % 65536;
		const struct gtu_hw_desc copy = {
			.opcode = GTU_OP_COPY,
			.operand = { { a.key, (uint32_t)n, 0 }, { b.key, (uint32_t)n, 0 } },
		};

		memset(a.addr, (int)test_random(&w->seed), n);
		rc = gtu_do(q, &copy, GTU_FOREVER, &c, &e);
		if (!rc && (memcmp(a.addr, b.addr, n) || c.cycles != 200 + (n + 31) / 32))
			rc = gtu_fail(&e, GTU_ERR_FAIL, "round %u: %llu bytes differ or took %llu cycles", round,
				      (unsigned long long)n, (unsigned long long)c.cycles);
	}
	if (rc)
		snprintf(w->failed, sizeof(w->failed), "%s", e.text);
	gtu_queue_destroy(q);
	gtu_region_remove(w->dev, &a, NULL);
	gtu_region_remove(w->dev, &b, NULL);
	return NULL;
}

TEST(threads_can_share_a_device)
{
	struct gtu_device *dev = open_model("model");
	struct worker w[6];
	pthread_t thread[6];

	for (unsigned i = 0; i < 6; i++) {
		w[i] = (struct worker){ .dev = dev, .seed = i + 1 };
		CHECK(!pthread_create(&thread[i], NULL, work, &w[i]));
	}
	for (unsigned i = 0; i < 6; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < 6; i++)
		CHECKF(!w[i].failed[0], "thread %u: %s", i, w[i].failed);
}

/* All five operations over more elements than a job takes give the same result as one job. */
TEST(long_work_is_split)
{
	const uint64_t n = 5003, data_n = 3000;
	struct gtu_queue *q;
	struct gtu_device *dev = device("model", &q);
	struct gtu_region in, mask, index, count, data, out;
	uint64_t seed = 9, i, j, expect, total = 0;
	struct gtu_completion c;
	uint32_t *in_, *index_, *count_, *data_, *out_;
	uint8_t *mask_;

	OK(gtu_region_alloc(dev, n * 4, &in, &err));
	OK(gtu_region_alloc(dev, n / 8 + 8, &mask, &err));
	OK(gtu_region_alloc(dev, n * 4, &index, &err));
	OK(gtu_region_alloc(dev, n * 4, &count, &err));
	OK(gtu_region_alloc(dev, data_n * 4, &data, &err));
	OK(gtu_region_alloc(dev, n * 8 * 4, &out, &err));
	in_ = in.addr, index_ = index.addr, count_ = count.addr, data_ = data.addr, out_ = out.addr;
	mask_ = mask.addr;
	for (i = 0; i < data_n; i++)
		data_[i] = (uint32_t)test_random(&seed);
	for (i = 0; i < n; i++) {
		in_[i] = (uint32_t)test_random(&seed) % 1000;
		count_[i] = (uint32_t)test_random(&seed) % 8;
		index_[i] = (uint32_t)test_random(&seed) % (data_n - 8);
	}
	struct gtu_array a_in = gtu_array(&in, 0, n, 4), a_mask = gtu_array(&mask, 0, n, 0),
			 a_index = gtu_array(&index, 0, n, 4), a_count = gtu_array(&count, 0, n, 4),
			 a_data = gtu_array(&data, 0, data_n, 4), a_out = gtu_array(&out, 0, n * 8, 4);

	OK(gtu_scu_bitmask(q, &a_in, GTU_CMP_LT, GTU_TYPE_UNSIGNED, 500, &a_mask, &c, &err));
	CHECK_EQ(c.count, n);
	for (i = 0; i < n; i++)
		CHECK((mask_[i / 8] >> i % 8 & 1) == (in_[i] < 500));
	OK(gtu_scu_data(q, &a_in, &a_mask, NULL, &a_out, &c, &err));
	for (i = j = 0; i < n; i++)
		if (in_[i] < 500)
			CHECK(out_[j++] == in_[i]);
	CHECK_EQ(c.count, j);
	expect = j;
	OK(gtu_scu_access(q, &a_data, &a_index, &a_mask, NULL, &a_out, &c, &err));
	for (i = j = 0; i < n; i++)
		if (in_[i] < 500)
			CHECK(out_[j++] == data_[index_[i]]);
	CHECK_EQ(c.count, j);
	OK(gtu_scu_replicate(q, &a_in, &a_count, NULL, NULL, &a_out, &c, &err));
	for (i = j = 0; i < n; i++)
		for (uint32_t k = 0; k < count_[i]; k++)
			CHECK(out_[j++] == in_[i]);
	CHECK_EQ(c.count, j);
	OK(gtu_scu_expand(q, &a_data, &a_index, &a_count, &a_mask, NULL, &a_out, &c, &err));
	for (i = j = 0; i < n; i++)
		for (uint32_t k = 0; in_[i] < 500 && k < count_[i]; k++)
			CHECK(out_[j++] == data_[index_[i] + k]);
	CHECK_EQ(c.count, j);
	total = j;
	/*
	 * `needed` covers the whole input, not only the part that did not fit; nothing is written
	 * past the end
	 */
	a_out.count = 700;
	memset(out_, 0xee, 4 * n);
	FAILS(gtu_scu_expand(q, &a_data, &a_index, &a_count, &a_mask, NULL, &a_out, &c, &err), GTU_ERR_SPACE,
	      "holds 700");
	CHECK_EQ(c.needed, total);
	CHECK_EQ(out_[700], 0xeeeeeeee);
	a_out.count = expect - 1;
	FAILS(gtu_scu_data(q, &a_in, &a_mask, NULL, &a_out, &c, &err), GTU_ERR_SPACE, "do");
	CHECK_EQ(c.needed, expect);
	CHECK_EQ(out_[expect - 1], 0xeeeeeeee);
	/* the element of an error counts from the start of the whole input */
	a_out.count = n * 8;
	index_[4000] = (uint32_t)data_n;
	FAILS(gtu_scu_access(q, &a_data, &a_index, NULL, NULL, &a_out, &c, &err), GTU_ERR_INPUT, "out of bounds");
	CHECK_EQ(c.element, 4000);
	a_mask.width = 1;
	FAILS(gtu_scu_data(q, &a_in, &a_mask, NULL, &a_out, &c, &err), GTU_ERR_USAGE, "single bits");
	a_mask.width = 0, a_mask.count--;
	FAILS(gtu_scu_data(q, &a_in, &a_mask, NULL, &a_out, &c, &err), GTU_ERR_USAGE, "the mask has 5002");
}

TEST(an_iru_stream_returns_every_element_once)
{
	const uint64_t n = 10000;
	struct gtu_queue *q;
	struct gtu_device *dev = device("model", &q);
	struct gtu_iru_config config = { .target_width = 4, .positions = true, .ring_log2 = 2 };
	struct gtu_region index, secondary;
	struct gtu_iru *iru = NULL;
	struct gtu_warp w;
	uint64_t seed = 4, seen = 0, records, i;
	uint8_t *met = test_alloc(n, 1);
	int rc, lane, round;

	OK(gtu_region_alloc(dev, n * 4, &index, &err));
	OK(gtu_region_alloc(dev, n * 4, &secondary, &err));
	for (i = 0; i < n; i++) {
		((uint32_t *)index.addr)[i] = (uint32_t)test_random(&seed) % 5000;
		((uint32_t *)secondary.addr)[i] = (uint32_t)i * 3;
	}
	config.indices = gtu_array(&index, 0, n, 4);
	config.secondary = gtu_array(&secondary, 0, n, 4);
	for (round = 0; round < 3; round++) {
		struct gtu_hw_desc nop = { 0 };

		memset(met, 0, n);
		seen = records = 0;
		OK(gtu_iru_configure(q, &config, &iru, &err));
		FAILS(gtu_submit(q, &nop, NULL, &err), GTU_ERR_USAGE, "running IRU");
		while ((rc = gtu_iru_load(iru, &w, &err)) == 1) {
			CHECK_EQ(w.sequence, records);
			records++;
			for (lane = 0; lane < 32; lane++) {
				if (!(w.active >> lane & 1))
					continue;
				CHECK(w.position[lane] < n && !met[w.position[lane]]);
				met[w.position[lane]] = 1;
				CHECK_EQ(w.index[lane], ((uint32_t *)index.addr)[w.position[lane]]);
				CHECK_EQ(w.secondary[lane], w.position[lane] * 3);
				seen++;
			}
		}
		CHECKF(rc == 0, "gtu_iru_load gave %d: %s", rc, err.text);
		CHECK_EQ(seen, n);
		CHECK_EQ(gtu_iru_result(iru)->count, records);
		CHECK_EQ(gtu_iru_load(iru, &w, &err), 0);
		OK(gtu_do(q, &nop, GTU_FOREVER, NULL, &err));
	}
	/* closing a stream early leaves the queue usable */
	OK(gtu_iru_configure(q, &config, &iru, &err));
	CHECK_EQ(gtu_iru_load(iru, &w, &err), 1);
	FAILS(gtu_iru_configure(q, &config, &iru, &err), GTU_ERR_USAGE, "is still running");
	gtu_iru_close(iru);
	iru = NULL;
	OK(gtu_iru_configure(q, &config, &iru, &err));
	CHECK_EQ(gtu_iru_load(iru, &w, &err), 1);
	gtu_iru_close(iru);
	iru = NULL;
	config.target_width = 3;
	FAILS(gtu_iru_configure(q, &config, &iru, &err), GTU_ERR_USAGE, "power of two");
	config.target_width = 4, config.operation = GTU_IRU_OP_ADD_F32, config.secondary.key = 0;
	FAILS(gtu_iru_configure(q, &config, &iru, &err), GTU_ERR_USAGE, "none was passed");
	CHECK(!iru);
}

/* Operations that a queue must refuse while a stream owns it, and very long timeouts. */
TEST(a_running_stream_owns_its_queue)
{
	const uint64_t n = 100000;
	struct gtu_queue *q, *other;
	struct gtu_device *dev = device("model", &q);
	struct gtu_iru_config config = { .target_width = 4, .ring_log2 = 1 };
	struct gtu_hw_desc fill = { .opcode = GTU_OP_FILL };
	struct gtu_iru *iru = NULL, *second = NULL;
	struct gtu_completion c;
	struct gtu_region index;
	struct gtu_warp w;
	int rc;

	OK(gtu_region_alloc(dev, n * 4, &index, &err));
	other = open_queue(dev, NULL);
	config.indices = gtu_array(&index, 0, n, 4);
	OK(gtu_iru_configure(q, &config, &iru, &err));
	CHECK_EQ(gtu_iru_load(iru, &w, &err), 1);
	FAILS(gtu_next(q, 0, &c, &err), GTU_ERR_USAGE, "running IRU");
	FAILS(gtu_queue_reset(q, &err), GTU_ERR_USAGE, "running IRU");
	/* one thread, two streams: the first one, without a consumer, is stopped in the end */
	OK(gtu_iru_configure(other, &config, &second, &err));
	while ((rc = gtu_iru_load(second, &w, &err)) == 1)
		;
	CHECKF(rc == 0, "%s", err.text);
	while ((rc = gtu_iru_load(iru, &w, &err)) == 1)
		;
	CHECKF(rc == GTU_ERR_TIMEOUT && strstr(err.text, "blocked the unit too long"), "%d %s", rc, err.text);
	fill.operand[1] = (struct gtu_hw_operand){ index.key, (uint32_t)n * 4, 0 };
	OK(gtu_do(q, &fill, GTU_FOREVER - 1, &c, &err));	/* no overflow on the way to the deadline */
	gtu_iru_close(iru);
	gtu_iru_close(second);
}

static long resident_pages(void)
{
	long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%ld %ld", &size, &resident) == 2);
	fclose(f);
	return resident;
}

/*
 * 8 GiB of edges in a sparse file, mapped to the device: an expansion reads only the edges it
 * needs.
 */
TEST(edge_lists_are_read_in_place)
{
	const uint64_t m = 1ull << 30;
	struct gtu_graph g = { .n = 4, .m = m, .edge_bytes = 8 };
	uint64_t row[5] = { 0, 100, 100, m - 50, m };
	struct gtu_mapped_graph mg;
	struct gtu_queue *q;
	struct gtu_device *dev = device("model", &q);
	struct gtu_region io;
	struct gtu_array index, count, out;
	struct gtu_completion c;
	char path[300];
	uint64_t *edges, *word, i;
	long before, after;
	int fd;

	snprintf(path, sizeof(path), "%s/edges", test_tmpdir());
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	if (ftruncate(fd, (off_t)(m * 8)))
		SKIP("cannot create a sparse file of 8 GiB in %s", path);
	edges = mmap(NULL, m * 8, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(edges != MAP_FAILED);
	for (i = 0; i < 50; i++) {
		const uint64_t v = i * i;

		CHECK_EQ(pwrite(fd, &v, 8, (off_t)((m - 50 + i) * 8)), 8);
	}
	g.row = row;
	g.col = edges;
	OK(gtu_region_alloc(dev, 65536, &io, &err));
	before = resident_pages();
	OK(gtu_graph_map(dev, &g, &mg, &err));
	CHECK(mg.col.key && mg.col.count == m);
	word = io.addr;
	word[0] = m - 50, word[1] = 20;
	word[2] = 50, word[3] = 10;
	index = gtu_array(&io, 0, 2, 8);
	count = gtu_array(&io, 16, 2, 8);
	out = gtu_array(&io, 4096, 100, 8);
	OK(gtu_scu_expand(q, &mg.col, &index, &count, NULL, NULL, &out, &c, &err));
	after = resident_pages();
	CHECK_EQ(c.count, 60);
	for (i = 0; i < 50; i++)
		CHECK_EQ(word[512 + i], i * i);
	CHECKF(after - before < 64, "%ld pages more are resident", after - before);
	/* shared pages: the device reads what is written to the file */
	i = 12345;
	CHECK_EQ(pwrite(fd, &i, 8, (off_t)((m - 50) * 8)), 8);
	OK(gtu_scu_expand(q, &mg.col, &index, &count, NULL, NULL, &out, &c, &err));
	CHECK_EQ(word[512], 12345);
	word[0] = m - 49;
	FAILS(gtu_scu_expand(q, &mg.col, &index, &count, NULL, NULL, &out, &c, &err), GTU_ERR_INPUT, "out of bounds");
	OK(gtu_graph_unmap(&mg, &err));
	munmap(edges, m * 8);
	close(fd);
}

TEST_MAIN
