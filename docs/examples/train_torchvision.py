# SPDX-License-Identifier: Apache-2.0
"""A small classifier with torchvision's loader: train_torchvision.py DATA [EPOCHS]"""
import sys
import time

import torch
import torchvision
from torchvision import transforms

DATA, EPOCHS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2

torch.manual_seed(0)
augment = transforms.Compose([
    transforms.RandomResizedCrop(64),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
])
dataset = torchvision.datasets.ImageFolder(DATA, augment)
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2)
network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 5, stride=4), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, len(dataset.classes)))
optimizer = torch.optim.Adam(network.parameters(), 1e-2)
for epoch in range(EPOCHS):
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
