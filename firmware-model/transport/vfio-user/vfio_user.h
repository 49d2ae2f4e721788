/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user protocol, version 0.0, on the device's side: one connection to one virtual machine
 * monitor. The monitor's messages become calls of a pci_function; this side never sends requests.
 * The protocol is specified in QEMU's documentation (interop/vfio-user).
 */
#ifndef GTU_VFIO_USER_H
#define GTU_VFIO_USER_H

#include <stdbool.h>

#include "gtu/error.h"
#include "firmware-model/transport/pci_function.h"

struct vfio_user;

/*
 * Serve the caller's @function on the connected stream socket @fd, whose ownership is taken.
 * @map_aperture: offer the aperture for mapping. @trace: print a line on stderr for each message.
 * NULL if memory is short, with @fd closed.
 */
struct vfio_user *vfio_user_open(int fd, struct pci_function *function, bool map_aperture, bool trace);
/* Close the connection; the caller drops the function's memory and eventfds. */
void vfio_user_close(struct vfio_user *vu);

/* For poll(): the socket, and the events that vfio_user_serve() needs. */
int vfio_user_fd(const struct vfio_user *vu);
short vfio_user_events(const struct vfio_user *vu);

/*
 * Receive and answer a bounded number of messages without blocking. Returns 0, GTU_ERR_DEVICE_LOST if the
 * peer closed the connection, or another code with a message in @err if the peer violated the
 * protocol, after which the connection is unusable. A refused message (an overlapping range, a
 * missing region) is answered with an errno and does not end the connection.
 */
int vfio_user_serve(struct vfio_user *vu, struct gtu_error *err);

/*
 * Whether the peer has sent its version, which distinguishes a machine from a probe of the socket.
 */
bool vfio_user_greeted(const struct vfio_user *vu);

#endif
