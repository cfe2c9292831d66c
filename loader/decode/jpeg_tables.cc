// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/jpeg_tables.h"

#include <array>
#include <cstring>

#include "loader/decode/jpeg_memory.h"

namespace penstock::loader {
namespace {

constexpr int kTables = NUM_HUFF_TBLS;  // four of each kind
static_assert(NUM_QUANT_TBLS == kTables);

struct HuffmanTables {
  std::array<JHUFF_TBL, kTables> dc;
  std::array<JHUFF_TBL, kTables> ac;
};

// Claims more codes of one and two bits than can exist, so that libjpeg refuses to use the table.
void MakeUnusable(JHUFF_TBL& table) {
  table = {};
  table.bits[1] = table.bits[2] = 255;
}

// The standard's tables are in no header, but they are the defaults of the compressor.
HuffmanTables StandardTables() {
  jpeg_compress_struct cinfo = {};
  JpegErrors errors;
  cinfo.err = InitErrors(errors, false);
  const bool made = Guarded(errors, [&cinfo] {
    jpeg_create_compress(&cinfo);
    cinfo.in_color_space = JCS_RGB;
    cinfo.input_components = 3;
    jpeg_set_defaults(&cinfo);
  });
  HuffmanTables out;
  for (std::size_t i = 0; i < kTables; ++i) {
    MakeUnusable(out.dc[i]);
    MakeUnusable(out.ac[i]);
    if (made && cinfo.dc_huff_tbl_ptrs[i] != nullptr && cinfo.ac_huff_tbl_ptrs[i] != nullptr) {
      out.dc[i] = *cinfo.dc_huff_tbl_ptrs[i];
      out.ac[i] = *cinfo.ac_huff_tbl_ptrs[i];
    }
  }
  jpeg_destroy_compress(&cinfo);
  return out;
}

}  // namespace

void ForgetTables(j_decompress_ptr cinfo) {
  static const HuffmanTables standard = StandardTables();
  auto* const common = reinterpret_cast<j_common_ptr>(cinfo);
  for (std::size_t i = 0; i < kTables; ++i) {
    if (cinfo->quant_tbl_ptrs[i] == nullptr) {
      cinfo->quant_tbl_ptrs[i] = jpeg_alloc_quant_table(common);
    }
    if (cinfo->dc_huff_tbl_ptrs[i] == nullptr) {
      cinfo->dc_huff_tbl_ptrs[i] = jpeg_alloc_huff_table(common);
    }
    if (cinfo->ac_huff_tbl_ptrs[i] == nullptr) {
      cinfo->ac_huff_tbl_ptrs[i] = jpeg_alloc_huff_table(common);
    }
    // Steps of 0 are not allowed, so they can stand for "none".
    std::memset(cinfo->quant_tbl_ptrs[i], 0, sizeof(JQUANT_TBL));
    *cinfo->dc_huff_tbl_ptrs[i] = standard.dc[i];
    *cinfo->ac_huff_tbl_ptrs[i] = standard.ac[i];
  }
}

int MissingQuantTable(const jpeg_decompress_struct& cinfo) {
  for (int i = 0; i < cinfo.num_components; ++i) {
    const jpeg_component_info& component = cinfo.comp_info[i];
    if (component.quant_table != nullptr && component.quant_table->quantval[0] == 0) {
      return component.quant_tbl_no;
    }
  }
  return -1;
}

}  // namespace penstock::loader
