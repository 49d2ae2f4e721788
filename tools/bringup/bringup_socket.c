// SPDX-License-Identifier: MIT
/*
 * bringup: access to a function of `gtu serve` without a virtual machine. This process takes the
 * machine's part in vfio-user: it provides memory and receives interrupts.
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bringup_access.h"
#include "uapi/gtu/hw.h"
#include "firmware-model/transport/vfio-user/vfio_user_client.h"

#define WAIT_S		10		/* timeout of an answer */
#define DATA_MAX	4096u		/* largest accepted answer */

struct socket {
	int fd;
	uint16_t id;
	bool dead;			/* the server no longer answers: reads give all ones */
	unsigned msix;
};

static struct socket *of(struct access *a)
{
	return a->own;
}

/* ---- Messages ----------------------------------------------------------------------------------- */

/*
 * Send a request of @bytes with @fds descriptors, and copy the first @max bytes of its answer to
 * @answer. Returns 0, the errno in the answer, or -1 if the server does not answer.
 */
static int request(struct socket *s, unsigned command, const void *data, uint32_t bytes, const int *fd, unsigned fds, void *answer, uint32_t max)
{
	struct {
		struct header head;
		uint8_t data[64];
	} m = { .head = { ++s->id, (uint16_t)command, (uint32_t)sizeof(struct header) + bytes, 0, 0 } };
	uint8_t in[DATA_MAX];
	uint32_t left;

	if (s->dead)
		return -1;
	if (bytes)
		memcpy(m.data, data, bytes);
	s->dead = !vfio_user_send(s->fd, &m, m.head.size, fd, fds) ||
		  !vfio_user_receive(s->fd, &m.head, sizeof(m.head), NULL) || m.head.id != s->id ||
		  (m.head.flags & FLAG_TYPE) != FLAG_REPLY || m.head.size < sizeof(m.head) || m.head.size - sizeof(m.head) > DATA_MAX;
	left = m.head.size - (uint32_t)sizeof(m.head);
	s->dead = s->dead || !vfio_user_receive(s->fd, in, left, NULL);
	if (s->dead)
		return -1;
	if (m.head.flags & FLAG_ERROR)
		return m.head.error ? (int)m.head.error : EIO;
	if (left < max)
		return EPROTO;
	if (max)
		memcpy(answer, in, max);
	return 0;
}

static uint64_t region(struct access *a, unsigned where, uint64_t at, unsigned bytes, bool write, uint64_t value)
{
	struct {
		struct region_access head;
		uint8_t data[8];
	} m = { .head = { at, where, bytes } };
	unsigned i;

	for (i = 0; i < bytes; i++)
		m.data[i] = (uint8_t)(value >> 8 * i);
	if (request(of(a), write ? CMD_REGION_WRITE : CMD_REGION_READ, &m, (uint32_t)sizeof(m.head) + (write ? bytes : 0), NULL, 0, &m,
		(uint32_t)sizeof(m.head) + (write ? 0 : bytes)))
		return ~0ull;
	for (value = 0, i = bytes; i-- > 0;)
		value = value << 8 | m.data[i];
	return value;
}

/* From the server, as QEMU does: a server need not implement the sizing of BARs. */
static uint64_t bar_size(struct access *a, unsigned bar)
{
	struct region_info q = { .argsz = sizeof(q), .index = bar };

	return request(of(a), CMD_GET_REGION_INFO, &q, sizeof(q), NULL, 0, &q, sizeof(q)) ? 0 : q.size;
}

static uint32_t config_read(struct access *a, unsigned at, unsigned bytes)
{
	return (uint32_t)region(a, VFIO_PCI_CONFIG_REGION_INDEX, at, bytes, false, 0);
}

static void config_write(struct access *a, unsigned at, unsigned bytes, uint32_t value)
{
	region(a, VFIO_PCI_CONFIG_REGION_INDEX, at, bytes, true, value);
}

static uint64_t read_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes)
{
	return region(a, bar, offset, bytes, false, 0);
}

static void write_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
	region(a, bar, offset, bytes, true, value);
}

/* ---- Memory ---------------------------------------------------------------------------------------- */

static uint8_t *memory(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err)
{
	struct dma_map m = { .argsz = sizeof(m), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE, .size = bytes };
	int fd, code;
	uint8_t *at = access_block(a, bytes, high, bus, &fd, err);

	if (!at)
		return NULL;
	m.address = *bus;
	code = request(of(a), CMD_DMA_MAP, &m, sizeof(m), &fd, 1, NULL, 0);
	close(fd);
	if (!code)
		return at;
	gtu_fail(err, GTU_ERR_FAIL, "the server does not accept memory: %s", code < 0 ? "it does not answer" : strerror(code));
	return NULL;
}

