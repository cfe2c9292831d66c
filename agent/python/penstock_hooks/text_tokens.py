# SPDX-License-Identifier: Apache-2.0
"""Libraries that turn text into tokens: their calls are `tokenize`. Hugging Face tokenizers and transformers,
SentencePiece, tiktoken.

If a library divides a batch among threads of its own, one span is recorded for the call, and none in these threads.
"""
import os
import threading

from penstock_hooks import wire
from penstock_hooks.wrapping import replace, spanned

_SENTENCEPIECE = ("encode", "Encode", "encode_as_ids", "EncodeAsIds", "encode_as_pieces", "EncodeAsPieces",
                  "sample_encode_as_ids", "SampleEncodeAsIds", "sample_encode_as_pieces",
                  "SampleEncodeAsPieces", "tokenize", "Tokenize")  # fmt: skip
# Module -> (class, label that is put before the names, names of the class's methods).
_NAMES = {
    "tokenizers.tokenizers": ("Tokenizer", "tokenizers.", ("encode", "encode_batch", "encode_batch_fast")),
    "transformers.tokenization_utils_base": (
        "PreTrainedTokenizerBase", "transformers.", ("__call__", "encode", "encode_plus", "batch_encode_plus"),
    ),
    "sentencepiece": ("SentencePieceProcessor", "sentencepiece.", _SENTENCEPIECE),
}  # fmt: skip
_TIKTOKEN = ("encode", "encode_ordinary", "encode_to_numpy", "encode_with_unstable")
_TIKTOKEN_BATCHES = ("encode_batch", "encode_ordinary_batch")

# One element for each call of _TIKTOKEN_BATCHES that is running, in any thread. A list, because adding and removing
# an element needs no lock.
_batches = []
os.register_at_fork(after_in_child=_batches.clear)  # the threads that made these calls do not exist in the child


def _single(label):
    """Wraps a call of tiktoken for a single text. tiktoken's batch calls make the same calls in a thread pool; the
    calls in the pool get no span."""

    def make(original):
        traced = spanned(wire.TOKENIZE, label)(original)

        def encode(*args, **kwargs):
            of_batch = _batches and threading.current_thread().name.startswith("ThreadPoolExecutor")
            return (original if of_batch else traced)(*args, **kwargs)

        return encode

    return make


def _batched(label):
    """Wraps a call of tiktoken for a batch of texts."""

    def make(original):
        def encode(*args, **kwargs):
            _batches.append(None)
            try:
                return original(*args, **kwargs)
            finally:
                if _batches:  # empty in a child that was forked inside this call
                    _batches.pop()

        return spanned(wire.TOKENIZE, label)(encode)

    return make


def patch(module):
    if module.__name__ == "tiktoken.core":
        for names, make in ((_TIKTOKEN, _single), (_TIKTOKEN_BATCHES, _batched)):
            for name in names:
                replace(module.Encoding, name, make("tiktoken." + name))
        return
    owner, prefix, names = _NAMES[module.__name__]
    kind = getattr(module, owner)
    for name in names:
        if name in vars(kind):
            shown = "call" if name == "__call__" else name
            replace(kind, name, spanned(wire.TOKENIZE, prefix + shown))
