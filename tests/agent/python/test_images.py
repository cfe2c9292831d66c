# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks of Pillow, OpenCV, NumPy, torchvision, albumentations and torch.Tensor."""
import unittest

import harness

PRELUDE = """
import io, sys, copy, pickle, inspect, warnings
import numpy as np
from PIL import Image
def jpeg(width=50, height=40):
    file = io.BytesIO()
    pixels = np.arange(width * height * 3, dtype=np.uint8).reshape(height, width, 3)
    Image.fromarray(pixels).save(file, "JPEG")
    file.seek(0)
    return file
"""


def run(code, **options):
    return harness.run(PRELUDE + code, **options)


def tree(result):
    """Returns (depth, stage, name, bytes) of each span, in the order in which they start."""
    return [(s["depth"], s["stage"], s["name"], s["bytes"]) for s in result.of("span")]


class ImageTest(unittest.TestCase):
    def check(self, result):
        self.assertEqual((result.status, result.err), (0, ""))
        return tree(result)

    def test_pil_decodes_once_and_is_never_made_to(self):
        spans = self.check(
            run(
                """
image = Image.open(jpeg())
print(image.size)
image.close()
image = Image.open(jpeg())
image.load(); image.load()
image.convert("RGB")
image.convert("L").convert("RGB").convert("RGB")
"""
            )
        )
        self.assertEqual(
            spans,
            [(0, "decode", "PIL.open", 0), (0, "decode", "PIL.open", 0), (0, "decode", "PIL.load", 6000),
             (0, "decode", "PIL.convert", 6000), (0, "decode", "PIL.convert", 2000),
             (0, "augment", "PIL.convert", 6000)],
        )  # fmt: skip

    def test_pil_decode_inside_what_asked_for_it(self):
        spans = self.check(
            run("Image.open(jpeg()).convert('L')\nImage.open(jpeg()).resize((10, 10)).transpose(0)\n")
        )
        self.assertEqual(
            spans,
            [(0, "decode", "PIL.open", 0), (0, "decode", "PIL.convert", 2000), (1, "decode", "PIL.load", 6000),
             (0, "decode", "PIL.open", 0), (0, "augment", "PIL.resize", 300), (1, "decode", "PIL.load", 6000),
             (0, "augment", "PIL.transpose", 300)],
        )  # fmt: skip

    def test_pil_webp_frame_and_errors(self):
        result = run(
            """
from PIL import features
file = io.BytesIO()
if features.check("webp"):
    Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(file, "WEBP")
    image = Image.open(io.BytesIO(file.getvalue()))
    image.load(); image.load()
for data in (b"nonsense", jpeg().getvalue()[:700]):
    try:
        Image.open(io.BytesIO(data)).load()
    except Exception as error:
        print(type(error).__name__)
"""
        )
        spans = self.check(result)
        self.assertEqual(len(result.out.split()), 2)
        self.assertLessEqual(sum(name == "PIL.load" and depth == 0 for depth, _, name, _ in spans), 2)
        self.assertEqual([s for s in spans if s[2] == "PIL.open"], [(0, "decode", "PIL.open", 0)] * len(
            [s for s in spans if s[2] == "PIL.open"]))  # fmt: skip

    def test_pil_signatures_copies_and_pickles(self):
        code = """
print(inspect.signature(Image.Image.convert), Image.Image.convert.__name__, Image.open.__doc__[:20])
image = Image.open(jpeg())
twin = pickle.loads(pickle.dumps(image.copy()))
print(type(twin).__name__, twin.tobytes() == image.tobytes(), isinstance(image, Image.Image))
print(np.asarray(image.convert("HSV").rotate(30).crop((1, 1, 9, 9))).sum())
"""
        ours, plain = run(code), run(code, hooks=False)
        self.check(ours)
        self.assertEqual(ours.out, plain.out)

    def test_cv2(self):
        result = run(
            """
try:
    import cv2
except ImportError:
    sys.exit()
data = np.frombuffer(jpeg().getvalue(), np.uint8)
image = cv2.imdecode(data, cv2.IMREAD_COLOR)
small = cv2.cvtColor(cv2.resize(image, (8, 8), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB)
missing = cv2.imread("missing.jpg") if 0 else None
try:
    cv2.resize(image)
except (cv2.error, TypeError) as error:
    pass
print(cv2.resize.__name__, bool(cv2.resize.__doc__), pickle.loads(pickle.dumps(cv2.flip)) is cv2.flip)
"""
        )
        if not result.out:
            self.skipTest("no cv2")
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(result.out.split(), ["resize", "True", "True"])
        self.assertEqual(
            [(stage, name, size) for _, stage, name, size in tree(result)],
            [("decode", "cv2.imdecode", 6000), ("augment", "cv2.resize", 192), ("augment", "cv2.cvtColor", 192),
             ("augment", "cv2.resize", 0)],
        )  # fmt: skip

    def test_numpy_files(self):
        spans = self.check(
            run(
                """
np.save("a.npy", np.zeros((4, 4)))
np.savez("b.npz", x=np.zeros(3), y=np.zeros(5))
np.load("a.npy")
with np.load("b.npz") as archive:
    print(sorted(archive.files), archive["y"].size)
print(type(np.load("a.npy", mmap_mode="r")).__name__, np.fromfile("a.npy", np.uint8).size)
"""
            )
        )
        outer = [(name, size) for depth, _, name, size in spans if depth == 0]
        self.assertEqual(outer[:3], [("numpy.load", 128), ("numpy.load", 0), ("numpy.npz", 40)])
        self.assertEqual(outer[3], ("numpy.load", 0))  # a mapped file is not read yet
        self.assertEqual({stage for _, stage, _, _ in spans}, {"decode"})


