// SPDX-License-Identifier: MIT
/*
 * Serves a PCI function over vfio-user: receives messages, runs commands, sends replies. One file,
 * because every command is a function of one connection's state.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "uapi/gtu/hw.h"
#include "vfio_user.h"
#include "vfio_user_wire.h"

/* Limits that CAPABILITIES announces. */
#define MAX_DATA	1048576u	/* of one read or write */
#define MAX_FDS		VFIO_USER_FDS
#define MAX_PAYLOAD	(MAX_DATA + sizeof(struct region_access))
#define CAPABILITIES "{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u,\"max_dma_maps\":%zu}}"

/* then the device runs a step */
#define MESSAGES_PER_CALL	64
#define DATA_PER_CALL	(4u * MAX_DATA)
#define COMPLAINTS	16		/* limit of log lines about a faulty peer */

struct vfio_user {
	int sock;
	struct pci_function *function;
	bool map_aperture, trace, greeted;
	unsigned complaints;

	struct header head;		/* of the message being received */
	size_t have;			/* bytes received, header included */
	int fd[MAX_FDS];		/* received descriptors; -1 once taken */
	unsigned fds;

	size_t out_bytes, out_sent;	/* the reply being sent; receiving pauses meanwhile */
	int out_fd;			/* sent with its first byte; the function's, or -1 */

	_Alignas(8) uint8_t in[MAX_PAYLOAD];
	_Alignas(8) uint8_t out[sizeof(struct header) + MAX_PAYLOAD];
};

static void *payload_out(struct vfio_user *vu)
{
	return vu->out + sizeof(struct header);
}

/* ---- One message, one function ---------------------------------------------------------------- */

/*
 * Each function gets a payload whose length `commands` permits. It returns the length of the reply
 * payload in payload_out(), or a negative errno with a message in @err.
 */

static int on_version(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const uint16_t *version = in;
	const char *data = (const char *)in + 4;
	uint16_t *reply = payload_out(vu);

	if (vu->greeted) {
		gtu_fail(err, GTU_ERR_USAGE, "the version was negotiated before");
		return -EINVAL;
	}
	if (version[0] != 0) {
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "protocol version %u.%u is unsupported: this server supports 0.0",
			 version[0], version[1]);
		return -ENOTSUP;
	}
	if (bytes > 4 && data[bytes - 5]) {
		gtu_fail(err, GTU_ERR_USAGE, "the capabilities do not end with a zero byte");
		return -EINVAL;
	}
	/*
	 * the peer's capabilities do not matter: this side sends no requests and at most one
	 * descriptor
	 */
	reply[0] = 0;
	reply[1] = 0;
	vu->greeted = true;
	return 4 + sprintf((char *)(reply + 2), CAPABILITIES, MAX_FDS, MAX_DATA, dma_table_limit()) + 1;
}

static int on_dma_map(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct dma_map *m = in;

	(void)bytes;
	if (m->argsz < sizeof(*m) || m->flags & ~(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz %u or flags 0x%x are invalid", m->argsz, m->flags);
		return -EINVAL;
	}
	if (vu->fds > 1) {
		gtu_fail(err, GTU_ERR_USAGE, "the message has %u descriptors, the limit is 1", vu->fds);
		return -EINVAL;
	}
	return dma_table_map(pci_function_memory(vu->function), m->address, m->size,
			     vu->fds ? vu->fd[0] : -1, m->offset, m->flags & VFIO_DMA_MAP_FLAG_READ,
			     m->flags & VFIO_DMA_MAP_FLAG_WRITE, err);
}

/* Runs between steps of the device, so no pointer into the range is in use. */
static int on_dma_unmap(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct dma_unmap *m = in;
	struct dma_unmap *reply = payload_out(vu);

	(void)bytes;
	if (m->argsz < sizeof(*m) || m->flags & ~VFIO_DMA_UNMAP_FLAG_ALL) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz %u or flags 0x%x are invalid", m->argsz, m->flags);
		return -EINVAL;
	}
	*reply = *m;
	if (m->flags & VFIO_DMA_UNMAP_FLAG_ALL)
		dma_table_clear(pci_function_memory(vu->function));
	else
		dma_table_unmap(pci_function_memory(vu->function), m->address, m->size);
	return sizeof(*reply);
}

