// SPDX-License-Identifier: MIT
/*
 * A device that goes wrong on purpose, for those who write its driver or test it: gtu_dev_set_faults(). What
 * it writes wrongly lies where the right words would lie: it lies, but it does not reach further.
 */
#include "core.h"

/* splitmix64: the same lies for the same seed. */
static uint64_t lie(struct gtu_dev *dev)
{
	uint64_t z = dev->faults.seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void gtu_dev_set_faults(struct gtu_dev *dev, const struct gtu_dev_faults *faults)
{
	dev->faults = *faults;
	dev->faulty = faults->corrupt_completions || faults->forge_records || faults->no_invalidate || faults->stuck_reset ||
		      faults->power_loss || faults->bug;
	dev->completions = dev->records = dev->invalidates = dev->resets = dev->power_losses = 0;
}

static bool corrupts(const struct gtu_dev *dev)
{
	return dev->faults.corrupt_completions && dev->completions >= dev->faults.corrupt_completions;
}

void gtu_fault_completion(struct gtu_dev *dev, struct gtu_hw_cpl *cpl, uint16_t *phase)
{
	uint64_t r;

	dev->completions++;
	if (!corrupts(dev))
		return;
	r = lie(dev);
	switch (r & 7) {
	case 0:
		*phase = r & 8 ? !*phase : (uint16_t)(r >> 16);
		break;
	case 1:
		cpl->sq_index = (uint32_t)(r >> 16);
		break;
	case 2:
		cpl->status = (uint16_t)(GTU_CPL_COUNT + (r >> 16) % (0x10000 - GTU_CPL_COUNT));
		break;
	case 3:
		cpl->cookie ^= 1ull << (r >> 16) % 64;
		break;
	case 4:
		cpl->count = lie(dev) >> (r >> 16) % 64;
		break;
	case 5:
		cpl->status = (uint16_t)(r >> 16) % GTU_CPL_COUNT;
		cpl->needed = lie(dev);
		cpl->element = lie(dev);
		cpl->operand = (uint8_t)(r >> 40);
		break;
	}
}

void gtu_fault_status(struct gtu_dev *dev, struct gtu_hw_queue_status *s, uint32_t *state)
{
	const uint64_t r = corrupts(dev) ? lie(dev) : 0;

	if (r & 1)
		s->sq_head = (uint32_t)lie(dev);
	if (r & 2)
		s->cq_tail = (uint32_t)lie(dev);
	if (r & 4)
		s->epoch = (uint32_t)lie(dev);
	if ((r >> 3 & 7) == 7)
		*state = (uint32_t)(lie(dev) >> (r >> 16) % 64);
}

/* Another queue, one that is not there, or an error that is none; the phase is right, or the ring would end. */
uint32_t gtu_fault_event(struct gtu_dev *dev, uint32_t word)
{
	const uint64_t r = corrupts(dev) ? lie(dev) : 0;

	if (!(r & 1))
		return word;
	return (word & GTU_EVENT_PHASE) | ((uint32_t)(r >> 16) & ~GTU_EVENT_PHASE);
}

void gtu_fault_record(struct gtu_dev *dev, struct gtu_hw_warp *head, uint32_t *lane, unsigned words)
{
	const bool forge = dev->faults.forge_records && ++dev->records >= dev->faults.forge_records;
	const uint64_t r = forge ? lie(dev) : 0;
	unsigned i;

	if (gtu_bug(dev, GTU_BUG_LANES))
		gtu_bug_record(lane, words);
	if (r & 1)
		head->active = (uint32_t)lie(dev);
	if ((r & 6) == 6)
		head->sequence = (uint32_t)lie(dev);
	if ((r & 24) == 24)
		head->reason = (uint32_t)lie(dev);
	/* one lane, a little or far away: what is checked has to be checked for each */
	if ((r & 32) && words) {
		i = (unsigned)((r >> 16) % words);
		lane[i] += (uint32_t)(lie(dev) >> (32 + (r >> 40) % 32));
	}
	for (i = 0; (r & 960) == 960 && i < words; i++)
		lane[i] = (uint32_t)lie(dev);
}

bool gtu_fault_invalidate(struct gtu_dev *dev)
{
	return ++dev->invalidates >= dev->faults.no_invalidate && dev->faults.no_invalidate;
}

/* What was in the aperture is noise, and epochs start anew. */
void gtu_fault_power(struct gtu_dev *dev)
{
	uint64_t i, noise;

	if (++dev->power_losses < dev->faults.power_loss || !dev->faults.power_loss)
		return;
	for (i = 0; i < dev->config.aperture_bytes; i += sizeof(noise)) {
		noise = lie(dev);
		memcpy(dev->aperture + i, &noise, sizeof(noise));
	}
	dev->epoch = 1;
}

bool gtu_fault_reset(struct gtu_dev *dev)
{
	return ++dev->resets >= dev->faults.stuck_reset && dev->faults.stuck_reset;
}
