// SPDX-License-Identifier: MIT
/*
 * Tests of gtu serve's vfio-user messages: valid ones are answered, invalid ones refused without
 * side effects.
 */
#include "vfio_client.h"

static struct reply r;

/* The server still accepts a new machine. */
static void check_alive(void)
{
	int sock = connect_server();

	CHECK_EQ(say_version(sock, &r), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
}

TEST(version_comes_first)
{
	struct { uint32_t argsz, flags, regions, irqs; } info = { 16, 0, 0, 0 };
	static const uint16_t later[2] = { 1, 0 };
	int sock;

	name_socket();
	spawn_server(server_path, NULL);
	sock = connect_server();
	CHECK_EQ(ask(sock, CMD_GET_INFO, &info, sizeof(info), &r), -1);
	close(sock);

	sock = connect_server();
	CHECK_EQ(ask(sock, CMD_VERSION, later, sizeof(later), &r), ENOTSUP);
	CHECK_EQ(ask(sock, CMD_VERSION, "\0\0\0\0{}", 6, &r), EINVAL);	/* no zero byte at the end */
	CHECK_EQ(ask(sock, CMD_VERSION, "\0\0", 2, &r), EINVAL);
	CHECK_EQ(say_version(sock, &r), 0);
	CHECK(!memcmp(r.data, "\0\0\0\0", 4));
	CHECK(strstr((char *)r.data + 4, "\"max_msg_fds\":8"));
	CHECK_EQ(r.head.size, 16 + 4 + strlen((char *)r.data + 4) + 1);
	CHECK_EQ(say_version(sock, &r), EINVAL);
	close(sock);
	check_alive();
}

TEST(device_info_has_9_regions_and_5_interrupts)
{
	struct { uint32_t argsz, flags, regions, irqs; } info = { 16, 0, 0, 0 };
	int sock = start_server(NULL);

	CHECK_EQ(ask(sock, CMD_GET_INFO, &info, 16, &r), 0);
	memcpy(&info, r.data, sizeof(info));
	CHECK_EQ(info.flags, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
	CHECK_EQ(info.regions, 9);
	CHECK_EQ(info.irqs, 5);
	info.argsz = 15;
	CHECK_EQ(ask(sock, CMD_GET_INFO, &info, 16, &r), EINVAL);
	CHECK_EQ(ask(sock, CMD_GET_INFO, &info, 12, &r), EINVAL);
	CHECK_EQ(ask(sock, 6, &info, 16, &r), ENOTSUP);
	CHECK_EQ(ask(sock, 14, &info, 16, &r), ENOTSUP);
	CHECK_EQ(ask(sock, 0xffff, NULL, 0, &r), ENOTSUP);
}

static int ask_region(int sock, unsigned index, uint32_t argsz, struct region_sparse *out)
{
	struct region_info q = { .argsz = argsz, .index = index };
	int code = ask(sock, CMD_GET_REGION_INFO, &q, 32, &r);

	memset(out, 0, sizeof(*out));
	if (!code)
		memcpy(out, r.data, r.head.size - 16);
	return code;
}

TEST(region_info_gives_the_size_of_each_region)
{
	struct region_sparse i;
	unsigned index;
	int sock = start_server(NULL);
	uint64_t queues = get_region(sock, 0, GTU_REG_MAX_QUEUES, 4);
	uint64_t stride = get_region(sock, 0, GTU_REG_DOORBELL_STRIDE, 4);
	uint64_t aperture = get_region(sock, 0, GTU_REG_APERTURE_SIZE, 8);
	const uint64_t size[9] = { GTU_BAR_REGS_SIZE, GTU_BAR_MSIX_SIZE, queues << stride, 0, aperture, 0, 0, 4096, 0 };

	for (index = 0; index < 9; index++) {
		CHECK_EQ(ask_region(sock, index, 32, &i), 0);
		CHECK_EQ(i.info.size, size[index]);
		CHECK_EQ(i.info.flags, size[index] ? 3 : 0);
		CHECK_EQ(i.info.argsz, 32);
		CHECK_EQ(i.info.index, index);
		CHECK(r.fd < 0);
	}
	CHECK_EQ(ask_region(sock, 9, 32, &i), EINVAL);
	CHECK_EQ(ask_region(sock, 0xffffffff, 32, &i), EINVAL);
	CHECK_EQ(ask_region(sock, 0, 31, &i), EINVAL);
}

TEST(map_aperture_shares_the_aperture_with_the_peer)
{
	static const char *const more[] = { "--map-aperture", "--aperture", "1M", NULL };
	struct region_sparse i;
	uint64_t *at;
	int sock = start_server(more);

	/* first the length, then the capability and the file */
	CHECK_EQ(ask_region(sock, 4, 32, &i), 0);
	CHECK_EQ(i.info.argsz, 64);
	CHECK_EQ(r.head.size, 16 + 32);
	CHECK(r.fd < 0);
	CHECK_EQ(ask_region(sock, 4, 64, &i), 0);
	CHECK_EQ(r.head.size, 16 + 64);
	CHECK_EQ(i.info.flags, 3 | VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS);
	CHECK_EQ(i.info.cap_offset, 32);
	CHECK_EQ(i.cap.id, VFIO_REGION_INFO_CAP_SPARSE_MMAP);
	CHECK_EQ(i.cap.version, 1);
	CHECK_EQ(i.areas, 1);
	CHECK_EQ(i.offset, 0);
	CHECK_EQ(i.size, 1 << 20);
	CHECK(r.fd >= 0);
	CHECK(ftruncate(r.fd, 0));	/* the file is sealed */
	at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
	CHECK(at != MAP_FAILED);
	at[5] = 0x1122334455667788;
	CHECK_EQ(get_region(sock, 4, 40, 8), 0x1122334455667788);
	put_region(sock, 4, (1 << 20) - 4, 4, 0xfeedface);
	CHECK_EQ(at[(1 << 17) - 1] >> 32, 0xfeedface);
	CHECK_EQ(ask_region(sock, 0, 64, &i), 0);	/* registers are never mapped */
	CHECK_EQ(i.info.flags, 3);
	CHECK_EQ(ask_region(sock, 2, 64, &i), 0);
	CHECK_EQ(i.info.flags, 3);
	munmap(at, 1 << 20);
	close(r.fd);
}

TEST(the_aperture_takes_accesses_of_any_size)
{
	struct access a = { { 3, 4, 13 }, "any count 13" };
	int sock = start_server(NULL);

	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 16 + 13, &r), 0);
	CHECK_EQ(ask(sock, CMD_REGION_READ, &a, 16, &r), 0);
	CHECK(!memcmp(r.data + 16, a.data, 13));
	CHECK_EQ(get_region(sock, 4, 0, 4), 'a' << 24);
	a.at.offset = (16 << 20) - 12;
	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 16 + 13, &r), EINVAL);
}

