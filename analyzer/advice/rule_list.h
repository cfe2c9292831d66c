// SPDX-License-Identifier: Apache-2.0
//
// All rules, each with its file and its function. CMake takes the sources from here.
#pragma once

// clang-format off
#define PENSTOCK_RULES(X) \
  X(allocator_page_faults, AllocatorPageFaults) \
  X(cold_cache, ColdCache) \
  X(collate_slow, CollateSlow) \
  X(compute_bound, ComputeBound) \
  X(connection_not_reused, ConnectionNotReused) \
  X(copies_not_overlapped, CopiesNotOverlapped) \
  X(cpu_oversubscribed, CpuOversubscribed) \
  X(cpu_quota_or_affinity, CpuQuotaOrAffinity) \
  X(cpu_saturated, CpuSaturated) \
  X(decode_larger_than_needed, DecodeLargerThanNeeded) \
  X(decodes_more_frames_than_used, DecodesMoreFramesThanUsed) \
  X(fits_in_ram, FitsInRam) \
  X(hot_python_loop, HotPythonLoop) \
  X(idle_workers, IdleWorkers) \
  X(kernel_launch_bound, KernelLaunchBound) \
  X(move_augment_to_gpu, MoveAugmentToGpu) \
  X(move_decode_to_gpu, MoveDecodeToGpu) \
  X(no_worker_processes, NoWorkerProcesses) \
  X(normalize_on_cpu, NormalizeOnCpu) \
  X(pageable_copies, PageableCopies) \
  X(pin_thread_behind, PinThreadBehind) \
  X(prefetch_too_shallow, PrefetchTooShallow) \
  X(preprocessing_on_busy_gpu, PreprocessingOnBusyGpu) \
  X(rank_imbalance, RankImbalance) \
  X(ranks_exceed_host, RanksExceedHost) \
  X(repeated_work, RepeatedWork) \
  X(serialised_reads, SerialisedReads) \
  X(shared_memory_too_small, SharedMemoryTooSmall) \
  X(slow_call, SlowCall) \
  X(slow_decoder, SlowDecoder) \
  X(slow_first_batch, SlowFirstBatch) \
  X(slow_samples, SlowSamples) \
  X(slow_storage, SlowStorage) \
  X(slow_worker_start, SlowWorkerStart) \
  X(small_files, SmallFiles) \
  X(stragglers, Stragglers) \
  X(too_few_workers, TooFewWorkers) \
  X(too_many_descriptors, TooManyDescriptors) \
  X(too_many_workers, TooManyWorkers) \
  X(trainer_starved, TrainerStarved) \
  X(transfer_ceiling, TransferCeiling) \
  X(transforms_in_the_loop, TransformsInTheLoop) \
  X(wide_labels, WideLabels) \
  X(worker_memory_copied, WorkerMemoryCopied) \
  X(worker_memory_growth, WorkerMemoryGrowth) \
  X(worker_memory_leak, WorkerMemoryLeak) \
  X(workers_restart_each_epoch, WorkersRestartEachEpoch)
// clang-format on
