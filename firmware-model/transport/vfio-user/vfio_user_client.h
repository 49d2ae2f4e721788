/* SPDX-License-Identifier: MIT */
/*
 * The client's framing of vfio-user: connecting, sending with descriptors, receiving. For gtu
 * bringup, and for tests, which also send what no client should.
 */
#ifndef GTU_VFIO_USER_CLIENT_H
#define GTU_VFIO_USER_CLIENT_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "firmware-model/transport/vfio-user/vfio_user_wire.h"

/*
 * Connect to the server at @path, at most 107 bytes, and limit each receive to @timeout_s.
 * Returns the socket, or -1 with errno.
 */
static inline int vfio_user_connect(const char *path, unsigned timeout_s)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = timeout_s };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	if (sock < 0 || !connect(sock, (struct sockaddr *)&addr, sizeof(addr))) {
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		return sock;
	}
	close(sock);
	return -1;
}

/*
 * Send @bytes with @fds descriptors (at most 32, more than the server accepts). False if the
 * server has closed the connection.
 */
static inline bool vfio_user_send(int sock, const void *data, size_t bytes, const int *fd, unsigned fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(32 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)data, bytes };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fds) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fd, fds * sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/*
 * Receive exactly @bytes. @fd, unless NULL, gets a descriptor that came with them. False at the end
 * of the connection (errno 0) and after an error or a timeout (errno).
 */
static inline bool vfio_user_receive(int sock, void *data, size_t bytes, int *fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	size_t received = 0;
	ssize_t n;

	while (received < bytes) {
		struct iovec iov = { (char *)data + received, bytes - received };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

		if (fd) {
			m.msg_control = control.bytes;
			m.msg_controllen = sizeof(control.bytes);
		}
		errno = 0;
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (CMSG_FIRSTHDR(&m) && fd)
			memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(*fd));
		received += (size_t)n;
	}
	return true;
}

#endif