TEST(the_configuration_space_describes_the_device)
{
	unsigned cap, seen = 0, guard = 0;
	int sock = start_server(NULL);

	CHECK_EQ(get_region(sock, CONFIG, 0, 4), GTU_PCI_DEVICE << 16 | GTU_PCI_VENDOR);
	CHECK_EQ(get_region(sock, CONFIG, PCI_CLASS_REVISION, 4) >> 8, GTU_PCI_CLASS);
	put_region(sock, CONFIG, 0, 4, 0);		/* read-only */
	CHECK_EQ(get_region(sock, CONFIG, 0, 2), GTU_PCI_VENDOR);
	put_region(sock, CONFIG, PCI_BASE_ADDRESS_0, 4, 0xffffffff);
	CHECK_EQ(get_region(sock, CONFIG, PCI_BASE_ADDRESS_0, 4), 0xffff0000);
	put_region(sock, CONFIG, PCI_BASE_ADDRESS_1, 4, 0xffffffff);
	CHECK_EQ(get_region(sock, CONFIG, PCI_BASE_ADDRESS_1, 4), 0xfffff000);
	put_region(sock, CONFIG, PCI_BASE_ADDRESS_2, 8, ~0ull);
	CHECK_EQ(get_region(sock, CONFIG, PCI_BASE_ADDRESS_2, 8), (~0ull << 24) | 4);
	put_region(sock, CONFIG, PCI_BASE_ADDRESS_4, 8, ~0ull);
	CHECK_EQ(get_region(sock, CONFIG, PCI_BASE_ADDRESS_4, 8), (~0ull << 24) | 12);
	CHECK(get_region(sock, CONFIG, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
	for (cap = get_region(sock, CONFIG, PCI_CAPABILITY_LIST, 1); cap && guard++ < 8;
	     cap = get_region(sock, CONFIG, cap + 1, 1)) {
		unsigned id = get_region(sock, CONFIG, cap, 1);

		seen |= 1u << id;
		if (id == PCI_CAP_ID_EXP)
			CHECK(get_region(sock, CONFIG, cap + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
		if (id == PCI_CAP_ID_MSIX) {
			CHECK_EQ(get_region(sock, CONFIG, cap + PCI_MSIX_FLAGS, 2) + 1,
				 get_region(sock, 0, GTU_REG_VECTORS, 4));
			CHECK_EQ(get_region(sock, CONFIG, cap + PCI_MSIX_TABLE, 4), GTU_BAR_MSIX);
			CHECK_EQ(get_region(sock, CONFIG, cap + PCI_MSIX_PBA, 4), GTU_MSIX_PBA | GTU_BAR_MSIX);
		}
	}
	CHECK(seen & 1u << PCI_CAP_ID_EXP && seen & 1u << PCI_CAP_ID_MSIX);
	CHECK_EQ(write_region(sock, CONFIG, 4093, 4, 0), EINVAL);
	CHECK_EQ(write_region(sock, CONFIG, 0xfffffffffffffffe, 4, 0), EINVAL);
}

TEST(resets_clear_registers_and_count_epochs)
{
	int sock = start_server(NULL);
	uint64_t epoch = get_region(sock, 0, GTU_REG_EPOCH, 4), devctl, value;
	unsigned cap = get_region(sock, CONFIG, PCI_CAPABILITY_LIST, 1);

	put_region(sock, 0, GTU_REG_SCRATCH, 8, 0x123456789abcdef0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_SCRATCH, 8), 0x123456789abcdef0);
	CHECK_EQ(ask(sock, CMD_RESET, NULL, 0, &r), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_SCRATCH, 8), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_EPOCH, 4), epoch + 1);
	CHECK_EQ(ask(sock, CMD_RESET, &value, 8, &r), EINVAL);

	/* a function-level reset by the guest's software */
	CHECK_EQ(get_region(sock, CONFIG, cap, 1), PCI_CAP_ID_EXP);
	enable_bus_master(sock);
	put_region(sock, 0, GTU_REG_SCRATCH, 8, 1);
	devctl = get_region(sock, CONFIG, cap + PCI_EXP_DEVCTL, 2);
	put_region(sock, CONFIG, cap + PCI_EXP_DEVCTL, 2, devctl | PCI_EXP_DEVCTL_BCR_FLR);
	CHECK_EQ(get_region(sock, CONFIG, cap + PCI_EXP_DEVCTL, 2), devctl);
	CHECK_EQ(get_region(sock, CONFIG, PCI_COMMAND, 2), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_EPOCH, 4), epoch + 2);
	CHECK_EQ(get_region(sock, 0, GTU_REG_SCRATCH, 8), 0);
}

