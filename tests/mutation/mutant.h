/* SPDX-License-Identifier: MIT */
/* Included before each mutated source: gtu_mutant is the mutant that runs, 0 for none. */
#ifndef GTU_MUTANT_H
#define GTU_MUTANT_H

extern int gtu_mutant;
#ifdef __KERNEL__
/*
 * What a debug kernel would see, on a stock kernel (Linux 6.1): as kmemleak, memory that the driver does not free (counted
 * in gtu_mutant_live, whose value must be the old one after every device is unbound); as lockdep, a lock that is not held.
 * As its fail-nth, the Nth of the calls below fails that a thread makes in the driver: gtu_mutant_fails().
 */
#include <linux/bitmap.h>
#include <linux/cdev.h>
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

/* which mutants' lines were executed */
extern unsigned char gtu_mutants_reached[];
extern atomic_t gtu_mutant_live;
bool gtu_mutant_fails(void);
#define GTU_MUTANT(n) (gtu_mutants_reached[n] = 1, __builtin_expect(gtu_mutant == (n), 0))

/* the functions are macros on later kernels */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) && defined(CONFIG_X86)
static inline void *gtu_mutant_got(void *p)
{
	if (!IS_ERR_OR_NULL(p) && p != ZERO_SIZE_PTR)
		atomic_inc(&gtu_mutant_live);
	return p;
}
#define gtu_mutant_freed(p) (ZERO_OR_NULL_PTR(p) ? (void)0 : atomic_dec(&gtu_mutant_live))
#define gtu_mutant_new(p) (gtu_mutant_fails() ? NULL : gtu_mutant_got(p))
#define gtu_mutant_error(error, call) (gtu_mutant_fails() ? (error) : (call))

#define kzalloc(...) gtu_mutant_new(kzalloc(__VA_ARGS__))
#define kcalloc(...) gtu_mutant_new(kcalloc(__VA_ARGS__))
#define kmalloc_array(...) gtu_mutant_new(kmalloc_array(__VA_ARGS__))
#define kvmalloc(...) gtu_mutant_new(kvmalloc(__VA_ARGS__))
#define kvzalloc(...) gtu_mutant_new(kvzalloc(__VA_ARGS__))
#define kvcalloc(...) gtu_mutant_new(kvcalloc(__VA_ARGS__))
#define kvmalloc_array(...) gtu_mutant_new(kvmalloc_array(__VA_ARGS__))
#define memdup_user(...) gtu_mutant_error(ERR_PTR(-EFAULT), gtu_mutant_got(memdup_user(__VA_ARGS__)))
#undef __get_free_page
#define __get_free_page(flags) ((unsigned long)gtu_mutant_new((void *)__get_free_pages(flags, 0)))
#undef free_page
#define free_page(at) ({ gtu_mutant_freed((void *)(at)); free_pages(at, 0); })
#define bitmap_zalloc(...) ((unsigned long *)gtu_mutant_new(bitmap_zalloc(__VA_ARGS__)))
#define bitmap_free(p) ({ gtu_mutant_freed(p); bitmap_free(p); })
#define kfree(p) ({ const void *p_ = (p); gtu_mutant_freed(p_); kfree(p_); })
#define kvfree(p) ({ const void *p_ = (p); gtu_mutant_freed(p_); kvfree(p_); })
#undef kfree_rcu
#define kfree_rcu(p, member) ({ gtu_mutant_freed(p); kvfree_rcu_arg_2(p, member); })
#undef dma_alloc_coherent
#define dma_alloc_coherent(...) gtu_mutant_new((dma_alloc_coherent)(__VA_ARGS__))
#undef dma_free_coherent
#define dma_free_coherent(dev, n, p, at) ({ gtu_mutant_freed(p); (dma_free_coherent)(dev, n, p, at); })
#define dma_alloc_noncontiguous(...) gtu_mutant_new(dma_alloc_noncontiguous(__VA_ARGS__))
#define dma_free_noncontiguous(dev, n, p, dir) ({ gtu_mutant_freed(p); dma_free_noncontiguous(dev, n, p, dir); })
#define dma_vmap_noncontiguous(...) gtu_mutant_new(dma_vmap_noncontiguous(__VA_ARGS__))
#define dma_vunmap_noncontiguous(dev, p) ({ gtu_mutant_freed(p); dma_vunmap_noncontiguous(dev, p); })
#undef ioremap_wc
#undef iounmap
#define ioremap_wc(...) gtu_mutant_new(ioremap_wc(__VA_ARGS__))
#define iounmap(p) ({ gtu_mutant_freed(p); iounmap(p); })
#undef alloc_pages
#define alloc_pages(...) gtu_mutant_error(NULL, (alloc_pages)(__VA_ARGS__))
#define vmap(...) gtu_mutant_error(NULL, vmap(__VA_ARGS__))

