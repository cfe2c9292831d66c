# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training over gloo: every rank loads its shard and waits in DistributedDataParallel.

A process takes its rank from the variables of torchrun, Open MPI or Slurm. With --slow, one rank's samples
take longer. Each process prints "done RANK" at its end.
"""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
from PIL import Image
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--batches", type=int, default=24, help="of each rank in an epoch")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--slow", type=int, default=-1, help="the rank whose samples take --delay more")
    parser.add_argument("--delay", type=float, default=0.02, help="seconds")
    parser.add_argument("--step", type=float, default=0.02, help="seconds that each step sleeps in addition")
    parser.add_argument("--spawn", type=int, default=0, help="start this many ranks itself, without a launcher's variables")
    return parser.parse_args()


def variable(*names):
    for name in names:
        if name in os.environ:
            return int(os.environ[name])
    sys.exit("no rank: none of %s is set" % ", ".join(names))


class Pictures(Dataset):
    def __init__(self, options, rank, world):
        names = sorted(name for name in os.listdir(options.data) if name.endswith(".jpg"))
        self.paths = [os.path.join(options.data, name) for name in names]
        self.length = options.batches * options.batch * world
        self.delay = options.delay if rank == options.slow else 0

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        picture = Image.open(self.paths[index % len(self.paths)]).convert("RGB").resize((32, 32))
        if self.delay:
            time.sleep(self.delay)
        return torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8).float() / 255


def train(rank, world, options):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(32 * 32 * 3, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = Pictures(options, rank, world)
    sampler = DistributedSampler(data, world, rank, shuffle=False)
    loader = DataLoader(data, batch_size=options.batch, sampler=sampler, num_workers=options.workers)
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            time.sleep(options.step)
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
    dist.barrier()
    dist.destroy_process_group()
    print("done %d" % rank, flush=True)


def main():
    options = parse()
    torch.set_num_threads(1)
    if options.spawn:
        torch.multiprocessing.spawn(train, args=(options.spawn, options), nprocs=options.spawn)
        return
    rank = variable("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
    world = variable("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")
    train(rank, world, options)


if __name__ == "__main__":
    main()
