/* SPDX-License-Identifier: MIT */
/*
 * Messages of vfio-user 0.0, between gtu serve and a machine, and between gtu bringup and gtu
 * serve.
 */
#ifndef GTU_VFIO_USER_WIRE_H
#define GTU_VFIO_USER_WIRE_H

#include <linux/vfio.h>
#include <stdint.h>

enum command {
	CMD_VERSION = 1,
	CMD_DMA_MAP = 2,
	CMD_DMA_UNMAP = 3,
	CMD_GET_INFO = 4,
	CMD_GET_REGION_INFO = 5,
	CMD_GET_IRQ_INFO = 7,
	CMD_SET_IRQS = 8,
	CMD_REGION_READ = 9,
	CMD_REGION_WRITE = 10,
	CMD_RESET = 13,
	CMD_COUNT
};

#define FLAG_TYPE	0xfu		/* 0: a request, 1: a reply */
#define FLAG_REPLY	0x1u
#define FLAG_NO_REPLY	0x10u
#define FLAG_ERROR	0x20u

struct header {
	uint16_t id, command;
	uint32_t size;			/* this header included */
	uint32_t flags, error;
};
struct dma_map {
	uint32_t argsz, flags;
	uint64_t offset, address, size;
};
struct dma_unmap {
	uint32_t argsz, flags;
	uint64_t address, size;
};
struct device_info {
	uint32_t argsz, flags, regions, irqs;
};
struct region_info {
	uint32_t argsz, flags, index, cap_offset;
	uint64_t size, offset;
};
/* Information about a region that can be mapped as a whole. */
struct region_sparse {
	struct region_info info;
	struct vfio_info_cap_header cap;
	uint32_t areas, reserved;
	uint64_t offset, size;
};
struct irq_info {
	uint32_t argsz, flags, index, count;
};
struct irq_set {
	uint32_t argsz, flags, index, start, count;
};
struct region_access {
	uint64_t offset;
	uint32_t region, count;
};
_Static_assert(sizeof(struct header) == 16 && sizeof(struct dma_map) == 32 &&
	       sizeof(struct dma_unmap) == 24 && sizeof(struct region_info) == 32 &&
	       sizeof(struct region_sparse) == 64 && sizeof(struct irq_set) == 20 &&
	       sizeof(struct region_access) == 16, "the protocol's layouts");

#define VFIO_USER_FDS	8u		/* most descriptors per message */

#endif
