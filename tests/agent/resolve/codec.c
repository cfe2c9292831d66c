// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for a codec library. Every copy has the same symbols and its own answer.
#ifndef CODEC_ANSWER
#error "CODEC_ANSWER says which copy this is"
#endif

#ifdef CODEC_PADDING  // puts the functions at other offsets than in the other copies
__attribute__((aligned(8192)))
#endif
int codec_answer(void) {
  return CODEC_ANSWER;
}

// As with libjpeg, an object carries a pointer into the copy that made it.
static int method(void) {
  return CODEC_ANSWER;
}

struct codec_object {
  int (*alloc)(void);
};

void codec_create(struct codec_object* object) {
  object->alloc = method;
}

int codec_use(struct codec_object* object) {
  return object->alloc() * 100 + CODEC_ANSWER;
}
