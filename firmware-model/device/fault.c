// SPDX-License-Identifier: MIT
/*
 * Fault injection (gtu_dev_set_faults()), to test drivers and runtimes. Wrong values are written
 * only where the device would write the correct ones, never outside.
 */
#include "core.h"
#include "gtu/splitmix64.h"

/* reproducible for the same seed */
static uint64_t random_word(struct gtu_dev *dev)
{
	return gtu_splitmix64_next(&dev->faults.seed);
}

void gtu_dev_set_faults(struct gtu_dev *dev, const struct gtu_dev_faults *faults)
{
	dev->faults = *faults;
	dev->faulty = faults->corrupt_completions || faults->forge_records || faults->stuck_reset || faults->power_loss || faults->bug ||
		      faults->late_status;
	for (unsigned i = 0; i < GTU_MBOX_FAULTS; i++)
		dev->faulty |= faults->mbox[i] != 0;
	dev->completions = dev->records = dev->resets = dev->power_losses = 0;
	memset(dev->mbox_commands, 0, sizeof(dev->mbox_commands));
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
	r = random_word(dev);
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
		cpl->count = random_word(dev) >> (r >> 16) % 64;
		break;
	case 5:
		cpl->status = (uint16_t)(r >> 16) % GTU_CPL_COUNT;
		cpl->needed = random_word(dev);
		cpl->element = random_word(dev);
		cpl->operand = (uint8_t)(r >> 40);
		break;
	}
}

void gtu_fault_late_status(struct gtu_dev *dev)
{
	const uint64_t every = dev->faults.late_status;
	volatile uint32_t rounds = 4000000;

	/* some milliseconds, because the device has no clock but its cycles */
	while (every && dev->completions % every == 0 && rounds)
		rounds--;
}

void gtu_fault_status(struct gtu_dev *dev, struct gtu_hw_queue_status *s, uint32_t *state)
{
	const uint64_t r = corrupts(dev) ? random_word(dev) : 0;

	if (r & 1)
		s->sq_head = (uint32_t)random_word(dev);
	if (r & 2)
		s->cq_tail = (uint32_t)random_word(dev);
	if (r & 4)
		s->epoch = (uint32_t)random_word(dev);
	if ((r >> 3 & 7) == 7)
		*state = (uint32_t)(random_word(dev) >> (r >> 16) % 64);
}

/*
 * Name another queue, a missing queue or a false error. The phase stays correct, or the ring would
 * end.
 */
uint32_t gtu_fault_event(struct gtu_dev *dev, uint32_t word)
{
	const uint64_t r = corrupts(dev) ? random_word(dev) : 0;

	if (!(r & 1))
		return word;
	return (word & GTU_EVENT_PHASE) | ((uint32_t)(r >> 16) & ~GTU_EVENT_PHASE);
}

void gtu_fault_record(struct gtu_dev *dev, struct gtu_hw_warp *head, uint32_t *lane, unsigned words)
{
	const bool forge = dev->faults.forge_records && ++dev->records >= dev->faults.forge_records;
	const uint64_t r = forge ? random_word(dev) : 0;
	unsigned i;

	if (gtu_bug(dev, GTU_BUG_LANES))
		gtu_bug_record(lane, words);
	if (r & 1)
		head->active = (uint32_t)random_word(dev);
	if ((r & 6) == 6)
		head->sequence = (uint32_t)random_word(dev);
	if ((r & 24) == 24)
		head->reason = (uint32_t)random_word(dev);
	/* change one lane, by a little or by a lot: the receiver must check every lane */
	if ((r & 32) && words) {
		i = (unsigned)((r >> 16) % words);
		lane[i] += (uint32_t)(random_word(dev) >> (32 + (r >> 40) % 32));
	}
	for (i = 0; (r & 960) == 960 && i < words; i++)
		lane[i] = (uint32_t)random_word(dev);
}

static const struct {
	uint32_t commands;		/* a bit for each */
	uint32_t status;
	bool every;			/* every n-th, not all from the n-th on */
} mbox_fault[GTU_MBOX_FAULTS] = {
	[GTU_FAULT_NO_INVALIDATE] = { 1u << GTU_MBOX_INVALIDATE, GTU_MBOX_BUSY, false },
	[GTU_FAULT_NO_QUEUE_STATE] = { 1u << GTU_MBOX_QUEUE_STATE, GTU_MBOX_BUSY, false },
	[GTU_FAULT_NO_QUEUE_ENABLE] = { 1u << GTU_MBOX_QUEUE_ENABLE, GTU_MBOX_BUSY, false },
	[GTU_FAULT_REFUSE_DISABLE] = { 1u << GTU_MBOX_QUEUE_DISABLE | 1u << GTU_MBOX_CTX_DISABLE, GTU_MBOX_E_INDEX, false },
	[GTU_FAULT_REFUSE_QUEUE_STATE] = { 1u << GTU_MBOX_QUEUE_STATE, GTU_MBOX_E_INDEX, false },
	[GTU_FAULT_REFUSE_ENABLE] = { 1u << GTU_MBOX_QUEUE_ENABLE | 1u << GTU_MBOX_CTX_ENABLE, GTU_MBOX_E_INDEX, true },
	[GTU_FAULT_FALSE_COUNTERS] = { 1u << GTU_MBOX_CTX_COUNTERS, GTU_MBOX_E_OK, false },
};

uint32_t gtu_fault_command(struct gtu_dev *dev, uint32_t command)
{
	uint32_t status = GTU_MBOX_E_OK;

	for (unsigned i = 0; i < GTU_MBOX_FAULTS; i++) {
		const uint64_t nth = dev->faults.mbox[i];

		if (!nth || command > 31 || !(mbox_fault[i].commands >> command & 1))
			continue;
		dev->mbox_commands[i]++;
		if (mbox_fault[i].every ? dev->mbox_commands[i] % nth == 0 : dev->mbox_commands[i] >= nth)
			status = mbox_fault[i].status;
	}
	return status;
}

void gtu_fault_result(struct gtu_dev *dev, uint32_t command)
{
	const uint64_t from = dev->faults.mbox[GTU_FAULT_FALSE_COUNTERS];

	if (command == GTU_MBOX_CTX_COUNTERS && from && dev->mbox_commands[GTU_FAULT_FALSE_COUNTERS] >= from)
		memset(dev->mbox_result, 0xff, sizeof(dev->mbox_result));
}

/* Fill the aperture with random data and restart the epoch. */
void gtu_fault_power(struct gtu_dev *dev)
{
	uint64_t i, noise;

	if (++dev->power_losses < dev->faults.power_loss || !dev->faults.power_loss)
		return;
	for (i = 0; i < dev->config.aperture_bytes; i += sizeof(noise)) {
		noise = random_word(dev);
		memcpy(dev->aperture + i, &noise, sizeof(noise));
	}
	dev->epoch = 1;
}

bool gtu_fault_reset(struct gtu_dev *dev)
{
	return ++dev->resets >= dev->faults.stuck_reset && dev->faults.stuck_reset;
}
