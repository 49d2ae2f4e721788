// SPDX-License-Identifier: GPL-2.0-only
/*
 * Character device: file operations, and context teardown when the device is
 * removed.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>

#include "gtu_drv.h"

/* Rate limit of state dumps, which users can provoke. */
#define GTU_DUMP_INTERVAL	(60 * HZ)
#define GTU_DUMP_BURST		8

static dev_t gtu_devt;
static DEFINE_IDA(gtu_minors);

struct class gtu_class = {
	.name = GTU_NAME,
	.dev_groups = gtu_groups,
};

static int gtu_open(struct inode *inode, struct file *file)
{
	struct gtu_device *gtu = container_of(inode->i_cdev, struct gtu_device, cdev);
	struct gtu_ctx *ctx;
	int idx;

	idx = srcu_read_lock(&gtu->srcu);
	ctx = READ_ONCE(gtu->state) == GTU_STATE_UP ? gtu_ctx_create(gtu, file->f_mapping) :
						      ERR_PTR(-ENODEV);
	srcu_read_unlock(&gtu->srcu, idx);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	file->private_data = ctx;
	return nonseekable_open(inode, file);
}

static int gtu_release(struct inode *inode, struct file *file)
{
	gtu_ctx_close(file->private_data);
	return 0;
}

/**
 * gtu_enter() - hold the device until gtu_leave()
 * @ctx: the context
 *
 * Do not access user memory while inside: a fault may take arbitrarily long
 * (userfaultfd, FUSE) and removal waits for it.
 *
 * Return: a value for gtu_leave(), or -ENODEV if the device or the context is
 * dead
 */
int gtu_enter(struct gtu_ctx *ctx)
{
	int idx = srcu_read_lock(&ctx->gtu->srcu);

	if (!gtu_ctx_dead(ctx)) {
		__release(&ctx->gtu->srcu);	/* for sparse: held until gtu_leave() */
		return idx;
	}
	srcu_read_unlock(&ctx->gtu->srcu, idx);
	return -ENODEV;
}

/**
 * gtu_leave() - undo gtu_enter()
 * @ctx: the context
 * @inside: return value of gtu_enter()
 */
void gtu_leave(struct gtu_ctx *ctx, int inside)
{
	if (inside < 0)
		return;
	__acquire(&ctx->gtu->srcu);
	srcu_read_unlock(&ctx->gtu->srcu, inside);
}

static const struct file_operations gtu_fops = {
	.owner = THIS_MODULE,
	.open = gtu_open,
	.release = gtu_release,
	.unlocked_ioctl = gtu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = gtu_mmap,
	.get_unmapped_area = thp_get_unmapped_area,	/* addresses that fit huge entries */
	.poll = gtu_poll,
	.show_fdinfo = gtu_show_fdinfo,
	.read = gtu_read,
};

static void gtu_device_release(struct device *dev)
{
	struct gtu_device *gtu = container_of(dev, struct gtu_device, dev);

	ida_destroy(&gtu->ctx_ids);
	ida_destroy(&gtu->queue_ids);
	cleanup_srcu_struct(&gtu->srcu);
	kvfree(gtu->queue);
	kvfree(gtu->group);
	gtu_peers_fini(gtu);
	kvfree(gtu->aperture_used);
	kvfree(gtu->fdt);
	kfree(gtu);
}

/**
 * gtu_device_alloc() - allocate a device
 * @parent: the bus device
 *
 * Return: the device with one reference, which put_device(&gtu->dev) drops, or
 * an ERR_PTR()
 */
struct gtu_device *gtu_device_alloc(struct device *parent)
{
	struct gtu_device *gtu = kzalloc(sizeof(*gtu), GFP_KERNEL);
	int ret;

