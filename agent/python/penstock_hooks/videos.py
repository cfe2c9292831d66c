# SPDX-License-Identifier: Apache-2.0
"""Video: PyAV, torchcodec, decord, OpenCV's VideoCapture, imageio-ffmpeg. All of it is `decode`.

If a wheel has FFmpeg as shared libraries, the agent's hooks on FFmpeg record opening, demuxing, seeking and decoding,
with a span for each decoded frame. Only the Python hooks know which frames the program takes, so they count the used
frames. Another counter counts the frames that VideoCapture and imageio-ffmpeg decode, since the agent may not see the
FFmpeg of these two.
"""
from penstock_hooks import wire
from penstock_hooks.bridge import begin, counter, end, intern
from penstock_hooks.wrapping import array_bytes, harmless, payload_bytes, replace, spanned, stepped

_DECODED, _USED = intern("video.frames_decoded"), intern("video.frames_used")
_TORCHCODEC = ("__getitem__", "get_frame_at", "get_frames_at", "get_frames_in_range", "get_frame_played_at",
               "get_frames_played_at", "get_frames_played_in_range")  # fmt: skip
_POSITIONS = (0, 1, 2)  # CAP_PROP_POS_MSEC, _FRAMES, _AVI_RATIO


@harmless
def _taken(result):
    """Counts one used frame; returns the bytes of its pixels."""
    counter(_USED, 1)
    return array_bytes(result)


@harmless
def _taken_frames(result):
    """Counts the used frames of an array or tensor, and returns their bytes. The array is `result` or its attribute
    `data`. If it has four dimensions, the length of the first is the number of frames."""
    shape = getattr(getattr(result, "data", result), "shape", None) or getattr(result, "shape", None)
    if shape is None:
        return 0
    counter(_USED, int(shape[0]) if len(shape) == 4 else 1)
    return payload_bytes(getattr(result, "data", result)) or array_bytes(result)


@harmless
def _grabbed(result):
    if result:
        counter(_DECODED, 1)
    return 0


@harmless
def _retrieved(result):
    """Like _taken(), for a pair (True if there was a frame, its picture)."""
    return _taken(result[1]) if result[0] else 0


@harmless
def _read(result):
    if result[0]:
        counter(_DECODED, 1)
    return _retrieved(result)


@harmless
def _piped(item):
    """Like _taken(), for pictures as bytes. The first item is ffmpeg's description of the video, no picture."""
    if type(item) is not bytes:
        return 0
    counter(_DECODED, 1)
    counter(_USED, 1)
    return len(item)


@harmless
def _sound(result):
    return payload_bytes(result.data)


def _seeking(original):
    """For `replace`: puts a span around cv2.VideoCapture.set() where it changes the position."""
    name = intern("cv2.VideoCapture.set")

    def set(self, *args, **kwargs):
        which = args[0] if args else kwargs.get("propId")
        if type(which) is not int or which not in _POSITIONS:
            return original(self, *args, **kwargs)
        token = begin(wire.DECODE, name)
        try:
            return original(self, *args, **kwargs)
        finally:
            end(token)

    return set


def _methods(kind, label, names, size=None):
    for name in names:
        if name in vars(kind):
            replace(kind, name, spanned(wire.DECODE, label + name.strip("_"), size))


def patch(module):
    name = module.__name__
    if name == "cv2":
        capture = getattr(module, "VideoCapture", None)
        if capture is not None:
            _methods(capture, "cv2.VideoCapture.", ("read",), _read)
            _methods(capture, "cv2.VideoCapture.", ("grab",), _grabbed)
            _methods(capture, "cv2.VideoCapture.", ("retrieve",), _retrieved)
            replace(capture, "set", _seeking)
    elif name == "av.video.frame":  # reformat() and to_rgb() make frames too
        _methods(module.VideoFrame, "av.", ("to_ndarray", "to_image"), _taken)
        _methods(module.VideoFrame, "av.", ("reformat", "to_rgb"))
    elif name == "av.audio.frame":
        _methods(module.AudioFrame, "av.audio.", ("to_ndarray",), array_bytes)
    elif name == "decord.video_reader":  # an index seeks and calls next(); a slice calls get_batch()
        _methods(module.VideoReader, "decord.", ("get_batch", "next"), _taken_frames)
        _methods(module.VideoReader, "decord.", ("seek", "seek_accurate", "skip_frames"))
    elif name == "torchcodec.decoders._video_decoder":
        _methods(module.VideoDecoder, "torchcodec.", _TORCHCODEC, _taken_frames)
        _methods(module.VideoDecoder, "torchcodec.", ("get_all_frames",))  # a method above counts the frames
    elif name in ("torchcodec.decoders._audio_decoder", "torchcodec.decoders._wav_decoder"):
        kind = getattr(module, "AudioDecoder", None) or module.WavDecoder
        _methods(kind, "torchcodec.", ("get_all_samples", "get_samples_played_in_range"), _sound)
    elif name == "imageio_ffmpeg._io":
        replace(module, "read_frames", stepped(wire.DECODE, "imageio_ffmpeg.read_frames", _piped))
