/* SPDX-License-Identifier: MIT */
/*
 * The vfio-user protocol, version 0.0, seen from the device: one connection to one virtual machine monitor.
 * The monitor's messages become calls of a pci_function; this side never sends a request of its own.
 * The protocol is specified in QEMU's documentation (interop/vfio-user).
 */
#ifndef GTU_VFIO_USER_H
#define GTU_VFIO_USER_H

#include <stdbool.h>

#include "gtu/error.h"
#include "firmware-model/transport/pci_function.h"

struct vfio_user;

/*
 * Serve @function (the caller's) on the connected stream socket @fd, which it takes.
 * @map_aperture: offer the aperture for mapping. @trace: a line on stderr for each message.
 * NULL where memory is short, with @fd closed.
 */
struct vfio_user *vfio_user_open(int fd, struct pci_function *function, bool map_aperture, bool trace);
/* Close the connection; the function's memory and eventfds are the caller's to drop. */
void vfio_user_close(struct vfio_user *vu);

/* For poll(): the socket, and the events that vfio_user_serve() waits for. */
int vfio_user_fd(const struct vfio_user *vu);
short vfio_user_events(const struct vfio_user *vu);

/*
 * Receive and answer what is there, at most a bounded number of messages; never waits. Returns 0, or
 * GTU_ERR_GONE when the peer closed the connection, or another code with a sentence in @err when what it
 * sent cannot be the protocol: the connection is of no use then. A message that is only refused (a
 * range that overlaps, a region that does not exist) is answered with an errno and ends nothing.
 */
int vfio_user_serve(struct vfio_user *vu, struct gtu_error *err);

/* The peer has said its version: it is a machine, not somebody who looks whether the socket lives. */
bool vfio_user_greeted(const struct vfio_user *vu);

#endif