TEST(accesses_beyond_a_region_or_limit_are_refused)
{
	struct access a = { { 0, 0, 4 }, { 0 } };
	uint64_t value;
	int sock = start_server(NULL);

	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(read_region(sock, 0, 0, 3, &value), EINVAL);
	CHECK_EQ(read_region(sock, 0, 0, 0, &value), EINVAL);
	CHECK_EQ(read_region(sock, 0, 0xfffc, 8, &value), EINVAL);
	CHECK_EQ(read_region(sock, 0, 0x10000, 4, &value), EINVAL);
	CHECK_EQ(read_region(sock, 0, ~0ull - 3, 4, &value), EINVAL);
	CHECK_EQ(read_region(sock, 3, 0, 4, &value), EINVAL);
	CHECK_EQ(read_region(sock, 6, 0, 0, &value), EINVAL);
	CHECK_EQ(read_region(sock, 0x80000000, 0, 4, &value), EINVAL);
	/* counts that differ from the message's size or exceed the limit */
	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 16 + 3, &r), EINVAL);
	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 16 + 5, &r), EINVAL);
	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 15, &r), EINVAL);
	a.at.count = 0xffffffff;
	CHECK_EQ(ask(sock, CMD_REGION_WRITE, &a, 16 + 4, &r), E2BIG);
	a.at.region = 4;
	CHECK_EQ(ask(sock, CMD_REGION_READ, &a, 16, &r), E2BIG);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
}

