# SPDX-License-Identifier: Apache-2.0
"""The same classifier as train_torchvision.py, with the fast loader: train_penstock.py DATA [EPOCHS]"""
import sys
import time

import penstock
import torch

DATA, EPOCHS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2

torch.manual_seed(0)
loader = penstock.Loader(DATA, batch=32, workers=2, output="f32", ops="random_resized_crop=64,flip,normalize")
network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 5, stride=4), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, len(loader.classes)))
optimizer = torch.optim.Adam(network.parameters(), 1e-2)
for epoch in range(EPOCHS):
    loader.set_epoch(epoch)
    begin, seen, right = time.perf_counter(), 0, 0
    for images, labels in loader:
        scores = network(images)
        loss = torch.nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(labels)
        right += int((scores.argmax(1) == labels).sum())
    print("epoch %d: %.0f images/s, accuracy %.2f" % (epoch, seen / (time.perf_counter() - begin), right / seen))
