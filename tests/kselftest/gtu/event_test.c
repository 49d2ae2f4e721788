// SPDX-License-Identifier: MIT
/*
 * Tests events: eventfd, poll() and read() of the device file; also signals, close and device
 * removal while a thread waits.
 */
#include <sys/epoll.h>

#include "gtu_stream.h"

EVENT_FIXTURE(event);

/* Call read() without blocking. Return the number of events or -errno. */
static int read_events(int fd, struct gtu_event *e, unsigned int n)
{
	int flags = fcntl(fd, F_GETFL);
	ssize_t got;

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	got = read(fd, e, n * sizeof(*e));
	got = got < 0 ? -errno : got % (ssize_t)sizeof(*e) ? -EPROTO : got;
	fcntl(fd, F_SETFL, flags);
	return (int)(got < 0 ? got : got / (ssize_t)sizeof(*e));
}

/* Submit a job whose completion raises an event. */
static void armed_job(struct queue *q)
{
	arm(q, q->submitted);
	submit(q, &NO_JOB);
	q->consumed++;
}

/*
 * ---- eventfd ------------------------------------------------------------------------------------
 */

TEST_F(event, invalid_eventfds_and_queues_are_refused)
{
	struct queue none = self->q;

	EXPECT_EQ(EBADF, set_eventfd(&self->q, 999));
	EXPECT_EQ(EBADF, set_eventfd(&self->q, -2));
	EXPECT_EQ(EBADF, set_eventfd(&self->q, self->fd));
	none.c.id = 77777;
	EXPECT_EQ(ENOENT, set_eventfd(&none, self->efd));
	EXPECT_EQ(0, set_eventfd(&self->q, -1));
	EXPECT_EQ(0, set_eventfd(&self->q, self->efd));
	EXPECT_EQ(0, set_eventfd(&self->q, self->efd));
	EXPECT_EQ(0, set_eventfd(&self->q, -1));
}

TEST_F(event, only_an_armed_completion_signals_the_eventfd)
{
	unsigned int i;

	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	for (i = 0; i < 50; i++) {
		armed_job(&self->q);
		ASSERT_EQ(POLLIN, polled(self->efd, 10000));
		EXPECT_EQ(1, counted(self->efd));
		EXPECT_TRUE(completed(&self->q, i));
	}
	/*
	 * arming for an existing completion raises an event at once; an unarmed completion raises
	 * none
	 */
	arm(&self->q, 0);
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	EXPECT_EQ(1, counted(self->efd));
	submit(&self->q, &NO_JOB);
	EXPECT_EQ(0, polled(self->efd, 200));
	EXPECT_TRUE(completed(&self->q, 50));
}

TEST_F(event, a_new_eventfd_replaces_the_old_one)
{
	int other = eventfd(0, EFD_NONBLOCK);

	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	ASSERT_EQ(0, set_eventfd(&self->q, other));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(other, 10000));
	EXPECT_EQ(0, polled(self->efd, 0));
	ASSERT_EQ(1, counted(other));
	ASSERT_EQ(0, set_eventfd(&self->q, -1));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	EXPECT_EQ(0, polled(other, 100));
	/* the driver holds its own reference to the eventfd */
	ASSERT_EQ(0, set_eventfd(&self->q, other));
	close(other);
	armed_job(&self->q);
}

static volatile bool stop;
static unsigned int replaced;

static void *replacer(void *arg)
{
	struct queue *q = arg;
	int efd;

	while (!stop) {
		efd = eventfd(0, EFD_NONBLOCK);
		if (!set_eventfd(q, efd))
			replaced++;
		close(efd);
	}
	return NULL;
}

TEST_F(event, an_eventfd_can_be_replaced_while_events_arrive)
{
	struct gtu_hw_cpl c;
	pthread_t thread;
	unsigned int i;

	pthread_create(&thread, NULL, replacer, &self->q);
	for (i = 0; i < 300; i++) {
		arm(&self->q, i);
		submit(&self->q, &NO_JOB);
		ASSERT_EQ(0, take(&self->q, &c));
	}
	stop = true;
	pthread_join(thread, NULL);
	EXPECT_LT(0u, replaced);
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
}