TEST(posted_writes_take_effect_without_a_reply)
{
	struct { struct header head; struct access a; } w[3];
	int sock = start_server(NULL), i;

	/* three posted writes, the second invalid: none is answered, the third takes effect */
	for (i = 0; i < 3; i++)
		w[i] = (typeof(w[0])){ { i, CMD_REGION_WRITE, sizeof(w[0]), FLAG_NO_REPLY, 0 },
				       { { i == 1 ? ~0ull : GTU_REG_SCRATCH, 0, 64 }, { 0 } } };
	w[0].a.at.count = w[2].a.at.count = 8;
	w[0].a.data[0] = 1;
	w[2].a.data[0] = 7;
	w[0].head.size = w[2].head.size = 16 + 16 + 8;
	CHECK(vfio_user_send(sock, &w[0], w[0].head.size, NULL, 0));
	CHECK(vfio_user_send(sock, &w[1], w[1].head.size, NULL, 0));
	CHECK(vfio_user_send(sock, &w[2], w[2].head.size, NULL, 0));
	CHECK_EQ(get_region(sock, 0, GTU_REG_SCRATCH, 8), 7);
}

TEST(interrupts_stay_pending_until_they_can_be_sent)
{
	struct { uint32_t argsz, flags, index, count; } info = { 16, 0, 0, 0 };
	struct irq_set s = { sizeof(s), BY_NOTHING, VFIO_PCI_MSI_IRQ_INDEX, 0, 1 };
	int fd[32], i, sock = start_server(NULL);
	unsigned vectors = get_region(sock, 0, GTU_REG_VECTORS, 4);

	for (info.index = 0; info.index < 5; info.index++) {
		uint32_t count;

		CHECK_EQ(ask(sock, CMD_GET_IRQ_INFO, &info, 16, &r), 0);
		memcpy(&count, r.data + 12, 4);
		CHECK_EQ(count, info.index == VFIO_PCI_MSIX_IRQ_INDEX ? vectors : 0);
	}
	CHECK_EQ(ask(sock, CMD_GET_IRQ_INFO, &info, 16, &r), EINVAL);
	for (i = 0; i < 32; i++)
		fd[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0, 8, fd, 8), 0);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0, 2, fd, 3), EINVAL);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, vectors - 1, 2, fd, 2), EINVAL);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0xffffffff, 2, fd, 2), EINVAL);
	CHECK_EQ(set_irqs(sock, VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, fd, 1), EINVAL);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD | VFIO_IRQ_SET_DATA_NONE, 0, 1, fd, 1), EINVAL);
	CHECK_EQ(set_irqs(sock, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, 0, 1, NULL, 0), EINVAL);
	CHECK_EQ(set_irqs(sock, VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, NULL, 0), EINVAL);
	i = open("/dev/null", O_WRONLY);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0, 1, &i, 1), EINVAL);
	close(i);
	CHECK_EQ(ask(sock, CMD_SET_IRQS, &s, sizeof(s), &r), EINVAL);	/* there is no plain MSI */
	s = (struct irq_set){ 19, BY_NOTHING, VFIO_PCI_MSIX_IRQ_INDEX, 0, 0 };
	CHECK_EQ(ask(sock, CMD_SET_IRQS, &s, sizeof(s), &r), EINVAL);

	/* interrupts stay pending until bus mastering is on, and are then sent once */
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 3, 1, NULL, 0), 0);
	CHECK_EQ(take_event(fd[3], 50), 0);
	CHECK_EQ(get_region(sock, 1, GTU_MSIX_PBA, 4), 1 << 3);
	enable_bus_master(sock);
	CHECK_EQ(take_event(fd[3], 5000), 1);
	CHECK_EQ(get_region(sock, 1, GTU_MSIX_PBA, 4), 0);
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 0, 8, NULL, 0), 0);
	for (i = 0; i < 8; i++)
		CHECK_EQ(take_event(fd[i], 5000), 1);
	/* so do masked vectors (without eventfd) */
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 2, 1, NULL, 0), 0);
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 2, 1, NULL, 0), 0);
	CHECK_EQ(take_event(fd[2], 50), 0);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 2, 1, &fd[2], 1), 0);
	CHECK_EQ(take_event(fd[2], 5000), 1);
	/* with MSI-X off nothing is sent or becomes pending */
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 0, 0, NULL, 0), 0);
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 1, 1, NULL, 0), 0);
	CHECK_EQ(get_region(sock, 1, GTU_MSIX_PBA, 4), 0);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 1, 1, &fd[1], 1), 0);
	CHECK_EQ(take_event(fd[1], 50), 0);
	for (i = 0; i < 32; i++)
		close(fd[i]);
}