class TransformTest(unittest.TestCase):
    def test_named_transforms_are_children_of_compose(self):
        result = run(
            """
import torch
from torchvision import transforms as T
class Mine:
    def __call__(self, image): return image
class Module(torch.nn.Module):
    def forward(self, image): return image
class Crop(T.CenterCrop): pass
chain = T.Compose([T.RandomResizedCrop(16), Crop(8), Mine(), Module(), lambda image: image, T.ToTensor(),
                   torch.nn.Sequential(torch.nn.Identity()), T.RandomApply([T.Normalize(0.0, 1.0)], p=1.0)])
again = pickle.loads(pickle.dumps(T.Compose(chain.transforms[:4])))
print(again(chain.transforms[0](Image.open(jpeg()))).size, chain(Image.open(jpeg())).shape)
"""
        )
        self.assertEqual((result.status, result.err, result.out), (0, "", "(8, 8) torch.Size([3, 8, 8])\n"))
        compose = [s for s in result.spans("augment", name="Compose")][1]
        end = compose["start"] + compose["duration"]
        inner = [s["name"] for s in result.spans("augment", depth=1) if compose["start"] <= s["start"] < end]
        inner = [name for name in inner if not name.startswith("PIL.")]
        self.assertEqual(inner, ["RandomResizedCrop", "Crop", "Mine", "Module", "ToTensor", "RandomApply"])
        self.assertEqual([s["depth"] for s in result.spans("augment", name="Normalize")], [2])

    def test_transforms_stay_what_they_were(self):
        code = """
import torch
from torchvision import transforms as T
warnings.simplefilter("ignore")
class Mine(torch.nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor: return image + 1
T.Compose([Mine()])(torch.zeros(3, 8, 8))
parts = [T.RandomCrop(4), T.RandomHorizontalFlip(), T.Normalize([0.5], [0.5]), T.ColorJitter(0.2), Mine()]
scripted = torch.jit.script(torch.nn.Sequential(*parts))
for image in (torch.rand(1, 8, 8), torch.rand(3, 8, 8)):
    torch.manual_seed(3); a = scripted(image) if image.shape[0] == 3 else None
    torch.manual_seed(3); b = torch.nn.Sequential(*parts)(image)
    print(None if a is None else a.sum().item(), b.sum().item())
chain = T.Compose(parts)
print(chain, copy.deepcopy(chain)(torch.ones(3, 8, 8)).shape, isinstance(chain.transforms[0], T.RandomCrop))
print(inspect.signature(T.Compose.__call__), inspect.signature(T.ToTensor.__call__))
print(T.Compose.__call__.__qualname__)
print(inspect.signature(T.Resize.forward), T.RandomCrop.__call__.__name__)
"""
        ours, plain = run("import torch; torch.manual_seed(0)\n" + code), run(
            "import torch; torch.manual_seed(0)\n" + code, hooks=False
        )
        self.assertEqual((ours.status, ours.err), (0, ""))
        self.assertEqual(ours.out, plain.out)

    def test_fx_takes_a_transform_for_a_module(self):
        code = """
import torch, torch.fx
from torchvision import transforms as T
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = T.Normalize([0.5], [0.5])
    def forward(self, image):
        return self.scale(image)
class Leaves(torch.fx.Tracer):
    def is_leaf_module(self, module, name):
        return True
net = Net()
print(Leaves().trace(net), net(torch.ones(1, 2, 2)).tolist())
"""
        ours, plain = run(code), run(code, hooks=False)
        self.assertEqual((ours.status, ours.err), (0, ""))
        self.assertEqual(ours.out, plain.out)
        self.assertIn("call_module[target=scale]", ours.out)
        self.assertEqual([s["depth"] for s in ours.spans("augment", name="Normalize")][-1:], [0])

    def test_decoders_can_be_scripted_as_before(self):
        code = """
import torch
from torchvision import io as pictures
warnings.simplefilter("ignore")
data = torch.frombuffer(bytearray(jpeg().read()), dtype=torch.uint8)
for name in ("decode_jpeg", "decode_image"):
    try:
        function = torch.jit.script(getattr(pictures, name))
        print(name, function(data).sum().item(), getattr(pictures, name)(data).sum().item())
    except Exception as error:
        print(name, type(error).__name__)
"""
        ours, plain = run(code), run(code, hooks=False)
        self.assertEqual((ours.status, ours.err), (0, ""))
        self.assertEqual(ours.out, plain.out)

    def test_version_2(self):
        result = run(
            """
import torch
try:
    from torchvision.transforms import v2
except ImportError:
    sys.exit()
class Mine:
    def __call__(self, image): return image
class Own(v2.Transform):
    def transform(self, value, params): return value
    _transform = transform
chain = v2.Compose([v2.RandomResizedCrop(8), Mine(), Own(), v2.ToDtype(torch.float32, scale=True)])
chain(torch.zeros(3, 16, 16, dtype=torch.uint8))
norm = v2.Normalize([0.0], [1.0])
compiled = torch.compile(lambda x: norm(x.to(torch.float32)) + x.to("cpu"), backend="eager", fullgraph=True)
print(compiled(torch.ones(3, 4, 4, dtype=torch.uint8)).sum().item())
"""
        )
        if not result.out:
            self.skipTest("no torchvision.transforms.v2")
        self.assertEqual((result.status, result.err, result.out), (0, "", "96.0\n"))
        names = [s["name"] for s in result.spans("augment")]
        self.assertEqual(names, ["Compose", "RandomResizedCrop", "Mine", "Own", "ToDtype"])

    def test_albumentations(self):
        result = run(
            """
try:
    import albumentations as A
except ImportError:
    sys.exit()
class Mine(A.ImageOnlyTransform):
    def apply(self, img, **params): return img
chain = A.Compose([A.RandomCrop(8, 8), A.OneOf([A.HorizontalFlip(p=1), A.VerticalFlip(p=1)], p=1), Mine(p=1)])
print(chain(image=np.zeros((40, 50, 3), np.uint8))["image"].shape)
""",
            env={"NO_ALBUMENTATIONS_UPDATE": "1"},
        )
        if not result.out:
            self.skipTest("no albumentations")
        self.assertEqual((result.status, result.out), (0, "(8, 8, 3)\n"), result.err)
        names = [s["name"] for s in result.spans("augment") if not s["name"].startswith("cv2")]
        self.assertEqual(names[:3], ["Compose", "RandomCrop", "OneOf"])
        self.assertEqual(names[-1], "Mine")


