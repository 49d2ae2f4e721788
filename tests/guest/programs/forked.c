// SPDX-License-Identifier: MIT
/*
 * Tests fork() in a guest. The child of a process with an open device inherits the file but not the ring, and its calls
 * fail with an error. Closing and destroying objects in the child must not affect the parent.
 *
 *   forked DEVICE        exit status 0 if the test passes
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtu/gtu.h"
#include "uapi/gtu/hw.h"

static int bad(const char *what, int rc, const struct gtu_error *err)
{
	printf("# %s: %d %s\n", what, rc, err->text);
	return 1;
}

static int child(struct gtu_device *dev, struct gtu_queue *q, struct gtu_region *r)
{
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_error err = { .text = "" };
	struct gtu_queue *other;
	struct gtu_region more;
	uint64_t job;
	int rc;

	if ((rc = gtu_submit(q, &nop, &job, &err)) != GTU_ERR_USAGE || !strstr(err.text, "fork"))
		return bad("a child submits", rc, &err);
	if ((rc = gtu_queue_create(dev, NULL, &other, &err)) != GTU_ERR_USAGE)
		return bad("a child makes a queue", rc, &err);
	if ((rc = gtu_region_alloc(dev, 4096, &more, &err)) != GTU_ERR_USAGE)
		return bad("a child makes a region", rc, &err);
	if ((rc = gtu_queue_reset(q, &err)) != GTU_ERR_USAGE)
		return bad("a child resets its parent's queue", rc, &err);
	gtu_queue_destroy(q);
	if ((rc = gtu_region_remove(dev, r, &err)))
		return bad("a child forgets a region", rc, &err);
	gtu_close(dev);
	return 0;
}

int main(int argc, char **argv)
{
	const struct gtu_hw_desc fill = { .opcode = GTU_OP_FILL, .imm = 0x5a };
	struct gtu_hw_desc d = fill;
	struct gtu_error err = { .text = "" };
	struct gtu_device *dev;
	struct gtu_region r;
	struct gtu_queue *q;
	int rc, status, round;
	pid_t pid;

	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if ((rc = gtu_open(argv[1], &dev, &err)) || (rc = gtu_queue_create(dev, NULL, &q, &err)) ||
	    (rc = gtu_region_alloc(dev, 4096, &r, &err)))
		return bad("no device", rc, &err);
	d.operand[1] = (struct gtu_hw_operand){ .key = r.key, .count = 4096 };
	for (round = 0; round < 2; round++) {
		memset(r.addr, 0, 4096);
		if ((rc = gtu_do(q, &d, GTU_FOREVER, NULL, &err)))
			return bad(round ? "the parent goes on" : "the parent", rc, &err);
		if (((unsigned char *)r.addr)[4095] != 0x5a)
			return bad("nothing is written", round, &err);
		if (round)
			break;
		pid = fork();
		if (!pid)
			_exit(child(dev, q, &r));
		if (waitpid(pid, &status, 0) != pid || status)
			return bad("the child", status, &err);
	}
	gtu_queue_destroy(q);
	if ((rc = gtu_region_remove(dev, &r, &err)))
		return bad("the region", rc, &err);
	gtu_close(dev);
	return 0;
}