TEST(a_full_eventfd_does_not_block_the_device)
{
	int fd = eventfd(0, EFD_CLOEXEC), sock = start_server(NULL);
	uint64_t most = ~0ull - 1;

	enable_bus_master(sock);
	CHECK(write(fd, &most, 8) == 8);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0, 1, &fd, 1), 0);
	CHECK_EQ(set_irqs(sock, BY_NOTHING, 0, 1, NULL, 0), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	close(fd);
}

TEST(memory_maps_are_checked_and_can_be_unmapped)
{
	struct dma_map m = { sizeof(m), 3, 0, 0, 0x1000 };
	uint64_t unmap[3] = { 24, 0, 1 << 20 };
	int fd = memfd_create("test", MFD_CLOEXEC), both[2] = { fd, fd }, sock = start_server(NULL);

	CHECK(!ftruncate(fd, 1 << 20));
	CHECK_EQ(map_memory(sock, 0, 1 << 20, fd, 0), 0);
	CHECK_EQ(map_memory(sock, 0xff000, 0x2000, fd, 0), EEXIST);
	CHECK_EQ(map_memory(sock, 0x1000, 0x1000, -1, 0), EEXIST);
	CHECK_EQ(map_memory(sock, 0, ~0ull, -1, 0), EEXIST);
	CHECK_EQ(map_memory(sock, 0x100000, 0, fd, 0), EINVAL);
	CHECK_EQ(map_memory(sock, 0xfffffffffffff000, 0x2000, fd, 0), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200000, 0x1000, fd, 1 << 20), EINVAL);	/* after the end of the file */
	CHECK_EQ(map_memory(sock, 0x200000, 0x1000, fd, 0x8000000000000000), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200000, 0x1000, fd, 0xfffffffffffff000), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200000, 1ull << 50, fd, 0), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200000, 0x1000, fd, 8), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200008, 0x1000, fd, 0), EINVAL);
	CHECK_EQ(map_memory(sock, 0x200000, 0x1000, sock, 0), EINVAL);	/* not a file */
	CHECK_EQ(map_memory(sock, 0xfffffffffffff000, 0x1000, fd, 0), 0);
	CHECK_EQ(map_memory(sock, 0x300000, 0x10, -1, 0), 0);		/* known, inaccessible */
	CHECK_EQ(ask_fds(sock, CMD_DMA_MAP, &m, sizeof(m), both, 2, &r), EINVAL);
	m.flags = 4;
	CHECK_EQ(ask(sock, CMD_DMA_MAP, &m, sizeof(m), &r), EINVAL);
	m.flags = 3;
	m.argsz = 31;
	CHECK_EQ(ask(sock, CMD_DMA_MAP, &m, sizeof(m), &r), EINVAL);
	CHECK_EQ(ask(sock, CMD_DMA_MAP, &m, sizeof(m) - 1, &r), EINVAL);

	CHECK_EQ(unmap_memory(sock, 0x900000, 0x1000), 0);		/* unknown */
	CHECK_EQ(unmap_memory(sock, 0x4000, 0x4000), 0);		/* from the middle */
	CHECK_EQ(map_memory(sock, 0x4000, 0x4000, fd, 0), 0);
	CHECK_EQ(map_memory(sock, 0x8000, 0x1000, fd, 0), EEXIST);
	CHECK_EQ(map_memory(sock, 0x3000, 0x1000, fd, 0), EEXIST);
	CHECK_EQ(unmap_memory(sock, 0, ~0ull), 0);			/* huge */
	CHECK_EQ(unmap_memory(sock, 0xffffffffffff0000, ~0ull), 0);
	CHECK_EQ(map_memory(sock, 0, 1 << 20, fd, 0), 0);
	CHECK_EQ(ask(sock, CMD_DMA_UNMAP, unmap, sizeof(unmap), &r), 0);	/* the reply repeats the request */
	CHECK_EQ(r.head.size, 16 + sizeof(unmap));
	CHECK(!memcmp(r.data, unmap, sizeof(unmap)));
	unmap[0] = 23;
	CHECK_EQ(ask(sock, CMD_DMA_UNMAP, unmap, sizeof(unmap), &r), EINVAL);
	unmap[0] = 24 | 2ull << 32;					/* everything */
	CHECK_EQ(map_memory(sock, 0x5000, 0x1000, fd, 0), 0);
	CHECK_EQ(ask(sock, CMD_DMA_UNMAP, unmap, sizeof(unmap), &r), 0);
	CHECK_EQ(map_memory(sock, 0x5000, 0x1000, fd, 0), 0);
	close(fd);
}

