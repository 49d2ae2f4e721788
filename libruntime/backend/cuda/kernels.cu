// SPDX-License-Identifier: MIT
/* Includes all kernels, compiled as one module. */
#include "common.cuh"
#include "compressed.cuh"
#include "bfs.cuh"
#include "bfs_loop.cuh"
#include "components.cuh"
#include "emogi.cuh"
#include "link.cuh"
#include "pagerank.cuh"
#include "sssp.cuh"
#include "sssp_loop.cuh"
