/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference loader as a C library, libpenstock_loader.so: for Python (python/penstock, by
 * ctypes) and other callers of C. Nothing here prints, exits, reads the environment or lets an
 * exception out.
 *
 * Threads: one call at a time for each loader, except penstock_loader_interrupt() and
 * penstock_batch_release(), which any thread may call at any moment. In a recording the waits and
 * steps of a loader are right only if the same thread calls penstock_loader_start() and _next().
 * Processes: a loader belongs to the process that opened it. In a forked child every call on it
 * returns PENSTOCK_FORKED or does nothing.
 * Memory: what a call writes to an out parameter is valid until the call that frees it; see below.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a struct or a function changes its meaning. */
#define PENSTOCK_LOADER_ABI 2

enum PenstockStatus {
  PENSTOCK_OK = 0,
  PENSTOCK_END = 1,         /* of the epoch */
  PENSTOCK_WAITING = 2,     /* the time is over; call again */
  PENSTOCK_STOPPED = 3,     /* by penstock_loader_interrupt() */
  PENSTOCK_USAGE = 4,       /* options that are wrong or contradict each other */
  PENSTOCK_ENVIRONMENT = 5, /* memory, threads or an I/O method that are not there */
  PENSTOCK_INPUT = 6,       /* a file; the message names it */
  PENSTOCK_FORKED = 7       /* another process has made this loader */
};

typedef struct PenstockLoader PenstockLoader;

/* A text that is NULL stands for the default in brackets. */
typedef struct PenstockLoaderOptions {
  size_t size;              /* sizeof(PenstockLoaderOptions), as the caller knows it */
  const char* ops;          /* as `penstock load --ops`; [random_resized_crop=224,flip and, but for
                               u8, normalize] */
  const char* output;       /* "u8", ["f16"] or "f32" */
  const char* layout;       /* "hwc" or ["chw"] */
  const char* io_method;    /* ["buffered"], "direct", "uring" or "mmap" */
  const char* on_error;     /* ["skip"] takes another sample instead; or "fail" */
  const char* index_folder; /* where indexes go [beside the source] */
  uint64_t seed;
  uint64_t rank;
  uint64_t world;        /* at least 1 */
  uint64_t ram_cache;    /* bytes of files to keep in memory, 0: none */
  uint32_t batch;        /* samples, at least 1 */
  uint32_t workers;      /* threads; 0: the caller itself; UINT32_MAX: one for each usable core */
  uint32_t prefetch;     /* batches made ahead, 1 to 100,000 */
  uint32_t read_ahead;   /* reads in flight for each thread, 1 to 4096 */
  double reduce;         /* as `penstock load --reduce`, 1 to 1000; 0: never */
  uint32_t trace_loader; /* its number in a recording of this process */
  uint32_t pin_device;   /* number of the GPU that `pin` is for */
  uint8_t shuffle;
  uint8_t drop_last;
  uint8_t exif;       /* apply the orientation */
  uint8_t lenient;    /* accept damage that libjpeg only warns of */
  uint8_t persistent; /* keep the threads after an epoch, and begin the next one ahead */
  uint8_t geometry;   /* give the geometry of each picture; not with every `ops` */
  uint8_t pin;        /* page-lock the memory of batches, if NVIDIA's driver can: a copy to a GPU
                         then need not wait. Hold a batch until its copy is over. */
} PenstockLoaderOptions;

typedef struct PenstockLoaderFacts {
  size_t size;            /* sizeof(PenstockLoaderFacts), as the caller knows it */
  uint64_t samples;       /* of the source */
  uint64_t classes;       /* labels are below it; 0: not known */
  uint64_t epoch_samples; /* of this rank */
  uint64_t epoch_batches;
  uint64_t batch_bytes;   /* of penstock_loader_next(): pixels, labels, ids and geometry */
  uint64_t labels_offset; /* of the labels in them, int64_t[batch] */
  uint64_t ids_offset;    /* of the ids, uint64_t[batch] */
  uint32_t height;
  uint32_t width;
  uint32_t element_bytes; /* 1: u8, 2: f16, 4: f32 */
  uint32_t channels_first;
  uint32_t workers;
  char kind[16];            /* "folder", "list", "tar" or "packed" */
  uint64_t geometry_offset; /* of the PenstockGeometry[batch]; 0: not asked for */
  uint32_t pinned;          /* 1: batches are page-locked, as far as the system allows it */
} PenstockLoaderFacts;

