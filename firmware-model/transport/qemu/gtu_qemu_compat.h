/* SPDX-License-Identifier: MIT */
/*
 * Provides the names of QEMU 10.0 for QEMU 7.2 and later; 10.1 and later are untested. A front
 * includes it, by gtu_qemu.h, before other QEMU headers.
 */
#ifndef GTU_QEMU_COMPAT_H
#define GTU_QEMU_COMPAT_H

#include "qemu/osdep.h"

#define GTU_QEMU_VERSION	(QEMU_VERSION_MAJOR * 100 + QEMU_VERSION_MINOR)

#include "hw/qdev-properties.h"
#include "migration/blocker.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/thread.h"
#include "qemu/units.h"

#if GTU_QEMU_VERSION >= 1001
#include "system/memory.h"
#else
#include "exec/memory.h"
#endif
#if GTU_QEMU_VERSION >= 1000
#include "system/runstate.h"
#else
#include "sysemu/runstate.h"
#endif

#if GTU_QEMU_VERSION < 900
#define bql_locked()	qemu_mutex_iothread_locked()
#endif

/* Set a device's reset function without phases. */
static inline void gtu_class_set_reset(DeviceClass *dc, void (*reset)(DeviceState *dev))
{
#if GTU_QEMU_VERSION >= 902
	device_class_set_legacy_reset(dc, reset);
#else
	dc->reset = reset;
#endif
}

/* Takes ownership of *reason, and sets it to NULL on failure. */
static inline bool gtu_block_migration(Error **reason, Error **errp)
{
#if GTU_QEMU_VERSION >= 802
	return migrate_add_blocker(reason, errp) >= 0;
#else
	if (migrate_add_blocker(*reason, errp) >= 0)
		return true;
	error_free(*reason);
	*reason = NULL;
	return false;
#endif
}

static inline void gtu_unblock_migration(Error **reason)
{
#if GTU_QEMU_VERSION >= 802
	migrate_del_blocker(reason);
#else
	if (*reason) {
		migrate_del_blocker(*reason);
		error_free(*reason);
		*reason = NULL;
	}
#endif
}

/* Older QEMUs need non-constant property lists with an end marker. */
#if GTU_QEMU_VERSION >= 1000
#define GTU_PROPERTIES		static const Property
#define GTU_PROPERTIES_END
#else
#define GTU_PROPERTIES		static Property
#define GTU_PROPERTIES_END	DEFINE_PROP_END_OF_LIST(),
#endif

#if GTU_QEMU_VERSION >= 1001
#define GTU_CLASS_DATA		const void *
#define GTU_INTERFACES		static const InterfaceInfo
#else
#define GTU_CLASS_DATA		void *
#define GTU_INTERFACES		static InterfaceInfo
#endif

#endif
