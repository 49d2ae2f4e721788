// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs files in gtu/gtuN/, readable by root, with the state of a device.
 * Removing them waits for readers.
 */
#include <linux/debugfs.h>

#include "gtu_surface.h"

static struct dentry *gtu_debugfs_root;

static int gtu_debugfs_show(struct seq_file *file, gtu_state_fn *show)
{
	struct gtu_device *gtu = file->private;
	struct gtu_text text = { .file = file };
	int idx;

	idx = srcu_read_lock(&gtu->srcu);
	show(&text, gtu, NULL);
	srcu_read_unlock(&gtu->srcu, idx);
	return 0;
}

#define GTU_DEBUGFS_FILE(what, function)                                                           \
	static int what##_show(struct seq_file *file, void *unused)                                \
	{                                                                                          \
		return gtu_debugfs_show(file, function);                                           \
	}                                                                                          \
	DEFINE_SHOW_ATTRIBUTE(what)

GTU_DEBUGFS_FILE(registers, gtu_state_registers);
GTU_DEBUGFS_FILE(contexts, gtu_state_contexts);
GTU_DEBUGFS_FILE(queues, gtu_state_queues);
GTU_DEBUGFS_FILE(regions, gtu_state_regions);
GTU_DEBUGFS_FILE(events, gtu_state_events);
GTU_DEBUGFS_FILE(dump, gtu_state_all);

void gtu_debugfs_add(struct gtu_device *gtu)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&gtu->dev), gtu_debugfs_root);

	debugfs_create_file("registers", 0400, dir, gtu, &registers_fops);
	debugfs_create_file("contexts", 0400, dir, gtu, &contexts_fops);
	debugfs_create_file("queues", 0400, dir, gtu, &queues_fops);
	debugfs_create_file("regions", 0400, dir, gtu, &regions_fops);
	debugfs_create_file("events", 0400, dir, gtu, &events_fops);
	debugfs_create_file("dump", 0400, dir, gtu, &dump_fops);
	gtu->debugfs = dir;
}

void gtu_debugfs_remove(struct gtu_device *gtu)
{
	debugfs_remove_recursive(gtu->debugfs);
}

void gtu_debugfs_init(void)
{
	gtu_debugfs_root = debugfs_create_dir(GTU_NAME, NULL);
}

void gtu_debugfs_exit(void)
{
	debugfs_remove_recursive(gtu_debugfs_root);
}
