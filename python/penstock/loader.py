# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader: the reference loader in a training script. docs/python-loader.md shows one."""
import ctypes
import os
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from penstock import marks
from penstock._arrays import maker_of, pin_of
from penstock._loader_arguments import Sources, ranks, whole, workers_here
from penstock._loader_library import END, OK, STOPPED, WAITING, LoaderError, Native, Options, block_class
from penstock.ops import Operation, render
from penstock.targets import Samples, require_numpy

__all__ = ["Loader", "LoaderError"]

Source = Union[str, "os.PathLike[str]", Sequence[Any]]

_PATIENCE = 100  # ms in the library at a time; Python's signal handlers run in between


class Loader:
    """Images and labels in batches, made by threads of this process that do not need the GIL.

        loader = penstock.Loader("train/", batch=64, ops="random_resized_crop=224,flip,normalize")
        for epoch in range(90):
            loader.set_epoch(epoch)
            for images, labels in loader:
                ...

    Each iteration is one epoch. `images` has the shape [samples, 3, height, width] (layout "chw") or [samples,
    height, width, 3] ("hwc"); `labels` has [samples], int64, -1 if a sample has none. Both are views of one piece
    of memory, without a copy. The memory is used again when nobody holds either of them. A program that keeps
    batches keeps their memory; the loader never waits for it.

    Samples and their order depend only on the source, the seed and the options of order and augmentation. Workers,
    batch size, ranks, I/O and the place where a run was resumed change nothing.

    source: a folder with a folder for each class, a folder of images, a list ("path label" lines), a tar (or a
        folder of them, as WebDataset writes them), a packed file; a sequence of tars, or of (path, label) pairs.
    batch: samples in a batch.
    workers: threads; None: one for each core that this process may use (under torchrun, its share of them); 0: the
        caller makes each batch itself.
    ops: the text of `penstock load --ops`, or operations of penstock.ops.
    output: "u8" (0 to 255), "f16" or "f32" (0 to 1, or normalised).
    prefetch: batches made ahead. read_ahead: reads in flight for each thread.
    io: "buffered", "direct", "uring" or "mmap". ram_cache: bytes of files to keep in memory.
    on_error: "skip" puts another sample in the place of one that cannot be made, and counts it in `errors`; "fail"
        raises LoaderError, which names the file.
    exif: apply the orientation. lenient: accept damage that libjpeg only warns of. reduce: decode at a smaller size if
        that still has at least `reduce` times the wanted pixels (`penstock load --reduce`); the pixels then differ.
    rank, world: this process among those that share each epoch; None: as torch.distributed says, else RANK, WORLD_SIZE.
    transform: a function of `images`, called by the thread that iterates; what it returns is delivered. Its time is
        in `transform_seconds`, and a recording shows it as the mark "transform".
    targets: a function of penstock.targets.Samples, called likewise: files, labels and geometry of a batch. What it
        returns is delivered in the place of `labels`: masks, boxes. Its time is in `targets_seconds`, its mark is
        "targets". Needs NumPy, and operations whose geometry can be shared: no rotate, one resize and one more crop at
        most.
    device: "cpu", or "cuda", "cuda:1": PyTorch copies each batch there, from page-locked memory where the driver
        allows it (`pinned`), and the program goes on meanwhile.
    arrays: "torch", "numpy" or "memoryview"; None: the first of them that is installed.
    persistent: keep the threads between epochs and begin the next epoch's first batches ahead.

    One thread iterates at a time. A forked child cannot use the loader. Raises ValueError for options, LoaderError
    for data.
    """

    def __init__(
        self,
        source: Source,
        batch: int = 64,
        workers: Optional[int] = None,
        ops: Union[None, str, Operation, Iterable[Operation]] = None,
        output: str = "f16",
        layout: str = "chw",
        seed: int = 0,
        *,
        shuffle: bool = True,
        drop_last: bool = False,
        prefetch: int = 4,
        read_ahead: int = 1,
        io: str = "buffered",
        ram_cache: int = 0,
        on_error: str = "skip",
        exif: bool = False,
        lenient: bool = False,
        reduce: float = 0.0,
        index_folder: Union[None, str, "os.PathLike[str]"] = None,
        rank: Optional[int] = None,
        world: Optional[int] = None,
        transform: Optional[Callable[[Any], Any]] = None,
        targets: Optional[Callable[[Samples], Any]] = None,
        device: str = "cpu",
        arrays: Optional[str] = None,
        persistent: bool = True,
    ) -> None:
        self._make, self.arrays = maker_of(arrays, output, device)
        if targets is not None:
            require_numpy()
        pin, pin_device = pin_of(device)
        rank, world = ranks(rank, world)
        text = render(ops)
        options = Options(
            ops=None if text is None else text.encode(),
            output=output.encode(),
            layout=layout.encode(),
            io_method=io.encode(),
            on_error=on_error.encode(),
            seed=whole("seed", seed),
            rank=rank,
            world=world,
            ram_cache=whole("ram_cache", ram_cache),
            batch=whole("batch", batch, 32),
            workers=workers_here() if workers is None else whole("workers", workers, 32),
            prefetch=whole("prefetch", prefetch, 32, 1),
            read_ahead=whole("read_ahead", read_ahead, 32, 1),
            reduce=reduce,
            trace_loader=marks.loader_number(self),
            shuffle=shuffle,
            drop_last=drop_last,
            exif=exif,
            lenient=lenient,
            persistent=persistent,
            geometry=targets is not None,
            pin=pin,
            pin_device=pin_device,
        )
        options.size = ctypes.sizeof(options)
        with Sources(source) as (paths, folder):
            where = folder if index_folder is None else index_folder
            options.index_folder = None if where is None else os.fsencode(where)
            self._native = native = Native(paths, options)
        # A method of this object would keep the object alive, so this is a method of `native`. It also
        # runs when the interpreter ends.
        self._finalizer = weakref.finalize(self, native.close)
        facts = native.facts()
        self._facts = facts
        self._block = block_class(native.lib, facts.batch_bytes)
        self._seed = seed
        self._plan = (0, 0)  # epoch and position of the next iteration
        self._at = (0, 0)  # where to resume after the last batch delivered
        self._iteration = 0
        self._iterating = False
        self._begun: Optional[Tuple[int, int]] = None  # begin of an iteration that has delivered nothing yet
        self._classes: Optional[List[str]] = None
        self._transform = transform
        self.transform_seconds = 0.0
        self._targets = targets
        self.targets_seconds = 0.0
        marks.tell_loader(options.trace_loader)

    # Iteration.

    def __len__(self) -> int:
        """Number of batches in a whole epoch of this rank."""
        return self._facts.epoch_batches

    def __iter__(self) -> Iterator[Tuple[Any, Any]]:
        native = self._native
        native.require()
        with native.lock:
            self._give_back()
            native.drop()
            self._iteration += 1
            epoch, position = self._plan
            if self._facts.epoch_batches > 0:
                native.check(native.lib.penstock_loader_start(native.handle, epoch, position))
            self._at = self._begun = (epoch, position)
            self._plan = (epoch + 1, 0)
            self._iterating = True
            return _Iteration(self, self._iteration)

    def _next(self, number):
        native = self._native
        native.require()
        while True:
            with native.lock:
                if number != self._iteration:
                    raise LoaderError("another iteration over this loader has begun, which ends this one")
                native.require()
                if not self._iterating:
                    raise StopIteration
                status = native.next(_PATIENCE)
                if status == OK:
                    batch = native.batch
                    memory = native.take()
                    block = self._block.from_address(memory)
                    block.memory = memory
                    samples = batch.samples
                    self._at = (batch.next_epoch, batch.next_position)
                    self._begun = None
                    break
                if status != WAITING:
                    self._iterating = False
                    if status == END:
                        self._at = self._plan
                        raise StopIteration
                    if status == STOPPED:
                        raise LoaderError("the loader was closed")
                    native.check(status)
        images, labels = self._make(block, samples, self._facts)
        if self._transform is not None:
            begin = marks.clock()
            with marks.mark("transform"):
                images = self._transform(images)
            self.transform_seconds += marks.clock() - begin
        if self._targets is not None:
            begin = marks.clock()
            with marks.mark("targets"):
                labels = self._targets(Samples.of_batch(block, samples, self._facts, self._names))
            self.targets_seconds += marks.clock() - begin
        return images, labels

    def _leave(self, number):
        """To be called when an iterator is gone. If it was not at its end, the threads stop, since nobody will take
        their batches."""
        if number == self._iteration and self._iterating:
            self._give_back()
            self._iterating = False
            self._native.stop()

    def _give_back(self):
        """Sets the plan back to where the iterator began if it was never asked for a batch, so that no epoch is used
        up. Lightning makes such an iterator to see whether a loader can iterate."""
        if self._iterating and self._begun is not None:
            self._plan = self._at = self._begun

    # Epoch and position.

    @property
    def epoch(self) -> int:
        """The epoch of the present iteration, or of the last one."""
        return max(self._plan[0] - 1, 0) if self._iteration else self._plan[0]

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration use the order and the augmentation of this epoch. Without this call epochs count
        from 0. After load_state_dict() with the same epoch, the iteration continues at the position of that state."""
        epoch = whole("epoch", epoch)
        self._begun = None  # from here on _give_back() must not change the plan
        if self._plan[0] != epoch:
            self._plan = (epoch, 0)
            if not self._iterating:
                self._at = self._plan

    def state_dict(self) -> Dict[str, int]:
        """Where to continue after the batch that was delivered last, for load_state_dict(). The other loader must have
        the same source, seed and order, but may have other workers, batch size and number of ranks. The position
        counts samples of all ranks."""
        epoch, position = self._at
        return {"version": 1, "epoch": epoch, "position": position, "seed": self._seed, "samples": self.samples}

    def load_state_dict(self, state: Dict[str, int]) -> None:
        """Makes the next iteration continue where `state` was taken. Its first batch is the one that would have come
        next there."""
        if state.get("version") != 1:
            raise ValueError("the state is not one of penstock.Loader: %r" % (state,))
        for key, own in (("seed", self._seed), ("samples", self.samples)):
            if state[key] != own:
                raise ValueError("the state is of a loader with %s=%r, this one has %r" % (key, state[key], own))
        self._plan = self._at = (int(state["epoch"]), int(state["position"]))
        if self._iterating:
            self._iteration += 1  # a running iterator then raises instead of giving wrong batches
            self._iterating = False

    # The source and its samples.

    @property
    def samples(self) -> int:
        """Number of samples of the source, for all ranks."""
        return self._facts.samples

    @property
    def kind(self) -> str:
        """ "folder", "list", "tar" or "packed"."""
        return self._facts.kind.decode()

    @property
    def workers(self) -> int:
        return self._facts.workers

    @property
    def pinned(self) -> bool:
        """Whether batches lie in page-locked memory, from which a GPU copies while the program goes on."""
        return bool(self._facts.pinned)

    @property
    def classes(self) -> List[str]:
        """Names by label: those of the folders, or the numbers as text if the source has no names; [] if labels
        are not numbers from 0 on."""
        if self._classes is None:
            self._native.require()
            with self._native.lock:
                self._classes = [self._native.class_name(i) for i in range(self._facts.classes)]
        return list(self._classes)

    @property
    def class_to_idx(self) -> Dict[str, int]:
        """Labels by name, as torchvision's datasets have it."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def errors(self) -> int:
        """Number of samples replaced so far, including those made ahead."""
        return self._errors()[0]

    @property
    def error_messages(self) -> List[str]:
        """Messages about the first samples that were replaced, each with the name of the sample's file."""
        return self._errors()[1]

    def _names(self, ids):
        self._native.require()
        with self._native.lock:
            return self._native.sample_names(ids)

    def _errors(self):
        self._native.require()
        with self._native.lock:
            return self._native.errors()

    # Its end.

    def close(self) -> None:
        """Stops the threads and closes the files. Batches that somebody holds stay valid."""
        self._finalizer()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a Loader has threads and cannot be pickled; make one in each process")

    def __repr__(self) -> str:
        return "<penstock.Loader %s of %d samples, %d batches of an epoch, %d workers>" % (
            self.kind,
            self.samples,
            len(self),
            self.workers,
        )


class _Iteration:
    """Holds the loader, so that `for x in Loader(...)` works, and tells it when nobody will ask for more."""

    __slots__ = ("_loader", "_number", "__weakref__")

    def __init__(self, loader, number):
        self._loader = loader
        self._number = number

    def __iter__(self):
        return self

    def __next__(self):
        return self._loader._next(self._number)

    def __del__(self):
        self._loader._leave(self._number)
