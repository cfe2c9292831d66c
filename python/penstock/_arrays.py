# SPDX-License-Identifier: Apache-2.0
"""Views of a batch's memory as torch tensors, NumPy arrays or memoryviews, and copies of it on a GPU."""
import collections
import contextlib
import importlib
import importlib.util
import sys

_CODES = {"u8": "B", "f16": "e", "f32": "f"}
_NAMES = {"u8": "uint8", "f16": "float16", "f32": "float32"}


def _shape(samples, facts):
    if facts.channels_first:
        return (samples, 3, facts.height, facts.width)
    return (samples, facts.height, facts.width, 3)


class CopiesToGpu:
    """Copies tensors to a GPU without waiting for the copy. Holds the batch's memory until the copy is over, so that
    the memory is not used again before. PyTorch itself holds only memory that it has allocated.

    stream: a function that returns the stream on which PyTorch copies.
    """

    MOST = 8  # copies under way; one more first waits for the oldest, so that a slow GPU does not fill the memory

    def __init__(self, device, stream):
        self._device, self._stream = device, stream
        self._under_way = collections.deque()  # (event, memory), the oldest first

    def __call__(self, memory, tensors):
        under_way = self._under_way
        while under_way and under_way[0][0].query():
            under_way.popleft()
        if len(under_way) == self.MOST:
            under_way.popleft()[0].synchronize()
        copies = tuple(tensor.to(self._device, non_blocking=True) for tensor in tensors)
        under_way.append((self._stream().record_event(), memory))
        return copies

    def __del__(self):
        for event, _ in self._under_way:
            with contextlib.suppress(RuntimeError):  # CUDA may be shut down already, and all copies with it
                event.synchronize()


def _torch_maker(output, device):
    torch = importlib.import_module("torch")
    if not hasattr(torch, "frombuffer"):
        raise ValueError("this PyTorch (%s) is too old: 1.10 or newer" % torch.__version__)
    kind, frombuffer, int64 = getattr(torch, _NAMES[output]), torch.frombuffer, torch.int64
    if device != "cpu":
        if not torch.cuda.is_available():
            raise ValueError(
                "device=%r: PyTorch sees no GPU here (torch.cuda.is_available() is False); device=\"cpu\" works "
                "everywhere" % device
            )
        device = torch.device(device)
        copies = CopiesToGpu(device, lambda: torch.cuda.current_stream(device))

    def make(block, samples, facts):
        shape = _shape(samples, facts)
        images = frombuffer(block, dtype=kind, count=samples * 3 * facts.height * facts.width).view(shape)
        labels = frombuffer(block, dtype=int64, count=samples, offset=facts.labels_offset)
        if device == "cpu":
            return images, labels
        if not facts.pinned:
            return images.to(device), labels.to(device)
        return copies(block, (images, labels))

    return make


def _numpy_maker(output, _device):
    numpy = importlib.import_module("numpy")
    kind, frombuffer, int64 = numpy.dtype(_NAMES[output]), numpy.frombuffer, numpy.dtype("int64")

    def make(block, samples, facts):
        images = frombuffer(block, dtype=kind, count=samples * 3 * facts.height * facts.width)
        labels = frombuffer(block, dtype=int64, count=samples, offset=facts.labels_offset)
        return images.reshape(_shape(samples, facts)), labels

    return make


def _memoryview_maker(output, _device):
    code = _CODES[output]
    if code == "e" and sys.version_info < (3, 12):
        raise ValueError(
            'output="f16" without PyTorch and NumPy needs Python 3.12: install numpy (pip install numpy), or use '
            'output="f32" or "u8"'
        )

    def make(block, samples, facts):
        view = memoryview(block).cast("B")
        size = samples * 3 * facts.height * facts.width * facts.element_bytes
        begin = facts.labels_offset
        images = view[:size].cast(code, shape=_shape(samples, facts))
        return images, view[begin : begin + samples * 8].cast("q")

    return make


_MAKERS = {"torch": _torch_maker, "numpy": _numpy_maker, "memoryview": _memoryview_maker}


def pin_of(device):
    """Whether batches are to be page-locked, and the number of the GPU that they go to."""
    if device == "cpu":
        return False, 0
    torch = importlib.import_module("torch")
    index = torch.device(device).index
    return True, torch.cuda.current_device() if index is None else index


def maker_of(arrays, output, device):
    """(function(block, samples, facts) that returns images and labels, kind of the arrays)."""
    if output not in _NAMES:
        raise ValueError('output=%r: there is "u8", "f16" and "f32"' % output)
    known = isinstance(device, str) and (device in ("cpu", "cuda") or (device[:5] == "cuda:" and device[5:].isdigit()))
    if not known:  # also a torch.device
        raise ValueError('device=%r: there is "cpu", "cuda" and "cuda:NUMBER"' % device)
    if arrays is None:
        arrays = next((one for one in ("torch", "numpy") if importlib.util.find_spec(one)), "memoryview")
    if arrays not in _MAKERS:
        raise ValueError('arrays=%r: there is "torch", "numpy" and "memoryview"' % arrays)
    if device != "cpu" and arrays != "torch":
        raise ValueError('device=%r needs PyTorch (arrays="torch"), which copies the batches there' % device)
    return _MAKERS[arrays](output, device), arrays
