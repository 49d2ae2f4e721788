// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the vfio-user server. An input is a list of actions of a peer: messages with valid or
 * random headers, with descriptors of nine kinds, cut into pieces, and truncation of the files that
 * the server has mapped. Every range is checked after each action.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "firmware-model/transport/vfio-user/vfio_user.h"
#include "firmware-model/transport/vfio-user/vfio_user_client.h"

#define KINDS		9
#define ACTIONS		64
#define FILE_BYTES	0x10000

static struct pci_function *function;

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (!function || !dma_table_mend(pci_function_memory(function), info->si_addr))
		abort();
}

struct input {
	const uint8_t *data;
	size_t left;
};

/* The next @bytes of the input, zeros after its end. */
static void take(struct input *in, void *to, size_t bytes)
{
	size_t n = bytes < in->left ? bytes : in->left;

	memset(to, 0, bytes);
	memcpy(to, in->data, n);
	in->data += n;
	in->left -= n;
}

static unsigned take_byte(struct input *in)
{
	uint8_t byte;

	take(in, &byte, 1);
	return byte;
}

static int open_kind(unsigned kind)
{
	int pair[2], fd = -1;

	switch (kind) {
	case 0: fd = memfd_create("fuzz", MFD_CLOEXEC); break;
	case 1: fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_HUGETLB); break;
	case 2: return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	case 3: return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case 4: return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	case 5: return open("/", O_PATH | O_CLOEXEC);
	case 6: return epoll_create1(EPOLL_CLOEXEC);
	case 7: return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	default:
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			return -1;
		close(pair[1]);
		return pair[0];
	}
	if (fd >= 0 && ftruncate(fd, kind ? 2 << 20 : FILE_BYTES)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The table is sorted and within its limits. */
static void check_table(const struct dma_table *t)
{
	size_t i;

	if (t->count > dma_table_limit() || t->mapped > DMA_TABLE_BYTES || t->stuck)
		abort();
	for (i = 0; i < t->count; i++)
		if (t->range[i].last < t->range[i].start || (i && t->range[i].start <= t->range[i - 1].last))
			abort();
}

/*
 * Fields of payloads are small numbers, so that ranges overlap and offsets are in files: keep the low
 * bits of each word, in units of a page for the addresses of DMA_MAP and DMA_UNMAP.
 */
static void shape(unsigned command, uint8_t *payload, size_t bytes)
{
	uint64_t word[4] = { 0 };
	uint32_t half[5] = { 0 };
	unsigned i;

	if (command == CMD_DMA_MAP || command == CMD_DMA_UNMAP) {
		memcpy(word, payload, bytes < sizeof(word) ? bytes : sizeof(word));
		word[0] = (command == CMD_DMA_MAP ? 32 : 24) | (word[0] & 3) << 32;
		for (i = 1; i < 4; i++)
			word[i] = (word[i] & 0x1f) << 12;
		memcpy(payload, word, bytes < sizeof(word) ? bytes : sizeof(word));
	} else if (command == CMD_SET_IRQS) {
		memcpy(half, payload, bytes < sizeof(half) ? bytes : sizeof(half));
		half[0] = sizeof(half);
		half[1] = 1u << (half[1] & 3) | 0x20;
		half[2] = 2;
		half[3] &= 15;
		half[4] &= 15;
		memcpy(payload, half, bytes < sizeof(half) ? bytes : sizeof(half));
	} else if (command == CMD_REGION_READ || command == CMD_REGION_WRITE) {
		memcpy(half, payload, bytes < 16 ? bytes : 16);
		half[0] &= 0xffff;
		half[1] = 0;
		half[2] &= 7;
		half[3] = 1u << (half[3] & 3);
		memcpy(payload, half, bytes < 16 ? bytes : 16);
	}
}

static void send_message(struct input *in, int sock, struct vfio_user *vu, const int *kept)
{
	static const uint32_t usual[CMD_COUNT] = { [CMD_DMA_MAP] = 32, [CMD_DMA_UNMAP] = 24, [CMD_GET_INFO] = 16,
		[CMD_GET_REGION_INFO] = 32, [CMD_GET_IRQ_INFO] = 16, [CMD_SET_IRQS] = 20, [CMD_REGION_READ] = 16,
		[CMD_REGION_WRITE] = 24, [CMD_VERSION] = 4 };
	unsigned how = take_byte(in), command = take_byte(in) % (CMD_COUNT + 1), fds = how & 3, i, cut;
	struct header head = { .id = 1, .command = (uint16_t)command };
	uint32_t payload = command < CMD_COUNT ? usual[command] : 8;
	uint8_t message[512];
	int fd[2 * VFIO_USER_FDS];

	if (how & 4)
		payload = take_byte(in);
	if (how & 8)
		fds = take_byte(in) % (2 * VFIO_USER_FDS + 1);
	if (command == CMD_DMA_MAP && !(how & 8))
		fds = 1;
	head.size = sizeof(head) + payload;
	if (how & 0x10)
		head.flags = take_byte(in);
	memcpy(message, &head, sizeof(head));
	take(in, message + sizeof(head), payload);
	if (how & 0x20)
		shape(command, message + sizeof(head), payload);
	if (how & 0x40 && command != CMD_DMA_MAP)
		head.size += 1;
	for (i = 0; i < fds; i++)
		fd[i] = kept[how & 0x20 && command == CMD_DMA_MAP ? take_byte(in) % 2 : take_byte(in) % KINDS];
	/* in two pieces, with the descriptors on the first or the second */
	cut = how & 0x80 ? take_byte(in) % head.size : 0;
	if (cut > sizeof(head) + payload)
		cut = 0;
	if (cut) {
		vfio_user_send(sock, message, cut, fd, how & 1 ? fds : 0);
		vfio_user_serve(vu, NULL);
	}
	vfio_user_send(sock, message + cut, sizeof(head) + payload - cut, fd, cut && how & 1 ? 0 : fds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct { struct header head; uint32_t version; } hello = {
		{ 1, CMD_VERSION, sizeof(hello), FLAG_NO_REPLY, 0 }, 0 };
	static const struct sigaction bus = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER };
	static FILE *null;
	struct pci_setup setup = { .device = { .aperture_bytes = 4096, .contexts = 2, .queues = 4, .vectors = 4 }, .seed = 1 };
	struct input in = { data, size };
	struct gtu_error err;
	struct vfio_user *vu;
	int sock[2], kept[KINDS], i, rc = 0;
	char replies[4096];

	/* the server reports refused messages; libFuzzer keeps its own pointer */
	if (!null)
		stderr = null = fopen("/dev/null", "w");
	sigaction(SIGBUS, &bus, NULL);
	for (i = 0; i < KINDS; i++) {
		kept[i] = open_kind((unsigned)i);
		if (kept[i] < 0)
			kept[i] = open_kind(0);
	}
	function = pci_function_create(&setup, &err);
	if (!function || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) || fcntl(sock[0], F_SETFL, O_NONBLOCK))
		abort();
	vu = vfio_user_open(sock[1], function, size & 1, false);
	if (size % 8)
		vfio_user_send(sock[0], &hello, sizeof(hello), NULL, 0);
	for (i = 0; i < ACTIONS && in.left && !rc; i++) {
		unsigned action = take_byte(&in);

		if (action % 8 == 7) {
			if (ftruncate(kept[action / 8 % 2], action & 0x80 ? 2 << 20 : 0))
				abort();
		} else if (action % 8 == 6) {
			pci_function_step(function, 1000);
		} else {
			send_message(&in, sock[0], vu, kept);
		}
		rc = vfio_user_serve(vu, &err);
		check_table(pci_function_memory(function));
		while (recv(sock[0], replies, sizeof(replies), MSG_DONTWAIT) > 0)
			;
		pci_function_step(function, 1000);
		if (pci_function_memory(function)->torn)
			break;
	}
	vfio_user_close(vu);
	pci_function_destroy(function);
	function = NULL;
	close(sock[0]);
	for (i = 0; i < KINDS; i++)
		close(kept[i]);
	return 0;
}