class TensorTest(unittest.TestCase):
    def test_nothing_is_recorded_when_nothing_moves(self):
        result = run(
            """
import torch
x = torch.zeros(4)
assert x.to("cpu") is x and x.to(torch.float32) is x
x.to(torch.float64); x.to("meta"); torch.nn.Linear(2, 2).to(torch.float64)
class Logged(torch.Tensor):
    calls = []
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__ == "to" and func is torch.Tensor.to)
        return super().__torch_function__(func, types, args, kwargs or {})
Logged.calls.clear()
y = torch.zeros(3).as_subclass(Logged).to(torch.float64)
print(type(y).__name__, Logged.calls)
@torch.jit.script
def scripted(t: torch.Tensor) -> torch.Tensor:
    return t.to(torch.int64)
print(scripted(x).dtype, torch.jit.trace(lambda t: t.to(torch.int32), x)(x).dtype)
try:
    x.to("nonsense")
except RuntimeError as error:
    print(str(error)[:20])
"""
        )
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(
            result.out, "Logged [True]\ntorch.int64 torch.int32\nExpected one of cpu,\n"
        )
        self.assertEqual(result.spans("h2d"), [])

    def test_a_copy_to_a_device_is_a_span(self):
        # These machines have no GPU, so the test wraps a method that copies on the host.
        result = run(
            """
import torch
from penstock_hooks import tensor
def copy(self, *args, **kwargs): return self.clone()
to, cuda = tensor._make_to(torch)(copy), tensor._make_cuda(torch)(copy)
x = torch.zeros(8)
to(x, "cuda:0", non_blocking=True); to(x, device=torch.device("xpu")); to(x, 0, torch.float16); cuda(x)
to(x, "cpu"); to(x, torch.float64); to(x, x); to(torch.nn.Parameter(x), "cuda")
to(x.as_subclass(type("Sub", (torch.Tensor,), {})), "cuda")
"""
        )
        self.assertEqual((result.status, result.err), (0, ""))
        spans = [(s["name"], s["bytes"]) for s in result.spans("h2d")]
        self.assertEqual(spans, [("to:" + name, 32) for name in ("cuda", "xpu", "cuda", "cuda", "cuda")])

    def test_a_torch_function_mode_sees_the_programs_call_alone_and_the_copy_is_one_span(self):
        # The test wraps a method that copies on the host. Like PyTorch's own methods, it calls the mode first.
        result = run(
            """
import torch
from torch.overrides import TorchFunctionMode, handle_torch_function
from penstock_hooks import tensor
calls = []
class Seen(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls.append(func.__name__)
        return func(*args, **(kwargs or {}))
def copy(self, *args, **kwargs):
    if torch._C._is_torch_function_mode_enabled():
        return handle_torch_function(to, (self,), self, *args, **kwargs)
    return self.clone()
to = tensor._make_to(torch)(copy)
x = torch.zeros(8)
with Seen():
    to(x, "cuda:0")
print(calls)
"""
        )
        self.assertEqual((result.status, result.out, result.err), (0, "['to']\n", ""))
        self.assertEqual([(s["name"], s["bytes"]) for s in result.spans("h2d")], [("to:cuda", 32)])


if __name__ == "__main__":
    unittest.main()
