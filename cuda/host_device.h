// SPDX-License-Identifier: Apache-2.0
//
// Marks functions that are compiled for device and CPU from the same source, so that tests without
// a GPU run the same arithmetic and indexing as the kernels. Such functions use only plain C++: no
// library call that the device lacks, and no CUDA type.
#pragma once

#ifdef __CUDACC__
#define PENSTOCK_HD __host__ __device__ inline
#else
#define PENSTOCK_HD inline
#endif
