// SPDX-License-Identifier: MIT
/*
 * The link to host memory (EMOGI, section 3). A request waits for a tag, takes one round trip and
 * occupies the link for its data and header. At most link.requests are in flight. The far side serves
 * one request every link.request, so that a round trip takes longer under load.
 */
#include "internal.h"

static uint64_t transfer_time(const struct lab *lab, uint32_t bytes)
{
	return (bytes * lab->link.byte_time) >> 8;
}

/* A time in fractions of a cycle. */
static uint64_t fractions(const struct lab *lab, double ns)
{
	return (uint64_t)(ns * lab->m.core_mhz / 1000 * (1 << LAB_FRACTION));
}

static void start(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_link *l = &lab->link;
	struct lab_stats *s = &lab->stats;
	uint64_t now = lab->calendar.now << LAB_FRACTION, done, atom = lab->m.link_host_atom, first, end;
	uint64_t *bus = n->op == LAB_STORE ? &l->up_free : &l->down_free;

	s->link_in_flight_cycles += l->in_flight * (lab->calendar.now - l->since);
	l->since = lab->calendar.now;
	l->in_flight++;
	s->link_in_flight_max = lab_max(s->link_in_flight_max, l->in_flight);
	s->link_request[n->bytes / LAB_SECTOR]++;
	s->link_bytes += n->bytes;
	s->link_header_bytes += lab->m.link_header;
	first = n->value / atom * atom;
	end = (n->value + n->bytes + atom - 1) / atom * atom;
	s->link_host_bytes += end - first;
	/* without load, data arrives after the round trip; else after the requests before it */
	l->served = lab_max(now + fractions(lab, lab->m.link_round_trip_ns), l->served + fractions(lab, lab->m.link_request_ns));
	*bus = lab_max(l->served - transfer_time(lab, n->bytes + lab->m.link_header), *bus) +
	       transfer_time(lab, n->bytes + lab->m.link_header);
	done = *bus >> LAB_FRACTION;
	if (lab->observe_link)
		lab->observe_link(lab->observer, &(struct lab_link_request){ n->value, lab->calendar.now, done, n->bytes, n->op });
	lab_schedule(&lab->calendar, done, node, EV_LINK_DONE);
}

void lab_link_send(struct lab *lab, uint32_t node, uint64_t addr, unsigned sectors, uint64_t cycle)
{
	struct lab_node *n = &lab->calendar.node[node];
	unsigned flits = lab->request_flits[n->op == LAB_STORE ? sectors : 0];

	n->value = addr;
	n->bytes = (uint8_t)(sectors * LAB_SECTOR);
	lab->port[n->port].outstanding++;
	lab_schedule(&lab->calendar, lab_port_out(lab, n->port, cycle, flits), node, EV_LINK);
}

void lab_link_event(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_link *l = &lab->link;
	unsigned port = n->port;
	uint64_t t;
	uint32_t next;

	if (n->kind == EV_LINK) {
		if (l->in_flight < lab->m.link_requests) {
			start(lab, node);
			return;
		}
		n->next = 0;
		if (l->wait_tail)
			lab->calendar.node[l->wait_tail].next = node;
		else
			l->wait_head = node;
		l->wait_tail = node;
		return;
	}
	lab->stats.link_in_flight_cycles += l->in_flight * (lab->calendar.now - l->since);
	l->since = lab->calendar.now;
	l->in_flight--;
	lab->stats.link_arrived++;
	lab->port[port].outstanding--;
	t = lab_port_in(lab, port, lab->calendar.now, n->op == LAB_STORE ? 1 :
			(n->bytes + lab->m.noc_header + lab->m.noc_flit - 1) / lab->m.noc_flit);
	if (n->reply_to == LAB_REPLY_TO_MSHR) {
		lab_schedule(&lab->calendar, t, node, EV_FILL);
	} else {
		if (n->reply_to == LAB_REPLY_TO_WARP)
			lab_warp_done(lab, &lab->warp[n->owner], n->board, t);
		lab_node_free(lab, node);
	}
	next = l->wait_head;
	if (next) {
		l->wait_head = lab->calendar.node[next].next;
		if (!l->wait_head)
			l->wait_tail = 0;
		start(lab, next);
	}
	if (port < lab->m.sms)
		lab_sm_resume(lab, port);
}
