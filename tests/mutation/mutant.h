/* SPDX-License-Identifier: MIT */
/* Included before each mutated source: gtu_mutant is the mutant that runs, 0 for none. */
#ifndef GTU_MUTANT_H
#define GTU_MUTANT_H

extern int gtu_mutant;
#ifdef __KERNEL__
/*
 * What a debug kernel would see, on a stock kernel (Linux 6.1): as kmemleak, memory that the driver does not free (counted
 * in gtu_mutant_live, whose value must be the old one after every device is unbound); as lockdep, a lock that is not held.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

/* which mutants' lines were executed */
extern unsigned char gtu_mutants_reached[];
extern atomic_t gtu_mutant_live;
#define GTU_MUTANT(n) (gtu_mutants_reached[n] = 1, __builtin_expect(gtu_mutant == (n), 0))

static inline void *gtu_mutant_got(void *p)
{
	if (!IS_ERR_OR_NULL(p) && p != ZERO_SIZE_PTR)
		atomic_inc(&gtu_mutant_live);
	return p;
}
#define gtu_mutant_freed(p) (ZERO_OR_NULL_PTR(p) ? (void)0 : atomic_dec(&gtu_mutant_live))

#define kzalloc(...) gtu_mutant_got(kzalloc(__VA_ARGS__))
#define kcalloc(...) gtu_mutant_got(kcalloc(__VA_ARGS__))
#define kmalloc_array(...) gtu_mutant_got(kmalloc_array(__VA_ARGS__))
#define kvmalloc(...) gtu_mutant_got(kvmalloc(__VA_ARGS__))
#define kvzalloc(...) gtu_mutant_got(kvzalloc(__VA_ARGS__))
#define kvcalloc(...) gtu_mutant_got(kvcalloc(__VA_ARGS__))
#define kvmalloc_array(...) gtu_mutant_got(kvmalloc_array(__VA_ARGS__))
#define memdup_user(...) gtu_mutant_got(memdup_user(__VA_ARGS__))
#undef __get_free_page
#define __get_free_page(flags) ((unsigned long)gtu_mutant_got((void *)__get_free_pages(flags, 0)))
#undef free_page
#define free_page(at) ({ gtu_mutant_freed((void *)(at)); free_pages(at, 0); })
#define bitmap_zalloc(...) ((unsigned long *)gtu_mutant_got(bitmap_zalloc(__VA_ARGS__)))
#define bitmap_free(p) ({ gtu_mutant_freed(p); bitmap_free(p); })
#define kfree(p) ({ const void *p_ = (p); gtu_mutant_freed(p_); kfree(p_); })
#define kvfree(p) ({ const void *p_ = (p); gtu_mutant_freed(p_); kvfree(p_); })
#undef kfree_rcu
#define kfree_rcu(p, member) ({ gtu_mutant_freed(p); kvfree_rcu_arg_2(p, member); })
#undef dma_alloc_coherent
#define dma_alloc_coherent(...) gtu_mutant_got((dma_alloc_coherent)(__VA_ARGS__))
#undef dma_free_coherent
#define dma_free_coherent(dev, n, p, at) ({ gtu_mutant_freed(p); (dma_free_coherent)(dev, n, p, at); })

#undef lockdep_assert_held
#define lockdep_assert_held(l) \
	WARN_ON(!_Generic((l), struct mutex *: mutex_is_locked, spinlock_t *: spin_is_locked)(l))
#define mutex_unlock(l) ({ WARN_ON(!mutex_is_locked(l)); mutex_unlock(l); })
#define up_read(l) ({ WARN_ON(!rwsem_is_locked(l)); up_read(l); })
#define up_write(l) ({ WARN_ON(!rwsem_is_locked(l)); up_write(l); })
#define spin_unlock(l) ({ WARN_ON(!spin_is_locked(l)); spin_unlock(l); })
#define spin_unlock_irq(l) ({ WARN_ON(!spin_is_locked(l)); spin_unlock_irq(l); })
#undef spin_unlock_irqrestore
#define spin_unlock_irqrestore(l, flags) ({ WARN_ON(!spin_is_locked(l)); (spin_unlock_irqrestore)(l, flags); })
#else
#define GTU_MUTANT(n) __builtin_expect(gtu_mutant == (n), 0)
#endif

#endif