/*
 * WAIT takes over the queue's only ARM index: the eventfd is signalled late, but it is signalled.
 */
TEST_F(event, an_eventfd_beside_a_wait_is_signalled)
{
	struct waiter w;

	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	arm(&self->q, 0);
	start_waiter(&w, &self->q, 5, now_ns() + 20 * SECOND);
	EXPECT_EQ(0, counted(self->efd));
	submit(&self->q, &NO_JOB);
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	while (self->q.submitted <= 5)
		submit(&self->q, &NO_JOB);
	EXPECT_EQ(0, join_waiter(&w));
}

/* An error, a reset and the destruction of a queue raise events without ARM. */
TEST_F(event, the_end_of_a_queue_signals_its_eventfd)
{
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	doorbell(&self->q, 1000, 0);
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	EXPECT_NE(0, counted(self->efd));
	EXPECT_EQ(GTU_QUEUE_E_TAIL, queue_state(&self->q));
	EXPECT_EQ(0, polled(self->efd, 100));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_NE(0, counted(self->efd));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->efd, 10000));
	EXPECT_NE(0, counted(self->efd));
	ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_NE(0, counted(self->efd));
	EXPECT_EQ(ENOENT, set_eventfd(&self->q, self->efd));
	/* closing the file raises an event too */
	queue_unmap(&self->q);
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &self->q));
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	queue_unmap(&self->q);
	close(self->fd);
	EXPECT_NE(0, counted(self->efd));
}

/*
 * ---- poll() and read() --------------------------------------------------------------------------
 */

TEST_F(event, read_returns_one_event_per_queue)
{
	struct gtu_event e[64];
	struct queue two;

	EXPECT_EQ(0, polled(self->fd, 0));
	EXPECT_EQ(-EAGAIN, read_events(self->fd, e, 4));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	memset(e, 0xff, sizeof(e));
	ASSERT_EQ(1, read_events(self->fd, e, 64));
	EXPECT_EQ(self->q.c.id, e[0].queue);
	EXPECT_EQ(1, e[0].cq_tail);
	EXPECT_EQ(GTU_QUEUE_ENABLED, e[0].state);
	EXPECT_EQ(0, e[0].reserved);
	EXPECT_EQ(~0u, e[1].queue);
	EXPECT_EQ(0, polled(self->fd, 0));

	/* one event per queue, however many completions; read() returns as many events as fit */
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &two));
	armed_job(&two);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	armed_job(&self->q);
	ASSERT_EQ(0, queue_wait(&self->q, 1, now_ns() + 10 * SECOND));
	armed_job(&self->q);
	ASSERT_EQ(0, queue_wait(&self->q, 2, now_ns() + 10 * SECOND));
	usleep(200000);		/* the completions are visible; wait for their events too */
	ASSERT_EQ(1, read_events(self->fd, e, 1));
	EXPECT_EQ(two.c.id, e[0].queue);
	ASSERT_EQ(1, read_events(self->fd, e, 64));
	EXPECT_EQ(self->q.c.id, e[0].queue);
	EXPECT_EQ(3, e[0].cq_tail);

	/* an error raises an event that reports the queue's state */
	doorbell(&two, 1000, 0);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	ASSERT_EQ(1, read_events(self->fd, e, 64));
	EXPECT_EQ(GTU_QUEUE_E_TAIL, e[0].state);
	ASSERT_EQ(0, queue_call(&two, GTU_IOCTL_QUEUE_RESET));
	ASSERT_EQ(1, read_events(self->fd, e, 64));
	EXPECT_EQ(GTU_QUEUE_ENABLED, e[0].state);
	EXPECT_EQ(0, e[0].cq_tail);
}

