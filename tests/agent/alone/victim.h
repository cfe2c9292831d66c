// SPDX-License-Identifier: Apache-2.0
//
// What the victims share. Say() calls write() and nothing else, so it works behind a filter.
#pragma once

#include <string>

namespace alone {

// Opens, reads and closes a file by name. Returns its bytes, or -1.
long ReadFile(const char* path);
void Say(const char* text, long number);
[[noreturn]] void Fail(const char* what);

// Each of the following functions returns the exit status.
int LockIn(const std::string& how, const std::string& when, const char* path);
int RunLockedIn(char** command);
int SearchLockedIn(char** command);
int ForbidClock(const std::string& how, const char* path);
int OnSmallStack(long size, const char* path, const char* depth);
int Limits(const std::string& how, const char* path);
int Places(const std::string& how, const char* path, char** command);

}  // namespace alone
