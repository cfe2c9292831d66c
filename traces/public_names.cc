// SPDX-License-Identifier: Apache-2.0
#include "traces/public_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_set>

#include "traces/text_shapes.h"

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
    "ray triton xformers litdata grain "
    // Queues and classes that our hooks name with a method.
    "DataLoader Tensor index_queue result_queue "
    // Namespaces of C++ in the names of kernels.
    "at c10 cub cudf cudnn cutlass cute cv ncclDevKernel std thrust";

// Libraries whose names are common words, or names of other things too: what follows such a name
// may be the program's own.
constexpr std::string_view kCommonNames =
    "accelerate apex at av blosc composer cub cute cv dali datasets decord fastcore grain http "
    "lightning megatron ndimage nvidia parquet ray requests streaming tf thrust triton wids yaml "
    "DataLoader Tensor index_queue result_queue";

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

// Methods that Python calls by itself, and attributes of modules.
constexpr std::string_view kSpecialMethods =
    "__init__ __new__ __del__ __call__ __repr__ __str__ __bytes__ __format__ __hash__ __bool__ "
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __len__ __length_hint__ __getitem__ __getitems__ "
    "__setitem__ __delitem__ __missing__ __contains__ __iter__ __next__ __reversed__ __aiter__ "
    "__anext__ __await__ __enter__ __exit__ __aenter__ __aexit__ __getattr__ __getattribute__ "
    "__setattr__ __delattr__ __dir__ __get__ __set__ __delete__ __set_name__ __init_subclass__ "
    "__class_getitem__ __class__ __prepare__ __instancecheck__ __subclasscheck__ __subclasshook__ "
    "__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ "
    "__rmatmul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ "
    "__divmod__ __pow__ __rpow__ __neg__ __pos__ __abs__ __invert__ __and__ __rand__ __or__ "
    "__ror__ __xor__ __lshift__ __rshift__ __int__ __float__ __complex__ __index__ __round__ "
    "__trunc__ __floor__ __ceil__ __copy__ __deepcopy__ __reduce__ __reduce_ex__ __getstate__ "
    "__setstate__ __getnewargs__ __sizeof__ __fspath__ __buffer__ __post_init__ __main__ __name__ "
    "__file__ __import__ __build_class__ __array__ __array_wrap__ __array_function__ "
    "__array_ufunc__ __array_interface__ __torch_function__ __torch_dispatch__ __dlpack__ "
    "__mp_main__";

// The words of which names of CUDA's functions and of kernels are composed, in lower case.
constexpr std::string_view kTechnicalWords =
    // CUDA's functions.
    "memcpy memset async launch kernel malloc free stream event synchronize create destroy record "
    "wait query device get set properties attribute attributes host alloc allocator register "
    "unregister peer to from symbol array graph graphs exec instantiate managed prefetch function "
    "func occupancy max min active blocks block per multiprocessor with flags priority range pool "
    "error last peek at ex cooperative ipc handle mem memory info pointer access enable disable "
    "import export push pop mark start end stop begin capture update node add child dependency "
    "dependencies elapsed time driver runtime version count load unload module library data config "
    "cache limit current context primary retain release default reset batch attach blocking "
    "non profiler callback user object texture surface external semaphore signal batched strided "
    "handle workspace math mode plan many execute destroy estimate size state decode encode "
    "decoder encoder image jpeg header parse transfer phase region pitched "
    // Collectives.
    "dev all reduce gather scatter broadcast sum prod avg mean ring tree nvls coll net simple ll "
    "send recv group comm init rank split abort pre mul generic "
    // Kernels.
    "native aten cuda gpu cpu cudnn cublas cutlass impl detail functor functors op ops tensor "
    "tensors "
    "iterator elementwise vectorized unrolled loop grid thread threads warp warps shared cta "
    "gemm gemv gemmk sgemm dgemm hgemm cgemm igemm bgemm xmma mma hmma imma wgmma ffma gett "
    "tensorop simt fprop dgrad wgrad implicit explicit precomp direct winograd nonfused indexed "
    "conv convolve convolution convolutions deconv transpose transposed nhwc nchw nc hw chw tn nt "
    "nn tt tilesize "
    "tile tiled stage stages warpsize warpgroupsize aligna alignb alignc align epilogue prologue "
    "interior medium large small splitk streamk sliced persistent relu relus gelu silu tanh "
    "sigmoid "
    "softmax log exp sqrt rsqrt pow neg abs clamp sin cos erf floor ceil round sign where fill "
    "zero "
    "zeros one ones full arange copy cast convert cat concat stack index select put take masked "
    "sort topk unique search argmax argmin norm normalize normalization layer layernorm welford "
    "var std bias dropout embedding loss nll cross entropy backward forward fwd bwd input output "
    "weight weights grad gradient params param optimizer adam adamw sgd multi apply foreach lp "
    "binary unary ternary scalar constant compare eq ne lt le gt ge and or not xor bitwise div sub "
    "mm bmm addmm addmv baddbmm dot mv linear attention flash flashattention fmha sdpa efficient "
    "causal mask upsample downsample nearest bilinear bicubic interpolate resize crop mirror flip "
    "pad reflect replicate pooling view expand squeeze unsqueeze permute slice clone contiguous "
    "random uniform normal bernoulli philox distribution histogram cumsum scan radix upsweep "
    "downsweep merge policy agent single double half float bfloat bool int int char short long "
    "unsigned signed void complex opaque type types value values offset offsets calculator trivial "
    "simplified accumulate accumulator acc compute sm arch bf fp tf red poi pers tem fused fusion "
    "unrolled foreach ampere volta turing hopper maxwell blackwell sparse dense csr "
    "threshold hardtanh leaky prelu elu mish swish upcast downcast sampler sampled ctc rnn lstm "
    "gru "
    "cell affine rotate warp perspective blur gaussian color space hsv jitter brightness contrast "
    "cvt "
    "imread imdecode imwrite imencode grayscale "
    // Calls of libraries that hooks name.
    "next step read reader readers write table row rows groups column columns iter batches file "
    "files image images video audio frame frames ndarray numpy reformat seek demux dataset "
    "formatting format features query map shuffle repeat take skip zip interleave json yaml safe "
    "dump dumps loads client open close request post connect first byte parquet pytorch loops "
    "fetchers internal execution operators transformer decoders external source shard text nifti "
    "pdf pin use utils worker workers queue fetch collate";