	if (!gtu)
		return ERR_PTR(-ENOMEM);
	ret = init_srcu_struct(&gtu->srcu);
	if (ret) {
		kfree(gtu);
		return ERR_PTR(ret);
	}
	gtu->parent = parent;
	gtu->number = -1;
	gtu->state = GTU_STATE_UP;
	sema_init(&gtu->users_turn, 1);
	mutex_init(&gtu->mbox_lock);
	init_waitqueue_head(&gtu->core_reset_wait);
	raw_spin_lock_init(&gtu->counter_lock);
	gtu_peers_init(gtu);
	spin_lock_init(&gtu->ctx_lock);
	mutex_init(&gtu->aperture_lock);
	INIT_LIST_HEAD(&gtu->extents);
	init_rwsem(&gtu->map_lock);
	spin_lock_init(&gtu->user_lock);
	INIT_LIST_HEAD(&gtu->users);
	INIT_LIST_HEAD(&gtu->contexts);
	ida_init(&gtu->ctx_ids);
	ida_init(&gtu->queue_ids);
	gtu_watchdog_init(gtu);
	gtu_dump_init(gtu);
	ratelimit_state_init(&gtu->dump_limit, GTU_DUMP_INTERVAL, GTU_DUMP_BURST);
	device_initialize(&gtu->dev);
	gtu->dev.class = &gtu_class;
	gtu->dev.parent = parent;
	gtu->dev.release = gtu_device_release;
	cdev_init(&gtu->cdev, &gtu_fops);
	gtu->cdev.owner = THIS_MODULE;
	return gtu;
}

/**
 * gtu_contexts_end() - mark the device dead and tear down every context
 * @gtu: the device
 *
 * On return no thread is inside, and nothing is mapped or pinned for the
 * device or its peers. New files cannot be opened.
 */
void gtu_contexts_end(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx;

	gtu_set_dead(gtu);
	synchronize_srcu(&gtu->srcu);
	gtu_watchdog_stop(gtu);
	gtu_peers_stop(gtu);
	for (;;) {
		spin_lock_irq(&gtu->ctx_lock);
		ctx = list_first_entry_or_null(&gtu->contexts, struct gtu_ctx, link);
		if (ctx)
			kref_get(&ctx->ref);
		spin_unlock_irq(&gtu->ctx_lock);
		if (!ctx)
			break;
		gtu_ctx_teardown(ctx);
		gtu_ctx_unlink(ctx);
		gtu_ctx_put(ctx);
	}
	gtu_dump_finish(gtu);
}

/**
 * gtu_device_add() - register the character device
 * @gtu: the device
 *
 * Users may open it from now on.
 *
 * Return: 0 or a negative errno
 */
int gtu_device_add(struct gtu_device *gtu)
{
	int minor, ret;

	minor = ida_alloc_max(&gtu_minors, GTU_MINORS - 1, GFP_KERNEL);
	if (minor < 0)
		return minor;
	gtu->number = minor;
	gtu->dev.devt = MKDEV(MAJOR(gtu_devt), MINOR(gtu_devt) + minor);
	gtu_sysfs_units(gtu);
	ret = dev_set_name(&gtu->dev, GTU_NAME "%d", minor);
	if (!ret)
		ret = cdev_device_add(&gtu->cdev, &gtu->dev);
	if (ret) {
		/*
		 * A process with an old node of this number may have opened it
		 * before the failure.
		 */
		gtu_contexts_end(gtu);
		ida_free(&gtu_minors, minor);
	} else {
		gtu_debugfs_add(gtu);
		gtu_pmu_attach(gtu);
	}
	return ret;
}

/**
 * gtu_device_remove() - remove the device while files may be open
 * @gtu: the device
 *
 * Later calls on these files return -ENODEV.
 */
void gtu_device_remove(struct gtu_device *gtu)
{
	gtu_pmu_detach(gtu);	/* reads the counters once more */
	gtu_set_dead(gtu);
	gtu_debugfs_remove(gtu);
	cdev_device_del(&gtu->cdev, &gtu->dev);
	gtu_contexts_end(gtu);
	/*
	 * Open files keep this object, not its minor number: another device may
	 * reuse it.
	 */
	ida_free(&gtu_minors, gtu->number);
}

/**
 * gtu_chrdev_init() - register the class and the device numbers
 *
 * Return: 0 or a negative errno
 */
int gtu_chrdev_init(void)
{
	int ret;

	gtu_sysfs_init();
	ret = class_register(&gtu_class);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&gtu_devt, 0, GTU_MINORS, GTU_NAME);
	if (ret)
		class_unregister(&gtu_class);
	else
		gtu_debugfs_init();
	if (!ret)
		gtu_pmu_init();
	return ret;
}

/**
 * gtu_chrdev_exit() - undo gtu_chrdev_init()
 */
void gtu_chrdev_exit(void)
{
	gtu_pmu_exit();
	gtu_debugfs_exit();
	unregister_chrdev_region(gtu_devt, GTU_MINORS);
	class_unregister(&gtu_class);
}
