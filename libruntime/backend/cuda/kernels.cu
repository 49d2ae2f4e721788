// SPDX-License-Identifier: MIT
/* All kernels, in one module. */
#include "common.cuh"
#include "coded.cuh"
#include "bfs.cuh"
#include "components.cuh"
#include "emogi.cuh"
#include "link.cuh"
#include "pagerank.cuh"
#include "sssp.cuh"
