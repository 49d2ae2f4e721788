// SPDX-License-Identifier: MIT
/* Tests the units' registers by name: the list, finding, reading. */
#include <string.h>

#include "gtu/gtu.h"
#include "libruntime/device/backend.h"
#include "tests/unit/test.h"

static struct gtu_device *open_model(const char *name)
{
	struct gtu_device *dev = NULL;
	struct gtu_error err = { .text = "" };

	CHECK_EQ(gtu_open(name, &dev, &err), 0);
	return dev;
}

static uint64_t value_of(struct gtu_device *dev, const char *name)
{
	struct gtu_error err = { .text = "" };
	struct gtu_register reg;
	uint64_t value = ~0ull;

	CHECK_EQ(gtu_register_find(dev, name, &reg, &err), 0);
	CHECK_EQ(gtu_register_read(dev, &reg, &value, &err), 0);
	return value;
}

/* Number of registers that the device lists; each name and offset once, each of them readable. */
static unsigned list(struct gtu_device *dev)
{
	static char name[512][sizeof(((struct gtu_register *)NULL)->name)];
	struct gtu_error err = { .text = "" };
	uint64_t value, error = ~0ull;
	struct gtu_register reg;
	uint32_t before = 0;
	unsigned n, i;

	for (n = 0; n < 512 && gtu_register_describe(dev, n, &reg); n++) {
		CHECK(reg.offset >= before || reg.offset % GTU_PAGE >= GTU_UREG_OWN);
		before = reg.offset + reg.bytes;
		CHECK(reg.bytes == 4 || reg.bytes == 8);
		CHECK(dev->info.units & reg.unit);
		CHECK(*reg.text);
		for (i = 0; i < n; i++)
			CHECK(strcmp(name[i], reg.name));
		strcpy(name[n], reg.name);
		CHECK_EQ(gtu_register_read(dev, &reg, &value, &err), 0);
	}
	CHECK(n < 512);
	/* the width of each access was right */
	CHECK_EQ(dev->ops->read(dev, GTU_REG_ERROR, &error, &err), 0);
	CHECK_EQ(error, 0);
	return n;
}

TEST(every_listed_register_is_readable)
{
	struct gtu_device *dev = open_model("model"), *small = open_model("model:peg_engines=2");
	struct gtu_device *without = open_model("model:absent_units=4"), *none = open_model("model:absent_units=31");
	const unsigned all = list(dev);

	CHECK(all > 200);
	CHECK_EQ(list(small), all - 14 * 6);
	CHECK(list(without) < all - 16 * 6);
	CHECK_EQ(list(none), 0);
	gtu_close(dev);
	gtu_close(small);
	gtu_close(without);
	gtu_close(none);
}

TEST(registers_are_found_by_name_and_have_their_values)
{
	struct gtu_device *dev = open_model("model:iru_timeout=77,peg_engines=3");
	uint64_t counter[GTU_UREG_COUNTERS];
	struct gtu_error err = { .text = "" };
	struct gtu_register reg;
	struct gtu_queue *q;
	struct gtu_region region;
	struct gtu_array a;

	CHECK_EQ(value_of(dev, "scu/id"), GTU_ID_SCU);
	CHECK_EQ(value_of(dev, "iru/timeout"), 77);
	CHECK_EQ(value_of(dev, "peg/engines"), 3);
	CHECK_EQ(value_of(dev, "peg/r_efs[2]"), 0);
	CHECK_EQ(gtu_register_find(dev, "peg/r_efs[3]", &reg, &err), GTU_ERR_USAGE);
	CHECK(strstr(err.text, "has no register 'peg/r_efs[3]'"));
	CHECK_EQ(gtu_register_find(dev, "peg/r_bc[1]", &reg, &err), 0);
	CHECK_EQ(reg.offset, GTU_PAGE_PEG + GTU_PEG_REG(1) + GTU_PEG_R_BC);
	CHECK_EQ(reg.bytes, 4);
	CHECK_EQ(reg.fields, 1);
	CHECK(!strcmp(reg.field[0].name, "role"));
	CHECK(!strcmp(reg.field[0].values, "none, donating, receiving standby, receiving"));
	CHECK_EQ(gtu_register_find(dev, "zcm/status", &reg, &err), 0);
	CHECK_EQ(reg.fields, 2);
	CHECK(!strcmp(reg.field[1].name, "busy"));
	CHECK_EQ(reg.field[1].shift, 1);

	/* counters are as of the last snapshot */
	CHECK_EQ(gtu_queue_create(dev, NULL, &q, &err), 0);
	CHECK_EQ(gtu_region_alloc(dev, 4096, &region, &err), 0);
	a = gtu_array(&region, 0, 8, 4);
	CHECK_EQ(gtu_scu_data(q, &a, NULL, NULL, &a, NULL, &err), 0);
	CHECK_EQ(value_of(dev, "scu_counters/in"), 0);
	CHECK_EQ(gtu_counters(dev, GTU_UNIT_SCU, false, counter, &err), 0);
	CHECK_EQ(value_of(dev, "scu_counters/in"), 8);
	gtu_region_remove(dev, &region, NULL);
	gtu_queue_destroy(q);
	gtu_close(dev);
}

TEST_MAIN