#define sg_alloc_table(...) gtu_mutant_error(-ENOMEM, sg_alloc_table(__VA_ARGS__))
#define sg_alloc_table_from_pages_segment(...) gtu_mutant_error(-ENOMEM, sg_alloc_table_from_pages_segment(__VA_ARGS__))
#define ida_alloc_max(...) gtu_mutant_error(-ENOMEM, ida_alloc_max(__VA_ARGS__))
#define xa_reserve(...) gtu_mutant_error(-ENOMEM, xa_reserve(__VA_ARGS__))
#define pin_user_pages_fast(...) gtu_mutant_error(-ENOMEM, pin_user_pages_fast(__VA_ARGS__))
#define get_unused_fd_flags(...) gtu_mutant_error(-ENOMEM, get_unused_fd_flags(__VA_ARGS__))
#define copy_from_user(to, from, n) gtu_mutant_error(n, (copy_from_user)(to, from, n))
#define copy_to_user(to, from, n) gtu_mutant_error(n, (copy_to_user)(to, from, n))
#define copy_struct_from_user(...) gtu_mutant_error(-EFAULT, copy_struct_from_user(__VA_ARGS__))
#define dma_buf_export(...) gtu_mutant_error(ERR_PTR(-ENOMEM), dma_buf_export(__VA_ARGS__))
#define dma_buf_attach(...) gtu_mutant_error(ERR_PTR(-ENOMEM), dma_buf_attach(__VA_ARGS__))
#define dma_buf_dynamic_attach(...) gtu_mutant_error(ERR_PTR(-ENOMEM), dma_buf_dynamic_attach(__VA_ARGS__))
#define dma_buf_map_attachment(...) gtu_mutant_error(ERR_PTR(-ENOMEM), dma_buf_map_attachment(__VA_ARGS__))

/* of module init and probe */
#undef init_srcu_struct
#define init_srcu_struct(s) gtu_mutant_error(-ENOMEM, (init_srcu_struct)(s))
#define dev_set_name(...) gtu_mutant_error(-ENOMEM, dev_set_name(__VA_ARGS__))
#define cdev_device_add(...) gtu_mutant_error(-ENOMEM, cdev_device_add(__VA_ARGS__))
#define request_irq(...) gtu_mutant_error(-ENOMEM, request_irq(__VA_ARGS__))
#define pci_alloc_irq_vectors(...) gtu_mutant_error(-ENOSPC, pci_alloc_irq_vectors(__VA_ARGS__))
#define pci_irq_vector(...) gtu_mutant_error(-EINVAL, pci_irq_vector(__VA_ARGS__))
#define pci_set_power_state(...) gtu_mutant_error(-EINVAL, pci_set_power_state(__VA_ARGS__))
#define pcim_enable_device(...) gtu_mutant_error(-EINVAL, pcim_enable_device(__VA_ARGS__))
#define pcim_iomap_regions(...) gtu_mutant_error(-ENOMEM, pcim_iomap_regions(__VA_ARGS__))
#define dma_set_mask_and_coherent(...) gtu_mutant_error(-ENODEV, dma_set_mask_and_coherent(__VA_ARGS__))
#define perf_pmu_register(...) gtu_mutant_error(-ENOMEM, perf_pmu_register(__VA_ARGS__))
#define cpuhp_setup_state_multi(...) gtu_mutant_error(-ENOSPC, cpuhp_setup_state_multi(__VA_ARGS__))
#define alloc_chrdev_region(...) gtu_mutant_error(-ENOMEM, alloc_chrdev_region(__VA_ARGS__))
#undef class_register
#define class_register(c) ({ static struct lock_class_key key_; gtu_mutant_error(-ENOMEM, __class_register(c, &key_)); })
#undef pci_register_driver
#define pci_register_driver(d) gtu_mutant_error(-ENOMEM, __pci_register_driver(d, THIS_MODULE, KBUILD_MODNAME))
#undef platform_driver_register
#define platform_driver_register(d) gtu_mutant_error(-ENOMEM, __platform_driver_register(d, THIS_MODULE))

#endif

#undef lockdep_assert_held
#define lockdep_assert_held(l) \
	WARN_ON(!_Generic((l), struct mutex *: mutex_is_locked, spinlock_t *: spin_is_locked)(l))
#define mutex_unlock(l) ({ WARN_ON(!mutex_is_locked(l)); mutex_unlock(l); })
#define up_read(l) ({ WARN_ON(!rwsem_is_locked(l)); up_read(l); })
#define up_write(l) ({ WARN_ON(!rwsem_is_locked(l)); up_write(l); })
#define dma_resv_unlock(r) ({ WARN_ON(!dma_resv_is_locked(r)); dma_resv_unlock(r); })
#define spin_unlock(l) ({ WARN_ON(!spin_is_locked(l)); spin_unlock(l); })
#define spin_unlock_irq(l) ({ WARN_ON(!spin_is_locked(l)); spin_unlock_irq(l); })
#undef spin_unlock_irqrestore
#define spin_unlock_irqrestore(l, flags) ({ WARN_ON(!spin_is_locked(l)); (spin_unlock_irqrestore)(l, flags); })
#else
#define GTU_MUTANT(n) __builtin_expect(gtu_mutant == (n), 0)
#endif

#endif