TEST_F(event, invalid_reads_fail_and_lose_no_event)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gtu_event e[2];

	EXPECT_EQ(-1, read(self->fd, e, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, e, sizeof(*e) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, pread(self->fd, e, sizeof(e), 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, write(self->fd, e, sizeof(e)));
	EXPECT_EQ(EINVAL, errno);
	/* an event that could not be copied to the reader stays pending */
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	EXPECT_EQ(-1, read(self->fd, nowhere, sizeof(e)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(POLLIN, polled(self->fd, 0));
	ASSERT_EQ(1, read_events(self->fd, e, 2));
	EXPECT_EQ(self->q.c.id, e[0].queue);
	EXPECT_EQ(-EAGAIN, read_events(self->fd, e, 2));
}

/* Destroying a queue drops its event, because the id may be reused before the event is read. */
TEST_F(event, destroying_a_queue_drops_its_event)
{
	struct gtu_event e[4];
	struct queue two;

	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &two));
	armed_job(&two);
	EXPECT_EQ(POLLIN, polled(self->fd, 10000));
	ASSERT_EQ(0, queue_call(&two, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(0, polled(self->fd, 0));
	EXPECT_EQ(-EAGAIN, read_events(self->fd, e, 4));
}

TEST_F(event, read_blocks_until_an_event_arrives)
{
	uint64_t total = 0, start, took;
	unsigned int i, slow = 0;
	struct reader r;

	for (i = 0; i < 20; i++) {
		start_reader(&r, self->fd);
		start = now_ns();
		armed_job(&self->q);
		pthread_join(r.thread, NULL);
		took = now_ns() - start;
		total += took;
		/*
		 * the host may stall a few times; the driver's fallback poll would make every
		 * wake-up slow
		 */
		slow += took > SECOND / 20;
		ASSERT_EQ(1, r.ret);
		EXPECT_EQ(self->q.c.id, r.e[0].queue);
		EXPECT_EQ(i + 1, r.e[0].cq_tail);
	}
	TH_LOG("mean wake-up: %llu us", (unsigned long long)(total / 20 / 1000));
	EXPECT_GE(5u, slow);
}

/* A blocked reader completes after the file is closed; its end releases everything. */
TEST_F(event, a_blocked_reader_completes_after_the_file_is_closed)
{
	struct reader r;

	start_reader(&r, self->fd);
	close(self->fd);
	armed_job(&self->q);
	pthread_join(r.thread, NULL);
	EXPECT_EQ(1, r.ret);
	queue_unmap(&self->q);
	EXPECT_EQ(0, status_kib("VmPin"));
}

TEST_F(event, edge_triggered_epoll_reports_each_event_once)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event want = { .events = EPOLLIN | EPOLLET }, got;
	struct gtu_event e[4];
	unsigned int i;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &want));
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
	for (i = 0; i < 10; i++) {
		armed_job(&self->q);
		ASSERT_EQ(1, epoll_wait(ep, &got, 1, 2000));
		EXPECT_EQ(EPOLLIN, got.events);
		EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
		EXPECT_EQ(1, read_events(self->fd, e, 4));
	}
}

TEST_F(event, a_signal_ends_a_blocked_read)
{
	struct gtu_event e;
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		signal_every(50000, i ? 0 : SA_RESTART);
		EXPECT_EQ(-1, read(self->fd, &e, sizeof(e)));
		EXPECT_EQ(EINTR, errno);
	}
	signal_every(0, 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		read(self->fd, &e, sizeof(e));
		_exit(0);
	}
	until_in_call(pid);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

/*
 * ---- Device removal -----------------------------------------------------------------------------
 */

struct stream_waiter {
	struct queue *q;
	int ret;
	pthread_t thread;
};

static void *stream_thread(void *arg)
{
	struct stream_waiter *w = arg;

	do {
		w->ret = wait_stream(w->q, 1000, 1000, GTU_WAIT_FOREVER);
	} while (!w->ret);
	return NULL;
}

struct poller {
	int fd, revents;
	pthread_t thread;
};

static void *poll_thread(void *arg)
{
	struct poller *p = arg;

	p->revents = polled(p->fd, 20000);
	return NULL;
}

static int unbind_it(const char *function)
{
	return driver_file(function, "unbind");
}

static int reset_it(const char *function)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.60s/reset", function);
	return write_to(path, "1");
}

/* The function does not respond any more, as if it was unplugged, and does not say so. */
static int silence_it(const char *function)
{
	return pci_command(function, PCI_MEMORY) & PCI_MEMORY ? EIO : 0;
}

