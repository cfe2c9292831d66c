// SPDX-License-Identifier: Apache-2.0
//
// libjpeg keeps quantisation and Huffman tables from one file to the next, for streams that send
// them once. A data set is no such stream: a file that lacks a table is damaged, and what it
// decodes to must not depend on the file before it. For loader/decode alone.
#pragma once

#include <cstddef>
#include <cstdio>  // jpeglib.h needs size_t and FILE

#include <jpeglib.h>

namespace penstock::loader {

// Puts the tables into the state that every file is to find: no quantisation tables, and the
// Huffman tables of the standard, which Motion JPEG frames leave out and a new libjpeg-turbo
// instance supplies too. Allocates the first time.
//
// Requires: inside Guarded(), as libjpeg may jump.
void ForgetTables(j_decompress_ptr cinfo);

// The number of a quantisation table that the file uses and does not have, or -1.
// Requires: jpeg_start_decompress() has returned.
[[nodiscard]] int MissingQuantTable(const jpeg_decompress_struct& cinfo);

}  // namespace penstock::loader