static int on_get_info(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct device_info *i = in;

	(void)bytes;
	if (i->argsz < sizeof(*i)) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz is %u, the minimum is %zu", i->argsz, sizeof(*i));
		return -EINVAL;
	}
	*(struct device_info *)payload_out(vu) = (struct device_info){
		.argsz = sizeof(*i), .flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
		.regions = VFIO_PCI_NUM_REGIONS, .irqs = VFIO_PCI_NUM_IRQS,
	};
	return sizeof(*i);
}

static int on_get_region_info(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct region_info *i = in;
	struct region_sparse *reply = payload_out(vu);
	bool mapped = vu->map_aperture && i->index == GTU_BAR_APERTURE;

	(void)bytes;
	if (i->argsz < sizeof(*i) || i->index >= VFIO_PCI_NUM_REGIONS) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz %u (at least %zu) or region %u (below %u) are wrong", i->argsz,
			 sizeof(*i), i->index, VFIO_PCI_NUM_REGIONS);
		return -EINVAL;
	}
	memset(reply, 0, sizeof(*reply));
	reply->info = (struct region_info){ .argsz = sizeof(*i), .index = i->index };
	reply->info.size = pci_function_size(vu->function, i->index);
	if (reply->info.size)
		reply->info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (!mapped)
		return sizeof(*i);
	reply->info.argsz = sizeof(*reply);
	reply->info.flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
	reply->info.cap_offset = offsetof(struct region_sparse, cap);
	reply->cap = (struct vfio_info_cap_header){ .id = VFIO_REGION_INFO_CAP_SPARSE_MMAP, .version = 1 };
	reply->areas = 1;
	reply->size = reply->info.size;
	/* without space for the capability, the peer reads the length and asks again */
	if (i->argsz < sizeof(*reply))
		return sizeof(*i);
	vu->out_fd = pci_function_aperture_fd(vu->function);
	return sizeof(*reply);
}

static int on_get_irq_info(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct irq_info *i = in;
	struct irq_info *reply = payload_out(vu);

	(void)bytes;
	if (i->argsz < sizeof(*i) || i->index >= VFIO_PCI_NUM_IRQS) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz %u (at least %zu) or interrupt type %u (below %u) are wrong",
			 i->argsz, sizeof(*i), i->index, VFIO_PCI_NUM_IRQS);
		return -EINVAL;
	}
	*reply = (struct irq_info){ .argsz = sizeof(*i), .index = i->index };
	if (i->index == VFIO_PCI_MSIX_IRQ_INDEX) {
		reply->flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
		reply->count = pci_function_vectors(vu->function);
	}
	return sizeof(*reply);
}

/*
 * Refuse descriptors other than eventfds, because they would be written to. Without /proc accept
 * all.
 */
static bool is_eventfd(int fd)
{
	char path[32], what[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what) - 1);
	if (n < 0)
		return true;
	what[n] = 0;
	return !strcmp(what, "anon_inode:[eventfd]");
}

static int set_eventfds(struct vfio_user *vu, const struct irq_set *s, struct gtu_error *err)
{
	unsigned i;

	if (vu->fds && vu->fds != s->count) {
		gtu_fail(err, GTU_ERR_USAGE, "%u descriptors for %u interrupts", vu->fds, s->count);
		return -EINVAL;
	}
	for (i = 0; i < vu->fds; i++) {
		if (is_eventfd(vu->fd[i]))
			continue;
		gtu_fail(err, GTU_ERR_USAGE, "descriptor %u of %u is not an eventfd", i, vu->fds);
		return -EINVAL;
	}
	for (i = 0; i < s->count; i++) {
		pci_function_set_irq(vu->function, s->start + i, vu->fds ? vu->fd[i] : -1);
		if (vu->fds)
			vu->fd[i] = -1;
	}
	return 0;
}

