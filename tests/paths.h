// SPDX-License-Identifier: Apache-2.0
//
// Paths of this build and of the sources, for tests. penstock_paths() in CMakeLists.txt says which
// ones a test needs and writes a source that defines them. They are no macros: ccache finds what
// another clone has compiled only if no source that takes long to compile contains the path of the
// clone.
#pragma once

namespace penstock::paths {

extern const char kAgent[];
extern const char kCodecsPreload[];
extern const char kCodecsVictims[];
extern const char kExports[];
extern const char kFakeDriver[];
extern const char kFakeNvjpeg[];
extern const char kFakeNvml[];
extern const char kFakeNvmlOld[];
extern const char kFakeProgram[];
extern const char kGpuDoubles[];
extern const char kGpuStaticVictim[];
extern const char kGpuVictim[];
extern const char kLoad[];
extern const char kNvtxTool[];
extern const char kNvtxVictims[];
extern const char kPenstock[];
extern const char kReadsVictim[];
extern const char kRecord[];
extern const char kRecordings[];
extern const char kRecover[];
extern const char kResolvePreload[];
extern const char kResolvePreloadOld[];
extern const char kResolveVictims[];
extern const char kSamples[];
extern const char kSourceFolder[];
extern const char kStubAgent[];
extern const char kSweep[];
extern const char kValidationData[];
extern const char kVictim[];

}  // namespace penstock::paths