/* What became of one picture, for masks and boxes that share it. In this order: the crop is resized
 * to `scaled`, a window of the output's size is kept from the result, and the window is flipped.
 * Crop and window may reach outside (padding), where there are zeros. Units: pixels, rows from the
 * top, columns from the left. */
typedef struct PenstockGeometry {
  int32_t height, width; /* of the picture, after the EXIF orientation where that is applied */
  int32_t crop_top, crop_left, crop_height, crop_width; /* of the picture */
  int32_t scaled_height, scaled_width; /* those of the crop where nothing was resized */
  int32_t window_top, window_left;     /* of what was resized */
  int32_t flip_y, flip_x;              /* 1: top and bottom, or left and right, were swapped */
} PenstockGeometry;

/* Shapes: pixels [samples][3][height][width] or [samples][height][width][3], labels [samples], ids
 * [samples] (dataset indices of what the samples were made of) and geometry [samples], all in one
 * piece of memory. */
typedef struct PenstockBatch {
  void* memory; /* begins with the pixels; valid until penstock_batch_release() */
  uint64_t samples;
  uint64_t epoch;
  uint64_t index;      /* of the batch in its epoch; from 0 after a resume too */
  uint64_t next_epoch; /* where to resume after this batch */
  uint64_t next_position;
} PenstockBatch;

/* PENSTOCK_LOADER_ABI of the library. */
int penstock_loader_abi(void);

/* One line about the last call of this thread that returned an error. Valid until the next call of
 * this thread. */
const char* penstock_loader_message(void);

/* Opens a source: one path as `penstock load` takes it, or several tars. Loads nothing yet.
 * `*loader` ends with penstock_loader_close(). Errors: PENSTOCK_USAGE, _ENVIRONMENT, _INPUT. */
int penstock_loader_open(const char* const* sources, size_t count,
                         const PenstockLoaderOptions* options, PenstockLoader** loader);

/* Fills the fields of `facts` that lie within `facts->size` bytes. */
int penstock_loader_facts(const PenstockLoader* loader, PenstockLoaderFacts* facts);

/* Writes the name of a class to `text`, cut to `room` bytes including the final zero. */
int penstock_loader_class(const PenstockLoader* loader, uint64_t label, char* text, size_t room);

/* Writes the place of the sample with that id to `text`, cut as above: the path of its file, or
 * "TAR:MEMBER". */
int penstock_loader_name(const PenstockLoader* loader, uint64_t id, char* text, size_t room);

/* The next penstock_loader_next() gives the batch at `position` (samples of all ranks) of `epoch`,
 * or PENSTOCK_END if this rank has none there. If that batch comes next anyway, the threads go on;
 * else they are started anew. Errors: as penstock_loader_open(). */
int penstock_loader_start(PenstockLoader* loader, uint64_t epoch, uint64_t position);

/* Gives the next batch of the epoch. Waits for `milliseconds` at most. Without threads (workers 0)
 * it makes the batch, however long that takes.
 * A batch belongs to the caller until it is released, even after the loader is closed. Any number
 * may be kept: each costs its memory, and none blocks the loader.
 * Returns PENSTOCK_OK, _END, _WAITING, _STOPPED or an error, after which there is no next batch
 * until penstock_loader_start(). */
int penstock_loader_next(PenstockLoader* loader, uint32_t milliseconds, PenstockBatch* batch);

/* Gives the memory of a batch back. From any thread, also after penstock_loader_close(). */
void penstock_batch_release(void* memory);

/* The number of samples that on_error "skip" has replaced so far, and lines about the first ones,
 * each with the name of the file, separated by line feeds and cut to `room` bytes. */
int penstock_loader_errors(const PenstockLoader* loader, uint64_t* count, char* text, size_t room);

/* Makes later calls of penstock_loader_next() return PENSTOCK_STOPPED until
 * penstock_loader_start(); at the end of an epoch they still return PENSTOCK_END. A call that is
 * under way is not cut short: it returns with its batch, or after its `milliseconds`. */
void penstock_loader_interrupt(PenstockLoader* loader);

/* Stops and joins the threads; penstock_loader_start() starts them again. */
void penstock_loader_stop(PenstockLoader* loader);

/* Stops and joins the threads and frees the loader. Batches stay valid. NULL is allowed. */
void penstock_loader_close(PenstockLoader* loader);

#ifdef __cplusplus
}
#endif