static int on_set_irqs(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct irq_set *s = in;
	const uint8_t *chosen = (const uint8_t *)in + sizeof(*s);
	unsigned count = s->index == VFIO_PCI_MSIX_IRQ_INDEX ? pci_function_vectors(vu->function) : 0;
	unsigned data = s->flags & VFIO_IRQ_SET_DATA_TYPE_MASK, i;

	if (s->argsz < sizeof(*s) || s->index >= VFIO_PCI_NUM_IRQS || s->start > count ||
	    s->count > count - s->start) {
		gtu_fail(err, GTU_ERR_USAGE, "argsz %u or interrupts %u + %u of type %u are invalid: the type has %u", s->argsz,
			 s->start, s->count, s->index, count);
		return -EINVAL;
	}
	if ((s->flags & ~data) != VFIO_IRQ_SET_ACTION_TRIGGER || !data || data & (data - 1) ||
	    (data == VFIO_IRQ_SET_DATA_BOOL && bytes - sizeof(*s) < s->count)) {
		gtu_fail(err, GTU_ERR_USAGE, "flags 0x%x with %u bytes are invalid", s->flags, bytes);
		return -EINVAL;
	}
	if (data == VFIO_IRQ_SET_DATA_EVENTFD)
		return set_eventfds(vu, s, err);
	if (data == VFIO_IRQ_SET_DATA_NONE && !s->start && !s->count)
		for (i = 0; i < count; i++)
			pci_function_set_irq(vu->function, i, -1);
	for (i = 0; i < s->count; i++)
		if (data == VFIO_IRQ_SET_DATA_NONE || chosen[i])
			pci_function_raise(vu->function, s->start + i);
	return 0;
}

static int check_count(const struct region_access *a, struct gtu_error *err)
{
	if (a->count <= MAX_DATA)
		return 0;
	gtu_fail(err, GTU_ERR_USAGE, "an access of %u bytes exceeds the announced limit of %u", a->count, MAX_DATA);
	return -E2BIG;
}

static int on_region_read(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct region_access *a = in;
	struct region_access *reply = payload_out(vu);
	int code = check_count(a, err);

	(void)bytes;
	if (!code)
		code = pci_function_access(vu->function, a->region, a->offset, reply + 1, a->count, false, err);
	*reply = *a;
	return code ? code : (int)(sizeof(*reply) + a->count);
}

static int on_region_write(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	const struct region_access *a = in;
	struct region_access *reply = payload_out(vu);
	int code = check_count(a, err);

	if (!code && bytes != sizeof(*a) + a->count) {
		gtu_fail(err, GTU_ERR_USAGE, "a write of %u bytes has %zu bytes of data", a->count, bytes - sizeof(*a));
		code = -EINVAL;
	}
	if (!code)
		code = pci_function_access(vu->function, a->region, a->offset, vu->in + sizeof(*a), a->count, true,
					   err);
	*reply = *a;
	return code ? code : (int)sizeof(*reply);
}

static int on_reset(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err)
{
	(void)in;
	(void)bytes;
	(void)err;
	pci_function_reset(vu->function);
	return 0;
}

static const struct {
	const char *name;
	uint32_t least, most;		/* payload bytes */
	uint32_t fds;			/* most descriptors */
	int (*run)(struct vfio_user *vu, const void *in, uint32_t bytes, struct gtu_error *err);
} commands[CMD_COUNT] = {
	[CMD_VERSION] = { "VERSION", 4, 65536, 0, on_version },
	[CMD_DMA_MAP] = { "DMA_MAP", sizeof(struct dma_map), sizeof(struct dma_map), MAX_FDS, on_dma_map },
	[CMD_DMA_UNMAP] = { "DMA_UNMAP", sizeof(struct dma_unmap), sizeof(struct dma_unmap), 0, on_dma_unmap },
	[CMD_GET_INFO] = { "GET_INFO", sizeof(struct device_info), sizeof(struct device_info), 0, on_get_info },
	[CMD_GET_REGION_INFO] = { "GET_REGION_INFO", sizeof(struct region_info), sizeof(struct region_info), 0,
				  on_get_region_info },
	[CMD_GET_IRQ_INFO] = { "GET_IRQ_INFO", sizeof(struct irq_info), sizeof(struct irq_info), 0,
			       on_get_irq_info },
	[CMD_SET_IRQS] = { "SET_IRQS", sizeof(struct irq_set), 65536, MAX_FDS, on_set_irqs },
	[CMD_REGION_READ] = { "REGION_READ", sizeof(struct region_access), sizeof(struct region_access), 0,
			      on_region_read },
	[CMD_REGION_WRITE] = { "REGION_WRITE", sizeof(struct region_access), MAX_PAYLOAD, 0, on_region_write },
	[CMD_RESET] = { "RESET", 0, 0, 0, on_reset },
};

/* ---- Sending and receiving -------------------------------------------------------------------- */

static const char *command_name(unsigned command)
{
	return command < CMD_COUNT && commands[command].name ? commands[command].name : "unknown command";
}