TEST(thousands_of_maps_can_be_made_and_unmapped)
{
	int fd = memfd_create("test", MFD_CLOEXEC), sock = start_server(NULL);
	uint64_t seed = 5, i, round;

	CHECK(!ftruncate(fd, 1 << 20));
	for (round = 0; round < 3; round++) {
		/* map every other page, from the top down, then unmap random ranges */
		for (i = 2000; i-- > 0;)
			CHECK_EQ(map_memory(sock, i << 13, 0x1000, fd, (i & 127) << 12), 0);
		CHECK_EQ(map_memory(sock, 1500 << 13, 0x1000, fd, 0), EEXIST);
		for (i = 0; i < 500; i++)
			CHECK_EQ(unmap_memory(sock, test_random(&seed) % 4000 << 12, test_random(&seed) % 64 << 12), 0);
		CHECK_EQ(unmap_memory(sock, 0, 1 << 30), 0);
	}
	close(fd);
}

/* An invalid message ends its connection only. */
TEST(invalid_messages_end_connection)
{
	static const struct header bad[] = {
		{ 1, CMD_GET_INFO, 15, 0, 0 }, { 1, CMD_GET_INFO, 0, 0, 0 }, { 1, CMD_GET_INFO, 0xffffffff, 0, 0 },
		{ 1, CMD_GET_INFO, 16 + 16 + 1048577, 0, 0 }, { 1, CMD_GET_INFO, 32, 1, 0 }, { 1, CMD_GET_INFO, 32, 15, 0 },
	};
	uint64_t seed = 1, words[32];
	int sock = start_server(NULL), fd[20];
	unsigned i, j;

	for (i = 0; i < LENGTH(bad); i++) {
		CHECK(vfio_user_send(sock, &bad[i], sizeof(bad[i]), NULL, 0));
		CHECKF(!receive_reply(sock, &r), "message %u was answered", i);
		close(sock);
		sock = connect_server();
		CHECK_EQ(say_version(sock, &r), 0);
	}
	/* part of a header, part of a payload, then disconnect */
	CHECK(vfio_user_send(sock, &bad[0], 7, NULL, 0));
	close(sock);
	sock = connect_server();
	CHECK_EQ(say_version(sock, &r), 0);
	CHECK(vfio_user_send(sock, &(struct header){ 1, CMD_REGION_WRITE, 4000, 0, 0 }, 16, NULL, 0));
	close(sock);
	/* more descriptors than announced */
	sock = connect_server();
	CHECK_EQ(say_version(sock, &r), 0);
	for (i = 0; i < 20; i++)
		fd[i] = eventfd(0, EFD_CLOEXEC);
	CHECK_EQ(ask_fds(sock, CMD_SET_IRQS, words, 20, fd, 20, &r), -1);
	for (i = 0; i < 20; i++)
		close(fd[i]);
	close(sock);
	for (i = 0; i < 300; i++) {
		sock = connect_server();
		if (i % 3)
			CHECK_EQ(say_version(sock, &r), 0);
		for (j = 0; j < 32; j++)
			words[j] = test_random(&seed);
		if (i % 2)	/* a valid header with a random payload */
			memcpy(words, &(struct header){ i, words[0] % 16, 16 + words[1] % 200, 0, 0 }, 16);
		vfio_user_send(sock, words, 16 + words[2] % 240, NULL, 0);
		close(sock);
	}
	check_alive();
}

