// SPDX-License-Identifier: Apache-2.0
//
// Marks functions that the device and the CPU compile from one text, so that tests on a machine
// without a GPU run the very arithmetic and indexing of the kernels. Such functions use plain C++
// alone: no library call that the device lacks, no CUDA type.
#pragma once

#ifdef __CUDACC__
#define PENSTOCK_HD __host__ __device__ inline
#else
#define PENSTOCK_HD inline
#endif