/* Print a line about a message, to debug peers. */
static void trace(const struct vfio_user *vu, int result)
{
	uint64_t word[4] = { 0 };
	uint32_t bytes = vu->head.size - sizeof(vu->head);

	memcpy(word, vu->in, bytes < sizeof(word) ? bytes : sizeof(word));
	fprintf(stderr, "gtu serve: %-15s %4u bytes %u fds  %016" PRIx64 " %016" PRIx64 " %016" PRIx64
		" %016" PRIx64 " -> %d\n", command_name(vu->head.command), bytes, vu->fds, word[0], word[1],
		word[2], word[3], result);
}

/* Close descriptors that were not taken, and get ready for the next message. */
static void forget_message(struct vfio_user *vu)
{
	unsigned i;

	for (i = 0; i < vu->fds; i++)
		if (vu->fd[i] >= 0)
			close(vu->fd[i]);
	vu->fds = 0;
	vu->have = 0;
}

static int run_command(struct vfio_user *vu, struct gtu_error *err)
{
	const unsigned command = vu->head.command;
	uint32_t bytes = vu->head.size - sizeof(vu->head);

	if (command >= CMD_COUNT || !commands[command].run) {
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "command %u is unsupported", command);
		return -ENOTSUP;
	}
	if (bytes < commands[command].least || bytes > commands[command].most) {
		gtu_fail(err, GTU_ERR_USAGE, "the payload has %u bytes, the limits are %u to %u", bytes,
			 commands[command].least, commands[command].most);
		return -EINVAL;
	}
	if (vu->fds > commands[command].fds) {
		gtu_fail(err, GTU_ERR_USAGE, "the message has %u descriptors, the limit is %u", vu->fds,
			 commands[command].fds);
		return -EINVAL;
	}
	return commands[command].run(vu, vu->in, bytes, err);
}

/*
 * Ends the process without an answer (--fault die-at). The connection is shut down and emptied first: a process that ends
 * with unread messages resets the connection, and QEMU 11.1 aborts when it reads ECONNRESET instead of an end of file
 * (error_setv: Assertion `*errp == NULL').
 */
static void __attribute__((noreturn)) die(struct vfio_user *vu)
{
	shutdown(vu->sock, SHUT_RDWR);
	while (recv(vu->sock, vu->in, sizeof(vu->in), MSG_DONTWAIT) > 0)
		;
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* Run the complete message and prepare the reply. */
static int answer(struct vfio_user *vu, struct gtu_error *err)
{
	struct header reply = vu->head;
	struct gtu_error why = { .text = "" };
	int result;

	if (!vu->greeted && vu->head.command != CMD_VERSION)
		return gtu_fail(err, GTU_ERR_INPUT, "the peer's first message is command %u, not VERSION",
				vu->head.command);
	vu->out_fd = -1;
	result = run_command(vu, &why);
	if (vu->trace)
		trace(vu, result);
	if (pci_function_died(vu->function))
		die(vu);
	if (result < 0 && vu->complaints < COMPLAINTS) {
		fprintf(stderr, "gtu serve: refused %s: %s%s\n", command_name(vu->head.command), why.text,
			++vu->complaints == COMPLAINTS ? " (further refusals are not shown)" : "");
	}
	reply.flags = FLAG_REPLY | (result < 0 ? FLAG_ERROR : 0);
	reply.error = result < 0 ? (uint32_t)-result : 0;
	reply.size = sizeof(reply) + (result < 0 ? 0 : (uint32_t)result);
	memcpy(vu->out, &reply, sizeof(reply));
	vu->out_sent = 0;
	vu->out_bytes = vu->head.flags & FLAG_NO_REPLY ? 0 : reply.size;
	forget_message(vu);
	return 0;
}

/* Send the rest of the reply. Returns 1 if all is sent, 0 if the peer does not read, or a code. */
static int flush(struct vfio_user *vu, struct gtu_error *err)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;

	while (vu->out_sent < vu->out_bytes) {
		struct iovec iov = { vu->out + vu->out_sent, vu->out_bytes - vu->out_sent };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n;

		if (vu->out_fd >= 0) {
			memset(&control, 0, sizeof(control));
			m.msg_control = control.bytes;
			m.msg_controllen = sizeof(control.bytes);
			control.head.cmsg_level = SOL_SOCKET;
			control.head.cmsg_type = SCM_RIGHTS;
			control.head.cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(&control.head), &vu->out_fd, sizeof(int));
		}
		n = sendmsg(vu->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return gtu_fail(err, GTU_ERR_DEVICE_LOST, "cannot send a reply: %s", strerror(errno));
		vu->out_fd = -1;
		vu->out_sent += (size_t)n;
	}
	vu->out_bytes = 0;
	vu->out_sent = 0;
	return 1;
}

