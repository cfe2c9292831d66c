/* SPDX-License-Identifier: Apache-2.0
 * A native loader that marks its stages: 3 batches of 4 samples. Prints whether it is recorded. */
#include <penstock/traces/markers.h>

#include <stdio.h>

static double burn(int rounds) {
  volatile double sum = 0;
  int i;
  for (i = 0; i < rounds; ++i) sum = sum + i * 0.5;
  return sum;
}

int main(void) {
  uint32_t batch;
  int i;
  for (batch = 0; batch < 3; ++batch) {
    for (i = 0; i < 4; ++i) {
      PenstockToken sample, span;
      penstock_place((int64_t)batch * 4 + i, batch, 0);
      sample = penstock_begin(PENSTOCK_SAMPLE, "sample");
      span = penstock_begin(PENSTOCK_READ, "own_read");
      burn(1000);
      penstock_end_file(span, 1000, "/data/picture.jpg");
      span = penstock_begin(PENSTOCK_DECODE, "own_decode");
      burn(10000);
      penstock_end(span, 3000);
      penstock_end(sample, 0);
    }
    penstock_delivered(batch, 0);
  }
  printf("%s\n", penstock_recording() ? "recorded" : "alone");
  return 0;
}
