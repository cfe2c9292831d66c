// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/huffman_decoder.h"

#include <bit>
#include <cstring>

#include "loader/decode/bit_reader.h"
#include "loader/decode/huffman_tables.h"
#include "loader/decode/huffman_trial.h"

// libjpeg's modules call each other through these structs. Our decoder replaces decode_mcu.
extern "C" {
#define JPEG_INTERNALS
#include <jerror.h>
#include <jpegint.h>
}

namespace penstock::loader {
namespace {

constexpr int kBlock = DCTSIZE2;

// Places of a block in the order of the file. Entries after the 64th name the last place, so
// damaged data stores inside the block before the decoder gives up.
struct ZigZag {
  std::array<std::uint8_t, std::size_t{2}* kBlock> place = {};

  constexpr ZigZag() {
    place.fill(kBlock - 1);
    std::size_t at = 0;
    for (int diagonal = 0; diagonal < 2 * DCTSIZE - 1; ++diagonal) {
      for (int i = 0; i <= diagonal; ++i) {
        const int row = diagonal % 2 == 0 ? diagonal - i : i;
        const int column = diagonal - row;
        if (row < DCTSIZE && column < DCTSIZE) {
          place[at++] = static_cast<std::uint8_t>(row * DCTSIZE + column);
        }
      }
    }
  }
};
constexpr ZigZag kZigZag;

// The symbol of the next code; -1 if there is no such code.
[[nodiscard]] inline int ReadSymbol(BitReader& in, const HuffmanCodes& codes) {
  if (const unsigned code = codes.by_bits[in.Peek(HuffmanCodes::kCodeBits)]; code != 0) [[likely]] {
    in.Drop(code >> 8);
    return static_cast<int>(code & 255);
  }
  for (int length = HuffmanCodes::kCodeBits + 1; length <= HuffmanCodes::kLongest; ++length) {
    const auto code = static_cast<std::int32_t>(in.Peek(length));
    const auto at = static_cast<std::size_t>(length);
    if (code <= codes.last[at]) {
      in.Drop(static_cast<unsigned>(length));
      return codes.symbols[static_cast<std::size_t>(code + codes.offset[at]) & 255];
    }
  }
  return -1;
}

[[nodiscard]] inline bool ReadDifference(BitReader& in, const DcTable& table, int& difference) {
  if (in.count < 32) {
    in.Refill();
  }
  const int size = ReadSymbol(in, table.codes);
  if (size < 0) [[unlikely]] {
    return false;
  }
  difference = ValueOf(in.bits, static_cast<unsigned>(size));
  in.Drop(static_cast<unsigned>(size));
  return true;
}

enum class Step : std::uint8_t { kGoOn, kBlockDone, kDamaged };

// Decodes one symbol at place `k` where the look-up does not help: a code or its bits are longer
// than the index, or the block ends before the last symbol of the entry. Passes the coefficient to
// `store`.
template <class Store>
[[nodiscard]] inline Step ReadOne(BitReader& in, const HuffmanCodes& codes, unsigned& k,
                                  const Store& store) {
  if (in.count < 32) {
    in.Refill();
  }
  const int symbol = ReadSymbol(in, codes);
  if (symbol < 0) [[unlikely]] {
    return Step::kDamaged;
  }
  const unsigned zeros = static_cast<unsigned>(symbol) >> 4;
  const unsigned size = static_cast<unsigned>(symbol) & 15;
  if (size == 0) {
    k += 16;
    return zeros != 15 ? Step::kBlockDone : k < kBlock ? Step::kGoOn : Step::kDamaged;
  }
  k += zeros;
  if (k >= kBlock) [[unlikely]] {
    return Step::kDamaged;
  }
  store(k, ValueOf(in.bits, size));
  in.Drop(size);
  return ++k == kBlock ? Step::kBlockDone : Step::kGoOn;
}

// A look-up reached place `k`, at least kBlock. Returns whether this block's end code took it
// there. The end code of the next block gives a larger `k`. Without an end code `k` is smaller.
[[nodiscard]] inline bool EndedWell(unsigned k) {
  return k >= AcTable::kBlockEnd && k < AcTable::kBlockEnd + kBlock;
}

// Reads the coefficients after the first into `block`, which must be all zeros. False if the data
// is damaged.
[[nodiscard]] inline bool ReadBlock(BitReader& in, const AcTable& table, JCOEF* block) {
  for (unsigned k = 1;;) {
    BitReader before;
    unsigned place = k;
    do {
      if (in.count < AcTable::kPairBits) {
        in.Refill();
      }
      before.bits = in.bits;
      before.count = in.count;
      place = k;
      // Loads the whole pair at once, since the next look-up waits for the pair's `bits`.
      const auto pair = std::bit_cast<std::uint64_t>(table.pairs[in.Peek(AcTable::kPairBits)]);
      // The second coefficient is stored first. If there is none, its zero may go to the place that
      // the first coefficient takes.
      block[kZigZag.place[k + (pair >> 24 & 255)]] = static_cast<JCOEF>(pair >> 48);
      block[kZigZag.place[k + (pair >> 16 & 255)]] = static_cast<JCOEF>(pair >> 32);
      in.Drop(pair & 255);
      k += pair >> 8 & 255;
    } while (k < kBlock);
    if (EndedWell(k)) {
      return true;
    }
    in.bits = before.bits;
    in.count = before.count;
    k = place;
    const Step step = ReadOne(in, table.codes, k, [block](unsigned at, int value) {
      block[kZigZag.place[at]] = static_cast<JCOEF>(value);
    });
    if (step != Step::kGoOn) {
      return step == Step::kBlockDone;
    }
  }
}

[[nodiscard]] inline bool SkipBlock(BitReader& in, const AcTable& table) {
  for (unsigned k = 1;;) {
    BitReader before;
    unsigned place = k;
    do {
      if (in.count < AcTable::kSkipBits + 15) {
        in.Refill();
      }
      before.bits = in.bits;
      before.count = in.count;
      place = k;
      const AcTable::Skip skip = table.skips[in.Peek(AcTable::kSkipBits)];
      in.Drop(skip.bits);
      k += skip.advance;
    } while (k < kBlock);
    if (EndedWell(k)) {
      return true;
    }
    in.bits = before.bits;
    in.count = before.count;
    k = place;
    const Step step = ReadOne(in, table.codes, k, [](unsigned, int) {});
    if (step != Step::kGoOn) {
      return step == Step::kBlockDone;
    }
  }
}

// Keeps the table that was built last, since the next file nearly always has the same table.
template <class Table>
class Kept {
 public:
  // False if `wanted` is no valid table, or if it is new and the file is so small that building
  // the look-up table would cost more than it saves.
  [[nodiscard]] bool Take(const JHUFF_TBL* wanted, bool worth_it) {
    if (wanted == nullptr) {
      return false;
    }
    const bool seen = Same(*wanted, asked_for_);
    if (!seen) {
      asked_for_ = *wanted;
    }
    if (!(built_ && Same(*wanted, from_))) {
      if (!seen && !worth_it) {
        return false;
      }
      from_ = *wanted;
      built_ = true;
      usable_ = table_.Build(from_);
    }
    return usable_;
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  [[nodiscard]] static bool Same(const JHUFF_TBL& a, const JHUFF_TBL& b) {
    return std::memcmp(a.bits, b.bits, sizeof a.bits) == 0 &&
           std::memcmp(a.huffval, b.huffval, sizeof a.huffval) == 0;
  }

  Table table_;
  JHUFF_TBL from_ = {};
  JHUFF_TBL asked_for_ = {};  // by the last call
  bool built_ = false;
  bool usable_ = false;
};

}  // namespace

struct HuffmanDecoder::State {
  explicit State(std::size_t worth) : worth_bytes(worth) {}
  static boolean DecodeMcu(j_decompress_ptr cinfo, JBLOCKROW* blocks);
  [[nodiscard]] bool TakeTables(const jpeg_decompress_struct& cinfo);
  [[nodiscard]] bool Decode(const jpeg_decompress_struct& cinfo, JBLOCKROW* mcu);