/* Keep the descriptors of one recvmsg(); too many, or truncated ones, are an error. */
static int take_fds(struct vfio_user *vu, struct msghdr *m, struct gtu_error *err)
{
	bool lost = m->msg_flags & MSG_CTRUNC;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t i, n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (vu->fds < MAX_FDS) {
				vu->fd[vu->fds++] = fd;
			} else {
				close(fd);
				lost = true;
			}
		}
	}
	if (lost)
		return gtu_fail(err, GTU_ERR_INPUT, "a message has more than %u descriptors", MAX_FDS);
	return 0;
}

static int check_header(const struct header *h, struct gtu_error *err)
{
	if (h->size < sizeof(*h) || h->size > sizeof(*h) + MAX_PAYLOAD)
		return gtu_fail(err, GTU_ERR_INPUT, "a message has %u bytes, the limits are %zu to %zu", h->size,
				sizeof(*h), sizeof(*h) + MAX_PAYLOAD);
	if (h->flags & FLAG_TYPE)
		return gtu_fail(err, GTU_ERR_INPUT, "a message has type %u, only requests are expected",
				h->flags & FLAG_TYPE);
	return 0;
}

/*
 * Receive more of the message. Returns 1 if it is complete, 0 if no more is available, or a code.
 * Reads never extend into the next message, so that descriptors cannot be attributed to the wrong
 * one.
 */
static int receive(struct vfio_user *vu, struct gtu_error *err)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * MAX_FDS * sizeof(int))];
	} control;

	while (vu->have < sizeof(vu->head) || vu->have < vu->head.size) {
		bool head = vu->have < sizeof(vu->head);
		uint8_t *to = head ? (uint8_t *)&vu->head + vu->have : vu->in + (vu->have - sizeof(vu->head));
		struct iovec iov = { to, (head ? sizeof(vu->head) : vu->head.size) - vu->have };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
				    .msg_controllen = sizeof(control.bytes) };
		ssize_t n = recvmsg(vu->sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int code;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return gtu_fail(err, GTU_ERR_DEVICE_LOST, "cannot receive: %s", strerror(errno));
		if (!n && vu->have)
			return gtu_fail(err, GTU_ERR_INPUT, "the connection ended %zu bytes into a message", vu->have);
		if (!n)
			return gtu_fail(err, GTU_ERR_DEVICE_LOST, "the connection was closed");
		code = take_fds(vu, &m, err);
		if (code)
			return code;
		vu->have += (size_t)n;
		if (head && vu->have == sizeof(vu->head)) {
			code = check_header(&vu->head, err);
			if (code)
				return code;
		}
	}
	return 1;
}

int vfio_user_serve(struct vfio_user *vu, struct gtu_error *err)
{
	size_t data = 0;
	unsigned i;
	int code;

	for (i = 0; i < MESSAGES_PER_CALL && data < DATA_PER_CALL; i++) {
		code = flush(vu, err);
		if (code > 0)
			code = receive(vu, err);
		if (code <= 0)
			return code;
		data += vu->head.size;
		code = answer(vu, err);
		if (code)
			return code;
		data += vu->out_bytes;
		/* reply before the device runs: the peer is blocked until then */
		code = flush(vu, err);
		if (code < 0)
			return code;
	}
	return 0;
}

struct vfio_user *vfio_user_open(int fd, struct pci_function *function, bool map_aperture, bool trace)
{
	struct vfio_user *vu = calloc(1, sizeof(*vu));

	if (!vu) {
		close(fd);
		return NULL;
	}
	vu->sock = fd;
	vu->function = function;
	vu->map_aperture = map_aperture;
	vu->trace = trace;
	vu->out_fd = -1;
	return vu;
}

void vfio_user_close(struct vfio_user *vu)
{
	if (!vu)
		return;
	forget_message(vu);
	close(vu->sock);
	free(vu);
}

int vfio_user_fd(const struct vfio_user *vu)
{
	return vu->sock;
}

short vfio_user_events(const struct vfio_user *vu)
{
	return vu->out_bytes ? POLLOUT : POLLIN;
}

bool vfio_user_greeted(const struct vfio_user *vu)
{
	return vu->greeted;
}