/* End the device by @end while threads wait in every way. */
static void everybody_waits(struct __test_metadata *_metadata, struct queue *q, int efd,
			    int (*end)(const char *function), const char *function)
{
	struct poller p = { .fd = q->fd };
	struct stream_waiter w = { .ret = -1 };
	uint8_t *memory = pages(EVENT_BYTES);
	struct gtu_hw_desc d;
	struct queue stream;
	uint32_t key;
	struct gtu_event e;
	struct reader r;
	int other = open(device_path(), O_RDWR), bare = open(device_path(), O_RDWR);
	struct poller no_queue = { .fd = bare };
	uint64_t start;

	/* the stream has its own file, so that its events do not reach the other waiters */
	ASSERT_EQ(0, region_add(other, memory, EVENT_BYTES, RW, &key));
	ASSERT_EQ(0, queue_create(other, 2, 2, &stream));
	d = stream_job(memory, key);
	submit(&stream, &d);
	w.q = &stream;
	ASSERT_EQ(0, set_eventfd(q, efd));
	start_reader(&r, q->fd);
	start_call(&p.thread, poll_thread, &p);
	start_call(&no_queue.thread, poll_thread, &no_queue);
	start_call(&w.thread, stream_thread, &w);
	counted(efd);
	ASSERT_EQ(0, end(function));
	start = now_ns();
	pthread_join(r.thread, NULL);
	pthread_join(p.thread, NULL);
	pthread_join(no_queue.thread, NULL);
	pthread_join(w.thread, NULL);
	/* the timeout of poll() would report the error too, but much later */
	EXPECT_GT(10 * SECOND, now_ns() - start);
	EXPECT_EQ(-ENODEV, r.ret);
	EXPECT_EQ(POLLERR | POLLHUP, p.revents);
	EXPECT_EQ(POLLERR | POLLHUP, no_queue.revents);
	EXPECT_EQ(ENODEV, w.ret);
	EXPECT_NE(0, counted(efd));
	EXPECT_EQ(-ENODEV, read_events(q->fd, &e, 1));
	EXPECT_EQ(POLLERR | POLLHUP, polled(q->fd, 0));
	EXPECT_EQ(ENODEV, set_eventfd(q, efd));
	EXPECT_EQ(ENODEV, cancel(q, 0, 0));
	queue_unmap(&stream);
	close(other);
	close(bare);
}

TEST_F_TIMEOUT(event, removal_of_the_device_ends_every_wait, 60)
{
	char function[64];

	NEEDS(GTU_CAP_STREAM_EVENTS);
	NEEDS_ROOT;
	ASSERT_EQ(0, bus_function(device_path(), function));
	everybody_waits(_metadata, &self->q, self->efd, unbind_it, function);
	ASSERT_EQ(0, driver_file(function, "bind"));
	EXPECT_EQ(POLLERR | POLLHUP, polled(self->fd, 0));
}

/* The watchdog notices a device that does not respond, also while no program calls the driver. */
TEST_F_TIMEOUT(event, the_watchdog_finds_a_device_that_does_not_respond, 60)
{
	char function[64], path[128], text[16];
	struct pollfd p = { .events = POLLIN };
	uint64_t start;

	NEEDS(GTU_CAP_STREAM_EVENTS);
	NEEDS_ROOT;
	ASSERT_EQ(0, bus_function(device_path(), function));
	if (!pci_command(function, 0))
		SKIP(return, "not a PCI function");
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/state", device_name());
	everybody_waits(_metadata, &self->q, self->efd, silence_it, function);
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(0, strcmp("dead\n", text));
	EXPECT_EQ(-1, open(device_path(), O_RDWR));
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
	/* the same with a single file that polls: no other wait helps */
	p.fd = reopen();
	ASSERT_LE(0, p.fd);
	ASSERT_EQ(0, silence_it(function));
	start = now_ns();
	EXPECT_EQ(1, poll(&p, 1, 20000));
	EXPECT_EQ(POLLERR | POLLHUP, p.revents);
	EXPECT_GT(10 * SECOND, now_ns() - start);
	close(p.fd);
	ASSERT_EQ(0, driver_file(function, "unbind"));
	ASSERT_EQ(0, driver_file(function, "bind"));
	p.fd = reopen();
	EXPECT_LE(0, p.fd);
	close(p.fd);
}