  std::size_t worth_bytes;
  std::array<Kept<DcTable>, NUM_HUFF_TBLS> dc;
  std::array<Kept<AcTable>, NUM_HUFF_TBLS> ac;

  // How each block of an MCU is decoded.
  struct Block {
    const DcTable* dc;
    const AcTable* ac;
    int component;
    bool only_first;  // the block becomes one pixel, which needs only the first coefficient
  };
  std::array<Block, D_MAX_BLOCKS_IN_MCU> blocks = {};

  BitReader in;
  std::array<int, MAX_COMPS_IN_SCAN> last = {};  // previous DC coefficient of each component
  unsigned until_restart = 0;
  unsigned restart_number = 0;
  JDIMENSION column = 0;  // of MCUs
  JDIMENSION first_column = 0;
  JDIMENSION end_column = 0;
  bool gave_up = false;
};

// Asks for each table exactly once, since a second request makes a table count as worth building.
bool HuffmanDecoder::State::TakeTables(const jpeg_decompress_struct& cinfo) {
  std::array<bool, NUM_HUFF_TBLS> uses_dc = {};
  std::array<bool, NUM_HUFF_TBLS> uses_ac = {};
  for (int i = 0; i < cinfo.comps_in_scan; ++i) {
    const jpeg_component_info& info = *cinfo.cur_comp_info[i];
    const auto dc_number = static_cast<std::size_t>(info.dc_tbl_no);
    const auto ac_number = static_cast<std::size_t>(info.ac_tbl_no);
    if (dc_number >= uses_dc.size() || ac_number >= uses_ac.size()) {
      return false;
    }
    uses_dc[dc_number] = true;
    uses_ac[ac_number] = true;
  }
  const bool worth_it = cinfo.src->bytes_in_buffer >= worth_bytes;
  bool all = true;
  for (std::size_t i = 0; i < uses_dc.size(); ++i) {
    all = (!uses_dc[i] || dc[i].Take(cinfo.dc_huff_tbl_ptrs[i], worth_it)) && all;
    all = (!uses_ac[i] || ac[i].Take(cinfo.ac_huff_tbl_ptrs[i], worth_it)) && all;
  }
  return all;
}

bool HuffmanDecoder::State::Decode(const jpeg_decompress_struct& cinfo, JBLOCKROW* mcu) {
  if (cinfo.restart_interval != 0) {
    if (until_restart == 0) {
      if (!in.PassRestart(restart_number)) {
        return false;
      }
      restart_number = (restart_number + 1) % 8;
      until_restart = cinfo.restart_interval;
      last = {};
    }
    --until_restart;
  }
  const bool wanted = mcu != nullptr && column >= first_column && column < end_column;
  column = column + 1 == cinfo.MCUs_per_row ? 0 : column + 1;
  BitReader reader = in;
  for (int i = 0; i < cinfo.blocks_in_MCU; ++i) {
    const Block& block = blocks[static_cast<std::size_t>(i)];
    int difference = 0;
    if (!ReadDifference(reader, *block.dc, difference)) {
      return false;
    }
    int& value = last[static_cast<std::size_t>(block.component)];
    value += difference;
    constexpr int kFar = 1 << 20;  // no encoder writes more; the sum must not overflow
    if (value < -kFar || value > kFar) {
      return false;
    }
    bool done = false;
    if (wanted) {
      JCOEF* const coefficients = *mcu[i];
      coefficients[0] = static_cast<JCOEF>(value);
      done = block.only_first ? SkipBlock(reader, *block.ac)
                              : ReadBlock(reader, *block.ac, coefficients);
    } else {
      done = SkipBlock(reader, *block.ac);
    }
    if (!done) {
      return false;
    }
  }
  in = reader;
  return reader.count >= 0;
}

boolean HuffmanDecoder::State::DecodeMcu(j_decompress_ptr cinfo, JBLOCKROW* blocks) {
  auto& state = *static_cast<State*>(cinfo->client_data);
  if (!state.Decode(*cinfo, blocks)) [[unlikely]] {
    state.gave_up = true;
    ERREXIT(cinfo, JERR_BAD_DCT_COEF);
  }
  return TRUE;
}

HuffmanDecoder::HuffmanDecoder(std::size_t worth_bytes)
    : state_(std::make_unique<State>(worth_bytes)) {}
HuffmanDecoder::~HuffmanDecoder() = default;

bool HuffmanDecoder::Attach(jpeg_decompress_struct& cinfo) {
  State& state = *state_;
  state.gave_up = false;
  if (cinfo.progressive_mode == TRUE || cinfo.arith_code == TRUE || cinfo.data_precision != 8 ||
      cinfo.comps_in_scan != cinfo.num_components || cinfo.entropy == nullptr ||
      cinfo.inputctl->has_multiple_scans == TRUE) {
    return false;
  }
  if (!state.TakeTables(cinfo)) {
    return false;
  }
  for (int i = 0; i < cinfo.blocks_in_MCU; ++i) {
    const int component = cinfo.MCU_membership[i];
    const jpeg_component_info& info = *cinfo.cur_comp_info[component];
    state.blocks[static_cast<std::size_t>(i)] = {
        &state.dc[static_cast<std::size_t>(info.dc_tbl_no)].table(),
        &state.ac[static_cast<std::size_t>(info.ac_tbl_no)].table(), component,
        info.DCT_scaled_size == 1};
  }
  state.in = {};
  state.in.next = cinfo.src->next_input_byte;
  state.in.end = cinfo.src->next_input_byte + cinfo.src->bytes_in_buffer;
  state.last = {};
  state.until_restart = cinfo.restart_interval;
  state.restart_number = 0;
  state.column = 0;
  state.first_column = 0;
  state.end_column = cinfo.MCUs_per_row;
  cinfo.client_data = &state;
  cinfo.entropy->decode_mcu = State::DecodeMcu;
  return true;
}

void HuffmanDecoder::KeepColumns(const jpeg_decompress_struct& cinfo, JDIMENSION first,
                                 JDIMENSION width) {
  const auto block = static_cast<JDIMENSION>(cinfo.min_DCT_scaled_size);
  const JDIMENSION mcu =
      cinfo.num_components == 1 ? block : block * static_cast<JDIMENSION>(cinfo.max_h_samp_factor);
  state_->first_column = first / mcu;
  state_->end_column = (first + width + mcu - 1) / mcu;
}

bool HuffmanDecoder::gave_up() const {
  return state_->gave_up;
}

}  // namespace penstock::loader
