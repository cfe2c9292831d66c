// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for a Python extension that uses a codec.
struct codec_object {
  void* alloc;
};

int codec_answer(void);
void codec_create(struct codec_object* object);
int codec_use(struct codec_object* object);

#ifdef CODEC_INSIDE  // the codec is linked in statically, with default visibility
#define CODEC_ANSWER CODEC_INSIDE
int codec_answer(void) {
  return CODEC_ANSWER;
}
static int method(void) {
  return CODEC_ANSWER;
}
void codec_create(struct codec_object* object) {
  *(int (**)(void))object = method;
}
int codec_use(struct codec_object* object) {
  return (*(int (**)(void))object)() * 100 + CODEC_ANSWER;
}
#endif

static volatile int keep_frame;

int extension_answer(void) {
  const int answer = codec_answer();
  keep_frame = answer;
  return answer;
}

// The call becomes a jump: the hook's return address lies in the caller of this function.
int extension_tail(void) {
  return codec_answer();
}

int extension_object(void) {
  struct codec_object object;
  codec_create(&object);
  const int answer = codec_use(&object);
  keep_frame = answer;
  return answer;
}

// Uses an object that another copy has made, as if jpeg_CreateDecompress was bound to that copy.
int extension_use(struct codec_object* object) {
  const int answer = codec_use(object);
  keep_frame = answer;
  return answer;
}

void* extension_site(void) {
  return (void*)&extension_answer;
}
