# SPDX-License-Identifier: Apache-2.0
"""Tests the digests of samples, and the fact that says whether an iterable dataset asks for its shard."""
import unittest

import harness

PRELUDE = """
import random, sys
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision import transforms as T

def picture(index):
    return Image.fromarray(np.random.RandomState(index).randint(0, 255, (40, 50, 3), np.uint8))

class Pictures(Dataset):
    def __init__(self, *chain, count=24):
        self.chain, self.count = T.Compose(chain), count
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        return self.chain(picture(index)), index % 3

def epochs(data, count=2, **options):
    for _ in range(count):
        for batch in DataLoader(data, batch_size=4, shuffle=True, **options):
            pass
"""


def run(code, **options):
    return harness.run(PRELUDE + code, **options)


def hash_of(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value & 0xFFFFFFFF


class DigestTest(unittest.TestCase):
    def check(self, result):
        self.assertEqual((result.status, result.err), (0, ""))
        return result

    def chains(self, result, names=()):
        """Returns [(epoch, index, [(name, digest), ..., ("", digest)]), ...]: for each sample the digest after each
        transform, and at the end that of the sample itself."""
        known = {hash_of(name): name for name in names}
        known[0] = ""
        open_chains, found = {}, []
        for record in result.events("digest"):
            value = record["value"] & 0xFFFFFFFFFFFFFFFF
            place = record["pid"], record["thread"]
            chain = open_chains.setdefault(place, [])
            chain.append((known[value & 0xFFFFFFFF], value >> 32))
            if not chain[-1][0]:
                found.append((record["generation"], record["batch"], open_chains.pop(place)))
        self.assertEqual(open_chains, {})
        return found

    def outcomes(self, chains):
        """Returns for each place in the chain (name, whether the digest of each sample was the same in all epochs)."""
        first, same = {}, {}
        for _, index, chain in chains:
            for place, (name, digest) in enumerate(chain):
                self.assertTrue(digest)
                before = first.setdefault((index, place), digest)
                same[place, name] = same.get((place, name), True) and before == digest
        return [(name, same[place, name]) for place, name in sorted(same)]

    def test_a_prefix_is_told_from_what_is_random(self):
        names = ("Resize", "RandomCrop", "ToTensor")
        for options in ("", ", num_workers=2", ", num_workers=2, multiprocessing_context='spawn'"):
            result = self.check(
                run(
                    "if __name__ == '__main__':\n"
                    "    epochs(Pictures(T.Resize(32), T.RandomCrop(20), T.ToTensor())%s)\n" % options
                )
            )
            chains = self.chains(result, names)
            self.assertEqual(
                self.outcomes(chains),
                [("Resize", True), ("RandomCrop", False), ("ToTensor", False), ("", False)],
            )
            self.assertEqual({epoch for epoch, _, _ in chains}, {1, 2})
            chosen = [{index for epoch, index, _ in chains if epoch == wanted} for wanted in (1, 2)]
            # Without workers, the second epoch chooses the same samples, or fewer if writing to files took long.
            if "workers" not in options:
                self.assertGreaterEqual(chosen[0], chosen[1])
            self.assertGreaterEqual(len(chosen[0] & chosen[1]), 3)

    def test_nothing_random_is_the_same_in_other_processes(self):
        chains = self.chains(
            self.check(run("epochs(Pictures(T.CenterCrop(20), T.ToTensor()), 3, num_workers=2)\n")),
            ("CenterCrop", "ToTensor"),
        )
        self.assertEqual(self.outcomes(chains), [("CenterCrop", True), ("ToTensor", True), ("", True)])

    def test_random_numbers_are_those_of_a_run_without_hooks(self):
        code = """
class Noisy(Pictures):
    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return image + torch.rand(1), random.random() + np.random.rand()
torch.manual_seed(1); random.seed(1); np.random.seed(1)
for image, value in DataLoader(Noisy(T.RandomCrop(20), T.ToTensor()), batch_size=4, shuffle=True):
    print(image.sum().item(), value.tolist())
"""
        self.assertEqual(self.check(run(code)).out, run(code, hooks=False).out)

    def test_the_sample_stays_as_it_was(self):
        self.check(
            run(
                """
class Tensors(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index): return torch.full((3, 100), float(index))
def collate(samples):
    for sample in samples:
        sample.resize_(400)  # numpy() of it would forbid that
        assert sys.getrefcount(sample) == 3, sys.getrefcount(sample)
    return torch.stack(samples)
epochs(Tensors(), collate_fn=collate)
"""
            )
        )

    def test_pictures_that_are_not_decoded_stay_so(self):
        result = self.check(
            run(
                """
import io
file = io.BytesIO()
picture(1).save(file, "PNG")
class Lazy(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index): return Image.open(io.BytesIO(file.getvalue()))
def collate(samples):
    assert all(sample.tile for sample in samples)
    return samples
epochs(Lazy(), collate_fn=collate)
"""
            )
        )
        self.assertEqual({chain[-1][1] for _, _, chain in self.chains(result)}, {0})

    def test_a_tensor_whose_memory_was_freed_has_no_digest(self):
        result = self.check(
            run(
                """
class Freed(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        tensor = torch.ones(20, 30)
        turned = tensor.t()
        if hasattr(tensor, "untyped_storage"):
            tensor.untyped_storage().resize_(0)
        else:
            tensor.storage().resize_(0)
        return tensor if index % 2 else turned
epochs(Freed(), collate_fn=len)
"""
            )
        )
        self.assertEqual({chain[-1][1] for _, _, chain in self.chains(result)}, {0})

    def test_a_quantized_tensor_has_no_digest(self):
        """The memory of a quantized tensor is smaller than the number and size of its elements say."""
        result = run(
            """
import warnings
warnings.simplefilter("ignore")
class Quantized(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index): return torch.quantize_per_tensor(torch.ones(4, 5), 0.5, 0, torch.quint8)
epochs(Quantized(), collate_fn=len)
"""
        )
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual({chain[-1][1] for _, _, chain in self.chains(result)}, {0})

    def test_code_of_the_program_is_not_called(self):
        result = self.check(
            run(
                """
class Own:
    def __getattribute__(self, name): raise SystemExit("asked for " + name)
    def __eq__(self, other): raise SystemExit("compared")
    __hash__ = __len__ = __iter__ = __eq__
class List(list):
    def __iter__(self): raise SystemExit("iterated")
    __len__ = __getitem__ = __iter__
class Data(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index): return [Own(), List(), torch.nn.Parameter(torch.ones(2))][index % 3]
epochs(Data(), collate_fn=id)
"""
            )
        )
        self.assertEqual({chain[-1][1] for _, _, chain in self.chains(result)}, {0})

    def test_datasets_that_make_whole_batches(self):
        result = self.check(
            run(
                """
class Batched(Pictures):
    def __getitems__(self, indices):
        return [self[index] for index in indices]
data = Batched(T.ToTensor())
fetcher = torch.utils.data._utils.fetch._MapDatasetFetcher
sampler = None
epochs(data)
"""
            )
        )
        self.assertEqual({same for _, same in self.outcomes(self.chains(result, ("ToTensor",)))[-1:]}, {True})

    def test_a_sample_that_fails_has_no_digest(self):
        result = self.check(
            run(
                """
class Broken(Pictures):
    def __getitem__(self, index):
        sample = super().__getitem__(index)
        if index == 3: raise KeyError(index)
        return sample
class Patient(Dataset):
    data = Broken(T.ToTensor())
    def __len__(self): return 12
    def __getitem__(self, index):
        try: return self.data[index]
        except KeyError: return self.data[0]
epochs(Patient())
for sample in range(2):
    try: next(iter(DataLoader(Broken(T.ToTensor()), sampler=[3])))
    except KeyError: pass
"""
            )
        )
        chains = self.chains(result, ("ToTensor",))
        self.assertEqual({epoch for epoch, _, _ in chains}, {1, 2})

    def test_many_samples_have_few_digests(self):
        result = self.check(
            run(
                """
class Numbers(Dataset):
    def __len__(self): return 20000
    def __getitem__(self, index): return index
for batch in DataLoader(Numbers(), batch_size=100): pass
"""
            )
        )
        self.assertLess(len(result.events("digest")), 90)
        self.assertGreater(len(result.events("digest")), 15)


ITERABLE = """
class Stream(IterableDataset):
    def __iter__(self):
        %s
        return iter(range(8))
if __name__ == "__main__":
    epochs = list(DataLoader(Stream(), num_workers=%d))
"""


class ShardTest(unittest.TestCase):
    def shards(self, line, workers):
        result = run(ITERABLE % (line, workers))
        self.assertEqual((result.status, result.err), (0, ""))
        return [r["value"] for r in result.of("fact") if r["key"] == "epoch.1.shards"]

    def test_one_that_asks_for_its_worker(self):
        for line in ("info = get_worker_info()", "info = torch.utils.data.get_worker_info()"):
            self.assertEqual(self.shards(line, 0), ["true"])
            self.assertEqual(self.shards(line, 2), ["true"] * 2)

    def test_one_that_does_not(self):
        self.assertEqual(self.shards("pass", 0), ["false"])
        self.assertEqual(self.shards("pass", 2), ["false"] * 2)

    def test_the_default_collate_does_not_ask_for_the_dataset(self):
        result = run(
            """
class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(8.0).reshape(8, 1))
if __name__ == "__main__":
    loader = DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(2):
        for batch in loader:
            pass
"""
        )
        self.assertEqual((result.status, result.err), (0, ""))
        for epoch in (1, 2):
            told = [r["value"] for r in result.of("fact") if r["key"] == "epoch.%d.shards" % epoch]
            self.assertEqual(told, ["false"] * 2, epoch)


if __name__ == "__main__":
    unittest.main()
