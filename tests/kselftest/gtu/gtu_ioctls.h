/* SPDX-License-Identifier: MIT */
/* Every ioctl of the driver, for tables and for a union of their structs. */
#ifndef GTU_IOCTLS_H
#define GTU_IOCTLS_H

#include <stdint.h>

#include "uapi/gtu/gtu.h"

/* X(N of GTU_IOCTL_N, the same in lower case, its struct); the fuzzer's ops have this order. */
#define GTU_IOCTL_TABLE(X)                                                                         \
	X(INFO, info, gtu_ioctl_info)                                                              \
	X(REGION_ADD, region_add, gtu_ioctl_region_add)                                            \
	X(BUFFER_ALLOC, buffer_alloc, gtu_ioctl_buffer_alloc)                                      \
	X(REGION_REMOVE, region_remove, gtu_ioctl_region_remove)                                   \
	X(QUEUE_CREATE, queue_create, gtu_ioctl_queue_create)                                      \
	X(QUEUE_DESTROY, queue_destroy, gtu_ioctl_queue)                                           \
	X(QUEUE_RESET, queue_reset, gtu_ioctl_queue)                                               \
	X(WAIT, wait, gtu_ioctl_wait)                                                              \
	X(REG_READ, reg_read, gtu_ioctl_reg)                                                       \
	X(REG_WRITE, reg_write, gtu_ioctl_reg)                                                     \
	X(BUFFER_EXPORT, buffer_export, gtu_ioctl_buffer_export)                                   \
	X(REGION_IMPORT, region_import, gtu_ioctl_region_import)                                   \
	X(SUBMIT, submit, gtu_ioctl_submit)                                                        \
	X(QUEUE_CANCEL, queue_cancel, gtu_ioctl_queue_cancel)                                      \
	X(QUEUE_EVENTFD, queue_eventfd, gtu_ioctl_queue_eventfd)                                   \
	X(QUEUE_ARM, queue_arm, gtu_ioctl_queue_arm)                                               \
	X(WAIT_ANY, wait_any, gtu_ioctl_wait_any)

union ioctl_struct {
	struct {
		uint32_t size, flags;
	} head;
#define GTU_IOCTL_MEMBER(NAME, name, type) struct type name;
	GTU_IOCTL_TABLE(GTU_IOCTL_MEMBER)
};

#endif
