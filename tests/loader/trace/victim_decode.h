/* SPDX-License-Identifier: Apache-2.0
 *
 * One image through libjpeg, for programs that are traced. Not thread-safe at its first call. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
long decode_an_image(void);
#ifdef __cplusplus
}
#endif
