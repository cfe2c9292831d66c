# SPDX-License-Identifier: Apache-2.0
"""Numbers of stages and events as in traces/wire_records.h, and of roles as in traces/wire.h."""
READ, DECODE, AUGMENT, SAMPLE, COLLATE, FETCH, PUT, GET, PIN = range(1, 10)
WAIT, IDLE, H2D, KERNEL, STEP, STARTUP, MARK, SYNC = range(10, 18)
TOKENIZE = 21

INDEX_SENT, INDEX_RECEIVED, BATCH_PUT, BATCH_GOT, BATCH_DELIVERED, NEXT_ENTERED = range(1, 7)
EPOCH_START, EPOCH_END, MAJOR_FAULTS, WORKER_START, WORKER_END, QUEUE_DEPTH, DIGEST = range(7, 14)

CONSUMER, WORKER = 1, 2