TEST(a_message_may_arrive_byte_by_byte)
{
	struct { struct header head; struct access a; } q = {
		{ 9, CMD_REGION_READ, 32, 0, 0 }, { { GTU_REG_MAGIC, 0, 4 }, { 0 } } };
	int sock = start_server(NULL);

	for (unsigned i = 0; i < 32; i++) {
		CHECK(vfio_user_send(sock, (char *)&q + i, 1, NULL, 0));
		usleep(500);
	}
	CHECK(receive_reply(sock, &r));
	CHECK_EQ(r.head.size, 36);
	CHECK(!memcmp(r.data + 16, "GTU1", 4));
}

/*
 * The server does not block on a peer that does not read its replies, of more bytes than the socket's buffers have:
 * it refuses another connection meanwhile, and sends the replies later.
 */
TEST(unread_replies_do_not_block_the_server)
{
	struct { struct header head; struct access a; } q = {
		{ 0, CMD_REGION_READ, 32, 0, 0 }, { { 0, 4, 65536 }, { 0 } } };
	int sock = start_server(NULL), i;

	for (i = 0; i < 100; i++) {
		q.head.id = i;
		CHECK(vfio_user_send(sock, &q, 32, NULL, 0));
	}
	CHECK_EQ(say_version(connect_server(), &r), -1);
	for (i = 0; i < 100; i++) {
		CHECK(receive_reply(sock, &r));
		CHECK_EQ(r.head.id, i);
		CHECK_EQ(r.head.size, 32 + 65536);
	}
}

