// SPDX-License-Identifier: Apache-2.0
#include "traces/public_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_set>

namespace penstock::traces {
namespace {

// Lists of words, separated by blanks.
constexpr std::string_view kPublicLibraries =
    // Data, pictures, media.
    "PIL accelerate aiohttp albucore albumentations audioread av blosc boto3 botocore "
    "cv2 datasets decord diffusers einops fastai fastcore fasttransform ffcv ffmpeg fsspec gcsfs "
    "h5py http httpx huggingface_hub imagecodecs imageio imageio_ffmpeg imgaug joblib kornia "
    "kornia_rs kvikio librosa lmdb matplotlib mmcv mmengine monai msgpack nibabel numba numcodecs "
    "numexpr numpy nvidia nvimgcodec orjson pandas parquet pillow polars psutil pyarrow "
    "pycocotools "
    "pydicom pyvips rasterio requests s3fs safetensors scipy ndimage sentencepiece simplejpeg "
    "skimage sklearn soundfile spdl streaming tensorflow tf tifffile tiktoken timm tokenizers "
    "torch torchaudio torchcodec torchdata torchtext torchvision tqdm transformers turbojpeg ujson "
    "ultralytics urllib3 wandb webdataset wids yaml zarr zstandard penstock penstock_hooks "
    // Training.
    "apex composer deepspeed dali flash_attn horovod jax lightning megatron mpi4py "
    "pytorch_lightning "
    "ray triton xformers "
    // Queues and classes that our hooks name with a method.
    "DataLoader Tensor index_queue result_queue "
    // Namespaces of C++ in the names of kernels.
    "at c10 cub cudf cudnn cutlass cute cv ncclDevKernel std thrust";

// The standard library, as modules of Python and of C, and types whose methods are called.
constexpr std::string_view kStandardModules =
    "_bisect _bz2 _codecs _collections _collections_abc _csv _ctypes _datetime _frozen_importlib "
    "_functools _hashlib _heapq _imaging _io _json _lzma _multiprocessing _operator _pickle "
    "_posixshmem _posixsubprocess _queue _random _socket _sqlite3 _sre _ssl _struct _thread "
    "_warnings _weakref abc argparse array ast asyncio base64 binascii bisect builtins bz2 codecs "
    "collections concurrent contextlib copy copyreg csv ctypes dataclasses datetime decimal email "
    "enum fcntl fnmatch functools gc genericpath glob gzip hashlib heapq html importlib inspect io "
    "itertools json linecache logging lzma marshal math mmap multiprocessing ntpath numbers "
    "operator os pathlib pickle pickletools platform posix posixpath queue random re runpy select "
    "selectors shutil signal site socket sqlite3 sre_compile sre_parse ssl stat statistics string "
    "struct subprocess sys tarfile tempfile threading time tokenize traceback types typing "
    "unicodedata "
    "unittest urllib uuid warnings weakref xml zipfile zlib "
    "bytearray bytes dict float frozenset int list memoryview object set slice str tuple type";

constexpr std::string_view kPublicWords =
    // Our hooks: calls, parts of names, states.
    "posix pipe poll socket mmap lock file jpeg png webp turbojpeg ffmpeg header frame part close "
    "demux open scale seek wait for the device next end step reset fetch to worker pin_memory read "
    "call collate default_collate default_convert train consumer other process startup "
    "libjpeg_turbo_decoder nvjpeg_decoder libtiff_decoder opencv_decoder op Run MakeContiguous "
    "DALI "
    // Copies and rows of devices.
    "CPU GPU stream H2D D2H D2D P2P HtoD DtoH DtoD Memcpy Memset memcpy memset pageable pinned "
    "managed array Pageable Pinned Device device host Host kernel kernels copies copy sync default "
    // C and C++.
    "void bool char short int long unsigned signed float double const auto half size_t int8_t "
    "int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t template lambda operator false "
    "true "
    // Functions of Python.
    "abs all any bytes callable chr compile dict dir divmod enumerate eval exec filter format "
    "frozenset getattr hasattr hash hex id input isinstance issubclass iter len list map max "
    "memoryview min object oct ord pow print property range repr reversed round set setattr slice "
    "sorted staticmethod str sum super tuple type vars zip module locals listcomp dictcomp setcomp "
    "genexpr "
    // Loaders and data sets of libraries.
    "DataLoader DataLoader2 StatefulDataLoader _BaseDataLoaderIter _SingleProcessDataLoaderIter "
    "_MultiProcessingDataLoaderIter _StatefulSingleProcessDataLoaderIter "
    "_StatefulMultiProcessingDataLoaderIter WebDataset WebLoader Pipeline Prefetcher "
    "ParallelMapper "
    "ThreadPoolExecutor ProcessPoolExecutor Dataset IterableDataset TensorDataset ConcatDataset "
    "ChainDataset StackDataset Subset MapDataPipe IterDataPipe ImageFolder DatasetFolder FakeData "
    "CIFAR10 CIFAR100 MNIST FashionMNIST EMNIST KMNIST SVHN STL10 ImageNet Places365 CelebA "
    "CocoDetection CocoCaptions VOCDetection VOCSegmentation Kinetics UCF101 HMDB51 Flowers102 "
    "Food101 OxfordIIITPet StanfordCars Caltech101 Caltech256 LSUN Cityscapes INaturalist "
    // Transforms of torchvision, albumentations, Kornia.
    "Compose OneOf SomeOf OneOrOther Sequential ImageOnlyTransform DualTransform ToTensor "
    "ToTensorV2 "
    "PILToTensor ToPILImage ToImage ToPureTensor ToDtype ToFloat FromFloat ConvertImageDtype "
    "Normalize Resize CenterCrop RandomCrop RandomResizedCrop RandomSizedCrop FiveCrop TenCrop "
    "Crop "
    "Pad PadIfNeeded Lambda RandomApply RandomChoice RandomOrder RandomHorizontalFlip "
    "RandomVerticalFlip HorizontalFlip VerticalFlip Flip D4 Transpose RandomRotate90 Rotate "
    "RandomRotation RandomAffine Affine Perspective RandomPerspective ShiftScaleRotate "
    "SafeRotate ElasticTransform GridDistortion OpticalDistortion ColorJitter Grayscale "
    "RandomGrayscale ToGray ToSepia RandomPhotometricDistort RandomZoomOut RandomIoUCrop "
    "ScaleJitter RandomShortestSize RandomResize SmallestMaxSize LongestMaxSize RandomScale "
    "RandomErasing CoarseDropout Cutout GridDropout GaussianBlur GaussianNoise GaussNoise Blur "
    "MedianBlur MotionBlur Defocus ZoomBlur Sharpen Emboss CLAHE Equalize RandomEqualize "
    "AutoContrast RandomAutocontrast Posterize RandomPosterize Solarize RandomSolarize InvertImg "
    "RandomInvert RandomAdjustSharpness RandomBrightnessContrast HueSaturationValue RGBShift "
    "RandomGamma RandomFog RandomRain RandomShadow RandomSnow RandomSunFlare ChannelShuffle "
    "ChannelDropout ISONoise ImageCompression JPEG Downscale Superpixels FancyPCA PixelDropout "
    "AutoAugment AutoAugmentPolicy RandAugment TrivialAugmentWide AugMix MixUp CutMix Mosaic "
    "LinearTransformation SanitizeBoundingBoxes ClampBoundingBoxes ConvertBoundingBoxFormat "
    "UniformTemporalSubsample ConvertBCHWtoCBHW "
    // Programs and words of command lines.
    "python python2 python3 torchrun accelerate deepspeed mpirun mpiexec srun env nice nohup "
    "taskset "
    "numactl timeout bash sh penstock cpu cuda gpu mps fp16 fp32 bf16 fork spawn forkserver none "
    "None True False on off yes no nccl gloo mpi jpg uint8 float32 float16 "
    // Threads.
    "MainThread Thread pt_main_thread pt_data_worker pt_data_pin pt_autograd_0 python3_main "
    "jemalloc "
    "iou-sqp "
    // Facts.
    "pytorch tsc monotonic collector preload loader merged imported map iterable torch openmpi "
    "mvapich2 mpich slurm tcmalloc mimalloc cupti calls nvtx file_descriptor file_system reference "
    "collective wall clock nothing same profile sampled unavailable ext4 xfs btrfs tmpfs nfs nfs4 "
    "overlay lustre ceph fuse zfs vfat nvme ssd rotational memory network unknown int8 int16 int32 "
    "int64 bool float64 bfloat16 complex64 num_workers prefetch_factor batch_size "
    "persistent_workers "
    "pin_memory in_order start_method affinity malloc warm";

// What names of kernels, of functions of C and of versions of Python begin with.
constexpr std::array<std::string_view, 35> kPublicBeginnings = {"cuda",
                                                                "cublas",
                                                                "cudnn",
                                                                "cufft",
                                                                "curand",
                                                                "cusparse",
                                                                "cutlass",
                                                                "nccl",
                                                                "nvjpeg",
                                                                "nvtx",
                                                                "ncclDev",
                                                                "ampere_",
                                                                "volta_",
                                                                "turing_",
                                                                "hopper_",
                                                                "maxwell_",
                                                                "sm70_",
                                                                "sm75_",
                                                                "sm80_",
                                                                "sm86_",
                                                                "sm89_",
                                                                "sm90_",
                                                                "sm100_",
                                                                "triton_poi_fused",
                                                                "triton_red_fused",
                                                                "triton_per_fused",
                                                                "triton_tem_fused",
                                                                "readers__",
                                                                "decoders__",
                                                                "ImageDecoder",
                                                                "ExternalSource",
                                                                "_ZN2at",
                                                                "_ZN3c10",
                                                                "_ZN3cub",
                                                                "_ZN7cutlass"};

constexpr std::string_view kPublicExtensions =
    "jpg jpeg jpe jfif png webp gif bmp dib tif tiff avif heic heif jp2 exr hdr ppm pgm svg dcm "
    "nii "
    "mp4 avi mkv webm mov mpg mpeg m4v wav flac mp3 ogg opus m4a aac "
    "npy npz pt pth ckpt pkl pickle safetensors onnx bin dat raw idx index rec tfrecord tfrecords "
    "record beton ffcv h5 hdf5 lmdb mdb db db3 sqlite sqlite3 parquet arrow feather orc avro csv "
    "tsv "
    "json jsonl ndjson txt text md xml html yaml yml toml ini cfg conf log zarr zarray zattrs mds "
    "cls "
    "tar tgz zip 7z gz bz2 xz zst lz4 br py pyc pyx so c cc cpp cu h sh ipynb lock tmp part cache "
    "model vocab spm tiktoken penstock";

using WordSet = std::unordered_set<std::string_view>;

WordSet WordsOf(std::string_view list) {
  WordSet words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.insert(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

bool IsExtension(std::string_view text) {
  static const WordSet known = WordsOf(kPublicExtensions);
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return known.count(lower) != 0;
}

}  // namespace

bool IsPublicLibrary(std::string_view name) {
  static const WordSet known = WordsOf(kPublicLibraries);
  return known.count(name) != 0;
}

bool IsStandardModule(std::string_view name) {
  static const WordSet known = WordsOf(kStandardModules);
  return known.count(name) != 0;
}

bool IsPublicWord(std::string_view word) {
  static const WordSet known = WordsOf(kPublicWords);
  if (word.size() <= 1 || known.count(word) != 0 || IsPublicLibrary(word)) return true;
  if (word.size() > 4 && word.starts_with("__") && word.ends_with("__")) return true;
  return std::any_of(kPublicBeginnings.begin(), kPublicBeginnings.end(),
                     [word](std::string_view beginning) { return word.starts_with(beginning); });
}

std::string_view PublicExtension(std::string_view file) {
  const auto before = [file](std::size_t end) {
    const std::size_t dot = file.substr(0, end).rfind('.');
    const bool known = dot != std::string_view::npos && dot > 0 &&
                       IsExtension(file.substr(dot + 1, end - dot - 1));
    return known ? dot : end;
  };
  const std::size_t last = before(file.size());
  if (last == file.size()) return "";
  return file.substr(before(last));  // ".tar.gz": at most two
}

}  // namespace penstock::traces
