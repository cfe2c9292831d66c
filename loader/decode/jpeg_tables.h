// SPDX-License-Identifier: Apache-2.0
//
// libjpeg keeps quantisation and Huffman tables from one file to the next, for streams that send
// them once. A data set is no such stream: a file without a table is damaged, and its pixels must
// not depend on the file before it. For loader/decode alone.
#pragma once

#include <cstddef>
#include <cstdio>  // jpeglib.h needs size_t and FILE

#include <jpeglib.h>

namespace penstock::loader {

// Resets the tables before a file: afterwards there are no quantisation tables, and the Huffman
// tables are the standard's. Motion JPEG frames leave these out, and a new libjpeg-turbo instance
// has them too. Allocates the first time.
//
// Requires: inside Guarded(), as libjpeg may jump.
void ForgetTables(j_decompress_ptr cinfo);

// The index of a quantisation table that the file uses but lacks, or -1.
// Requires: jpeg_start_decompress() has returned.
[[nodiscard]] int MissingQuantTable(const jpeg_decompress_struct& cinfo);

}  // namespace penstock::loader
