/* SPDX-License-Identifier: MIT */
/*
 * The parts of CUDA C++ that this project's kernels use, on a CPU, so that the unmodified kernels run without a GPU. The
 * threads of a block are fibers of one thread; block operations wait until all threads of the block arrive, warp
 * operations until all lanes of their mask do. Lanes are always diverged for __activemask(). CPU_RESIDENT blocks run
 * interleaved, in an order drawn from a seed, with switches at atomic operations too. A warp that waits for an ended thread,
 * where a GPU may hang, aborts the program. Timing is not modelled.
 */
#ifndef CUDA_CPU_H
#define CUDA_CPU_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

using std::fabs;

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __constant__
#define __launch_bounds__(threads)
#define __nanosleep(ns) cpu_yield()
#define __threadfence_system() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#define CPU_RESIDENT	4u
#define CPU_DYNAMIC_SHARED 4096u	/* bytes of shared memory that a launch may name */

struct cpu_index {
	unsigned x;
};
struct uint4 {
	unsigned x, y, z, w;
} __attribute__((aligned(16)));

extern cpu_index threadIdx, blockIdx, gridDim, blockDim;

/* Yield to the other threads of the block. */
void cpu_yield(void);
/* Yield to another block sometimes. */
void cpu_preempt(void);
/* Wait until all threads of the block arrive. */
void cpu_meet(void);
/* Wait until the lanes of @mask arrive, and exchange their values. Returns 32 values, valid until the thread yields. */
const uint64_t *cpu_exchange(unsigned mask, uint64_t mine);

template <typename T> static inline uint64_t cpu_bits(T x)
{
	uint64_t bits = 0;

	memcpy(&bits, &x, sizeof(x));
	return bits;
}
template <typename T> static inline T cpu_value(uint64_t bits)
{
	T x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

template <typename T> static inline T cpu_from(unsigned mask, T x, unsigned lane, bool other)
{
	const uint64_t *all = cpu_exchange(mask, cpu_bits(x));

	return other && lane < 32 ? cpu_value<T>(all[lane]) : x;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T x, int lane)
{
	return cpu_from(mask, x, (unsigned)lane & 31, true);
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T x, int bits)
{
	return cpu_from(mask, x, (threadIdx.x & 31) ^ (unsigned)bits, true);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T x, unsigned delta)
{
	unsigned lane = threadIdx.x & 31;

	return cpu_from(mask, x, lane - delta, lane >= delta);
}
static inline unsigned __ballot_sync(unsigned mask, bool x)
{
	const uint64_t *all = cpu_exchange(mask, x);
	unsigned word = 0;

	for (unsigned i = 0; i < 32; i++)
		word |= (unsigned)(mask >> i & 1 && all[i]) << i;
	return word;
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned x)
{
	const uint64_t *all = cpu_exchange(mask, x);
	unsigned sum = 0;

	for (unsigned i = 0; i < 32; i++)
		sum += mask >> i & 1 ? (unsigned)all[i] : 0;
	return sum;
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned x)
{
	const uint64_t *all = cpu_exchange(mask, x);
	unsigned most = 0;

	for (unsigned i = 0; i < 32; i++)
		most = mask >> i & 1 && all[i] > most ? (unsigned)all[i] : most;
	return most;
}
static inline bool __any_sync(unsigned mask, bool x)
{
	return __ballot_sync(mask, x) != 0;
}
static inline bool __all_sync(unsigned mask, bool x)
{
	return __ballot_sync(mask, x) == mask;
}
static inline int __ffs(int x)
{
	return __builtin_ffs(x);
}
static inline unsigned __activemask(void)
{
	return 1u << (threadIdx.x & 31);
}
static inline void __syncwarp(unsigned mask = 0xffffffff)
{
	cpu_exchange(mask, 0);
}
static inline void __syncthreads(void)
{
	cpu_meet();
}
static inline int __syncthreads_or(int x)
{
	__shared__ int some;

	/* all have read the result of the last call */
	cpu_meet();
	if (!threadIdx.x)
		some = 0;
	cpu_meet();
	if (x)
		some = 1;
	cpu_meet();
	return some;
}

/* Fibers yield nowhere else, so these are atomic among them; __atomic is for a producer in another thread. */
template <typename T> static inline T atomicAdd(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = old + x;
	return old;
}
template <typename T> static inline T atomicMin(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = x < old ? x : old;
	return old;
}
template <typename T> static inline T atomicMax(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = x > old ? x : old;
	return old;
}
template <typename T> static inline T atomicOr(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = old | x;
	return old;
}
template <typename T> static inline T atomicAnd(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = old & x;
	return old;
}
template <typename T> static inline T atomicExch(T *at, T x)
{
	cpu_preempt();
	T old = *at;

	*at = x;
	return old;
}
template <typename T> static inline T atomicCAS(T *at, T compare, T x)
{
	cpu_preempt();
	T old = *at;

	*at = old == compare ? x : old;
	return old;
}

static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __uint_as_float(unsigned x) { return cpu_value<float>(x); }
static inline unsigned __float_as_uint(float x) { return (unsigned)cpu_bits(x); }
static inline double __longlong_as_double(long long x) { return cpu_value<double>((uint64_t)x); }
static inline long long __double_as_longlong(double x) { return (long long)cpu_bits(x); }
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
	return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }

/* A kernel as the driver calls it, with the addresses of its arguments. */
template <typename... A, size_t... I>
static inline void cpu_call(void (*f)(A...), void **params, std::index_sequence<I...>)
{
	f(*(A *)params[I]...);
}
template <auto F> struct cpu_thunk;
template <typename... A, void (*F)(A...)> struct cpu_thunk<F> {
	static void run(void **params)
	{
		cpu_call(F, params, std::index_sequence_for<A...>());
	}
};

extern "C" {
typedef void (*cpu_kernel)(void **params);
/* NULL if no kernel has this name. */
cpu_kernel cpu_kernel_find(const char *name);
void cpu_kernel_run(cpu_kernel kernel, unsigned blocks, unsigned threads, void **params);
}

#endif
