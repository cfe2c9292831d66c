# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks on video decoders: the recorded calls, and the count of frames that the program uses. The decoders
are fake packages that have the names of the real ones."""
import collections
import unittest

from fake_packages import PIXELS, Checked, run


def frames(result):
    total = collections.Counter()
    for record in result.of("counter"):
        total[record["name"]] += record["value"]
    return total["video.frames_decoded"], total["video.frames_used"]


class VideoTest(Checked):
    def test_frames_of_a_capture_that_are_handed_out_and_taken(self):
        result = run(
            {
                "cv2.py": PIXELS
                + """
class VideoCapture:
    left = 4
    def grab(self):
        self.left -= 1
        return self.left >= 0
    def retrieve(self, image=None):
        return True, Pixels(4, 5, 3)
    def read(self):
        return (True, Pixels(4, 5, 3)) if self.grab() else (False, None)
    def set(self, propId, value):
        return propId == 1
"""
            },
            """
            import cv2
            capture = cv2.VideoCapture()
            print(capture.set(1, 30.0), capture.set(propId=38, value=3))
            print(capture.read()[0], capture.grab(), capture.grab(), capture.retrieve()[0])
            print(capture.read()[0], capture.read()[0])
            """,
        )
        seen = self.check(result)
        self.assertEqual(seen["decode", "cv2.VideoCapture.set"], 1)
        self.assertEqual(seen["decode", "cv2.VideoCapture.read"], 3)
        self.assertEqual(result.out, "True False\nTrue True True True\nTrue False\n")
        self.assertEqual(frames(result)[1], 3)

    def test_a_frame_is_used_when_its_pixels_are_taken(self):
        result = run(
            {
                "av/video/frame.py": PIXELS
                + """
class VideoFrame:
    def reformat(self, **kwargs):
        return VideoFrame()
    def to_ndarray(self, **kwargs):
        return Pixels(4, 5, 3)
"""
            },
            """
            from av.video.frame import VideoFrame
            for frame in [VideoFrame() for _ in range(9)][::4]:
                print(frame.reformat(format="rgb24").to_ndarray().nbytes)
            """,
        )
        self.assertEqual(self.check(result), {("decode", "av.reformat"): 3, ("decode", "av.to_ndarray"): 3})
        self.assertEqual(frames(result), (0, 3))

    def test_frames_of_a_call_are_counted_one_by_one(self):
        result = run(
            {
                "decord/video_reader.py": PIXELS
                + """
class VideoReader:
    def get_batch(self, indices):
        return Pixels(len(indices), 4, 5, 3)
    def next(self):
        return Pixels(4, 5, 3)
    def seek_accurate(self, index):
        pass
    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.get_batch(range(10)[index])
        self.seek_accurate(index)
        return self.next()
""",
                "torchcodec/decoders/_video_decoder.py": PIXELS
                + """
class Batch:
    def __init__(self, data):
        self.data = data
class VideoDecoder:
    def __getitem__(self, key):
        return Pixels(3, 4, 5)
    def get_frames_at(self, indices):
        return Batch(Pixels(len(indices), 3, 4, 5))
""",
            },
            """
            from decord.video_reader import VideoReader
            from torchcodec.decoders._video_decoder import VideoDecoder
            VideoReader().get_batch([1, 2, 3]), VideoReader()[4], VideoReader()[2:4]
            print(VideoDecoder().get_frames_at([5, 6]).data.shape, VideoDecoder()[7].shape)
            """,
        )
        self.check(result)
        self.assertEqual(frames(result), (0, 3 + 1 + 2 + 2 + 1))
        self.assertEqual(result.out, "(2, 3, 4, 5) (3, 4, 5)\n")


if __name__ == "__main__":
    unittest.main()