/* The table of Documentation/vfio-user.md has every command, and the limits of payloads and descriptors. */
TEST(the_document_has_the_limits)
{
	/* payloads that the server accepts, without descriptors and with as many as it takes */
	static const uint32_t plain[CMD_COUNT][8] = {
		[CMD_DMA_MAP] = { 32, 0, 0, 0, 0, 1, 4096, 0 }, [CMD_DMA_UNMAP] = { 24, VFIO_DMA_UNMAP_FLAG_ALL },
		[CMD_GET_INFO] = { 16 }, [CMD_GET_REGION_INFO] = { 32 }, [CMD_GET_IRQ_INFO] = { 16 },
		[CMD_SET_IRQS] = { 20, BY_NOTHING, VFIO_PCI_MSIX_IRQ_INDEX }, [CMD_REGION_READ] = { 0, 0, CONFIG, 4 },
		[CMD_REGION_WRITE] = { 0, 0, CONFIG, 0 },
	}, with_fds[CMD_COUNT][8] = {
		[CMD_DMA_MAP] = { 32, 3, 0, 0, 0, 2, 4096, 0 },
		[CMD_SET_IRQS] = { 20, BY_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX, 0, VFIO_USER_FDS },
	};
	static uint8_t payload[70000];
	int sock = start_server(NULL), fd[VFIO_USER_FDS + 1], memory = memfd_create("memory", MFD_CLOEXEC);
	const int too_many[] = { memory, memory };
	bool known[CMD_COUNT + 4] = { false };
	char line[1024], name[64];
	unsigned command, least, most, fds, rows = 0, i;
	FILE *f = fopen("Documentation/vfio-user.md", "r");

	if (!f)
		SKIP("Documentation/vfio-user.md is not here: run the test in the top folder");
	CHECK(memory >= 0 && !ftruncate(memory, 4096));
	for (i = 0; i < LENGTH(fd); i++) {
		fd[i] = eventfd(0, EFD_CLOEXEC);
		CHECK(fd[i] >= 0);
	}
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "| %u | %63[A-Z_] | %u | %u | %u |", &command, name, &least, &most, &fds) != 5)
			continue;
		rows++;
		CHECKF(command < CMD_COUNT && !known[command], "command %u is unknown or described twice", command);
		known[command] = true;
		memcpy(payload, plain[command], sizeof(plain[command]));
		if (least)
			CHECKF(ask(sock, command, payload, least - 1, &r) == EINVAL, "%s accepts %u bytes", name, least - 1);
		if (most < sizeof(payload) - 100)
			CHECKF(ask(sock, command, payload, most + 1, &r) == EINVAL, "%s accepts %u bytes", name, most + 1);
		/* more than the limit of a message end the connection */
		if (fds < VFIO_USER_FDS)
			CHECKF(ask_fds(sock, command, payload, least, too_many, fds + 1, &r) == EINVAL, "%s accepts %u descriptors",
			       name, fds + 1);
		if (command == CMD_VERSION)	/* negotiated before */
			continue;
		CHECKF(!ask(sock, command, payload, least, &r), "%s refuses %u bytes: error %u", name, least, r.head.error);
		if (most > least && most < sizeof(payload) - 100)
			CHECKF(!ask(sock, command, payload, most, &r), "%s refuses %u bytes: error %u", name, most, r.head.error);
		memcpy(payload, with_fds[command], sizeof(with_fds[command]));
		if (fds)
			CHECKF(!ask_fds(sock, command, payload, least, command == CMD_DMA_MAP ? &memory : fd, fds, &r),
			       "%s refuses %u descriptors: error %u", name, fds, r.head.error);
	}
	fclose(f);
	CHECK_EQ(rows, 10);
	for (command = 0; command < LENGTH(known); command++)
		if (!known[command])
			CHECKF(ask(sock, command, payload, 16, &r) == ENOTSUP, "command %u is supported, and not in the document", command);
	for (i = 0; i < LENGTH(fd); i++)
		close(fd[i]);
	close(memory);
}

TEST_MAIN