// The beginnings of names of kernels and of C functions. The rest of such a name may be the
// program's own.
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

constexpr std::string_view kPublicSchemes =
    "s3 s3a s3n gs gcs http https ftp ftps sftp ssh file hdfs viewfs webhdfs az abfs abfss adl "
    "wasb wasbs oss cos cosn obs oci r2 hf dbfs swift minio tcp udp unix ipc pipe env memory zip "
    "tar gzip simplecache filecache ws wss redis mongodb postgresql mysql sqlite ray grpc";

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

bool IsUniqueLibrary(std::string_view name) {
  static const WordSet common = WordsOf(kCommonNames);
  return IsPublicLibrary(name) && common.count(name) == 0;
}

bool IsStandardModule(std::string_view name) {
  static const WordSet known = WordsOf(kStandardModules);
  return known.count(name) != 0;
}

bool IsSpecialMethod(std::string_view word) {
  static const WordSet known = WordsOf(kSpecialMethods);
  return known.count(word) != 0;
}

bool IsPublicWord(std::string_view word) {
  static const WordSet known = WordsOf(kPublicWords);
  return word.size() <= 1 || known.count(word) != 0 || IsPublicLibrary(word) ||
         IsSpecialMethod(word);
}

std::string_view StarterOfWorkers(std::string_view word) {
  constexpr std::string_view kStarters[] = {"multiprocessing.spawn", "multiprocessing.forkserver",
                                            "popen_loky"};
  for (const std::string_view starter : kStarters) {
    if (word.find(starter) != std::string_view::npos) return starter;
  }
  return "";
}

std::size_t PublicPrefix(std::string_view word) {
  std::size_t size = 0;
  for (const std::string_view beginning : kPublicBeginnings) {
    if (word.starts_with(beginning)) size = std::max(size, beginning.size());
  }
  return size;
}

bool IsTechnicalWord(std::string_view part) {
  static const WordSet known = WordsOf(kTechnicalWords);
  if (part.size() <= 1) return true;
  std::string lower(part);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return known.count(lower) != 0;
}

std::size_t WordPartSize(std::string_view text) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && BeginsName(text[i]) && text[i] != '_';
  };
  const auto upper = [&](std::size_t i) { return i < text.size() && IsCapital(text[i]); };
  if (!letter(0)) return 0;
  std::size_t end = 0;
  while (upper(end)) ++end;
  if (end > 1) return letter(end) ? end - 1 : end;  // "GLRegister", "RING"
  while (letter(end) && !upper(end)) ++end;
  return end;
}

bool IsTechnical(std::string_view identifier) {
  while (!identifier.empty()) {
    const std::size_t size = WordPartSize(identifier);
    if (size > 0 && !IsTechnicalWord(identifier.substr(0, size))) return false;
    identifier.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return true;
}

bool IsPublicScheme(std::string_view scheme) {
  static const WordSet known = WordsOf(kPublicSchemes);
  return known.count(scheme) != 0;
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