TEST_F_TIMEOUT(event, a_function_reset_ends_every_wait, 60)
{
	char path[128], function[64];

	NEEDS(GTU_CAP_STREAM_EVENTS);
	NEEDS_RESET(path);
	ASSERT_EQ(0, bus_function(device_path(), function));
	everybody_waits(_metadata, &self->q, self->efd, reset_it, function);
}

/*
 * A device that loses all interrupts (gtu serve --fault lose-irq=1): the eventfd is signalled, and
 * read() returns, late.
 */
TEST_F_TIMEOUT(event, eventfd_and_read_wake_up_despite_lost_interrupts, 60)
{
	struct reader r;

	NEEDS_FAULT("lose-irq", "faulty");
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	armed_job(&self->q);
	EXPECT_EQ(POLLIN, polled(self->efd, 5000));
	EXPECT_EQ(POLLIN, polled(self->fd, 0));
	EXPECT_EQ(1, read_events(self->fd, r.e, 4));
	start_reader(&r, self->fd);
	armed_job(&self->q);
	pthread_join(r.thread, NULL);
	EXPECT_EQ(1, r.ret);
	EXPECT_EQ(2, r.e[0].cq_tail);
}

/* A queue without doorbells is idle after its last job, and still gets that job's event. */
TEST_F_TIMEOUT(event, the_last_event_arrives_despite_lost_interrupts, 60)
{
	struct queue q;
	uint32_t index;

	NEEDS_FAULT("lose-irq", "faulty");
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &q));
	ASSERT_EQ(0, set_eventfd(&q, self->efd));
	ASSERT_EQ(0, submit_one(&q, GTU_SUBMIT_ARM, &index));
	EXPECT_EQ(POLLIN, polled(self->efd, 5000));
	counted(self->efd);
	/* a completion that is there when its event is requested, long after the last event */
	ASSERT_EQ(0, submit_one(&q, 0, &index));
	sleep(3);
	counted(self->efd);
	ASSERT_EQ(0, queue_arm(&q, index));
	EXPECT_EQ(POLLIN, polled(self->efd, 5000));
}

/* The same for waits that are too short for the watchdog. */
TEST_F_TIMEOUT(event, a_lost_interrupt_delays_few_waits, 120)
{
	unsigned int i, slow = 0;
	struct gtu_hw_cpl c;
	struct waiter w;
	uint64_t start;

	NEEDS_FAULT("lose-some", "6.12");
	for (i = 0; i < 24; i++) {
		start_waiter(&w, &self->q, self->q.submitted, now_ns() + 10 * SECOND);
		start = now_ns();
		submit(&self->q, &NO_JOB);
		EXPECT_EQ(0, join_waiter(&w));
		slow += w.returned_ns - start > SECOND / 20;
		ASSERT_EQ(0, take(&self->q, &c));
	}
	TH_LOG("%u of 24 waits ended late", slow);
	EXPECT_GE(8u, slow);
}

TEST_F_TIMEOUT(event, a_lost_interrupt_does_not_delay_later_events, 120)
{
	unsigned int i, slow = 0;
	struct gtu_hw_cpl c;
	uint64_t start;

	NEEDS_FAULT("lose-some", "6.12");
	ASSERT_EQ(0, set_eventfd(&self->q, self->efd));
	for (i = 0; i < 12; i++) {
		ASSERT_EQ(0, queue_arm(&self->q, self->q.submitted));
		start = now_ns();
		submit(&self->q, &NO_JOB);
		EXPECT_EQ(POLLIN, polled(self->efd, 5000));
		slow += now_ns() - start > SECOND / 2;
		counted(self->efd);
		ASSERT_EQ(0, take(&self->q, &c));
	}
	TH_LOG("%u of 12 events were late", slow);
	EXPECT_LT(0u, slow);
	EXPECT_GE(4u, slow);
}

TEST_HARNESS_MAIN
