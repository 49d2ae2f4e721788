/* SPDX-License-Identifier: MIT */
/*
 * Distances of shortest paths as bit patterns of their type, in a uint64_t. Patterns of
 * non-negative floats order as unsigned integers, so that comparisons need no type; only additions
 * do.
 */
#ifndef GTU_DISTANCE_H
#define GTU_DISTANCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "host_device.h"

enum distance_type { DISTANCE_U32, DISTANCE_U64, DISTANCE_F32, DISTANCE_F64 };

GTU_HOST_DEVICE uint32_t distance_width(enum distance_type type)
{
	return type == DISTANCE_U32 || type == DISTANCE_F32 ? 4 : 8;
}

GTU_HOST_DEVICE uint64_t f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

GTU_HOST_DEVICE uint64_t f64_bits(double d)
{
	uint64_t u;

	memcpy(&u, &d, 8);
	return u;
}

GTU_HOST_DEVICE float bits_f32(uint64_t bits)
{
	uint32_t u = (uint32_t)bits;
	float f;

	memcpy(&f, &u, 4);
	return f;
}

GTU_HOST_DEVICE double bits_f64(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, 8);
	return d;
}

GTU_HOST_DEVICE uint64_t distance_infinity(enum distance_type type)
{
	switch (type) {
	case DISTANCE_U32: return UINT32_MAX;
	case DISTANCE_U64: return UINT64_MAX;
	case DISTANCE_F32: return f32_bits(INFINITY);
	case DISTANCE_F64: return f64_bits(INFINITY);
	}
	return 0;
}

GTU_HOST_DEVICE double distance_number(enum distance_type type, uint64_t bits)
{
	if (bits == distance_infinity(type))
		return INFINITY;
	return type == DISTANCE_F32 ? bits_f32(bits) : type == DISTANCE_F64 ? bits_f64(bits) :
									      (double)bits;
}

/* Distance @bits plus element @e of an array of weights (NULL: 1). */
GTU_HOST_DEVICE uint64_t distance_add(enum distance_type type, uint64_t bits, const void *weight,
				    uint64_t e)
{
	switch (type) {
	case DISTANCE_U32:
		return (uint32_t)(bits + (weight ? ((const uint32_t *)weight)[e] : 1));
	case DISTANCE_U64:
		return bits + (weight ? ((const uint32_t *)weight)[e] : 1);
	case DISTANCE_F32:
		return f32_bits(bits_f32(bits) + ((const float *)weight)[e]);
	case DISTANCE_F64:
		return f64_bits(bits_f64(bits) + ((const double *)weight)[e]);
	}
	return bits;
}

/* @bits + @step, rounded, but always above @bits. @bits must be below infinity. */
GTU_HOST_DEVICE uint64_t distance_above(enum distance_type type, uint64_t bits, double step)
{
	double to = distance_number(type, bits) + step;
	uint64_t above;

	switch (type) {
	case DISTANCE_F32:
		above = f32_bits((float)to);
		break;
	case DISTANCE_F64:
		above = f64_bits(to);
		break;
	default:
		above = to < (double)distance_infinity(type) ? (uint64_t)to : distance_infinity(type);
	}
	return above > bits ? above : bits + 1;
}

#endif