/* ---- Interrupts ---------------------------------------------------------------------------------------- */

/* Give vectors from @first on these eventfds; @fd NULL: remove them. */
static int set_vectors(struct socket *s, unsigned first, unsigned count, const int *fd)
{
	const struct irq_set m = { .argsz = sizeof(m), .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				   .index = VFIO_PCI_MSIX_IRQ_INDEX, .start = first, .count = count };

	return request(s, CMD_SET_IRQS, &m, sizeof(m), fd, fd ? count : 0, NULL, 0);
}

static void irq_mask(struct access *a, unsigned vector, bool masked)
{
	struct socket *s = of(a);

	write_bar(a, GTU_BAR_MSIX, vector * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4, masked);
	/*
	 * as a virtual machine does: it controls the masks, and removes a masked vector's eventfd
	 */
	set_vectors(s, vector, 1, masked ? NULL : &a->vector[vector]);
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	struct socket *s = of(a);
	unsigned v, n;

	if (!s->msix)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "interrupts need an MSI-X capability, which the function lacks");
	if (access_eventfds(a, count, err))
		return err->code;
	for (v = 0; v < count; v++)
		write_bar(a, GTU_BAR_MSIX, v * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4, 0);
	config_write(a, s->msix + PCI_MSIX_FLAGS, 2, config_read(a, s->msix + PCI_MSIX_FLAGS, 2) | PCI_MSIX_FLAGS_ENABLE);
	for (v = 0; v < count; v += n) {
		n = count - v < VFIO_USER_FDS ? count - v : VFIO_USER_FDS;
		if (set_vectors(s, v, n, &a->vector[v]))
			return gtu_fail(err, GTU_ERR_FAIL, "the server does not accept eventfds for vectors %u to %u", v, v + n - 1);
	}
	return 0;
}

static void irq_off(struct access *a)
{
	struct socket *s = of(a);
	const struct irq_set none = { .argsz = sizeof(none), .flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
				      .index = VFIO_PCI_MSIX_IRQ_INDEX };

	request(s, CMD_SET_IRQS, &none, sizeof(none), NULL, 0, NULL, 0);
	config_write(a, s->msix + PCI_MSIX_FLAGS, 2, config_read(a, s->msix + PCI_MSIX_FLAGS, 2) & ~PCI_MSIX_FLAGS_ENABLE);
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------------ */

static void close_socket(struct access *a)
{
	/* closing the connection makes the server unmap the memory */
	if (of(a)->fd >= 0)
		close(of(a)->fd);
	access_free(a);
}

static const struct access_ops ops = {
	.kind = "socket", .config_read = config_read, .config_write = config_write, .bar_size = bar_size,
	.read = read_bar, .write = write_bar, .flr = access_flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off,
	.irq_mask = irq_mask, .irq_came = access_event_came, .work = access_sleep, .close = close_socket,
};

static int connect_to(struct socket *s, const char *path, uint64_t time_scale, struct gtu_error *err)
{
	const size_t path_max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	const uint16_t version[2] = { 0, 0 };
	int code;

	if (!*path || strlen(path) > path_max)
		return gtu_fail(err, GTU_ERR_USAGE, "socket:'%s': the length of a socket's path is 1 to %zu bytes", path, path_max);
	s->fd = vfio_user_connect(path, (unsigned)(WAIT_S * time_scale));
	if (s->fd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "no server listens on %s: %s (start 'gtu serve --socket %s')", path, strerror(errno), path);
	code = request(s, CMD_VERSION, version, sizeof(version), NULL, 0, NULL, 0);
	if (code)
		return gtu_fail(err, GTU_ERR_FAIL, "%s does not speak vfio-user 0.0, or serves a machine already: %s", path,
				code < 0 ? "no answer" : strerror(code));
	return 0;
}

struct access *access_socket(const char *path, uint64_t time_scale, struct gtu_error *err)
{
	struct access *a = access_new(&ops, sizeof(struct socket), err);
	struct socket *s;

	if (!a)
		return NULL;
	s = of(a);
	s->fd = -1;
	if (connect_to(s, path, time_scale, err)) {
		close_socket(a);
		return NULL;
	}
	a->has_memory = a->has_irqs = true;
	snprintf(a->name, sizeof(a->name), "%.90s", path);
	s->msix = access_capability(a, PCI_CAP_ID_MSIX);
	config_write(a, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	return a;
}
