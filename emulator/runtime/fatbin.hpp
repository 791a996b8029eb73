// The PTX text inside a fat binary, as nvcc embeds it in a program.
#pragma once
#include <string>

namespace gpu_emulator {

struct PtxImage {
  std::string text;  ///< empty: none that suits
  int architecture = 0;
  std::string why;  ///< there is none
};

/// The PTX for the highest architecture up to `most`. `fatbin` is what __cudaRegisterFatBinary
/// gets.
PtxImage find_ptx(const void* wrapper, int most);

/// Whether mangled names are the same but for the hash that unnamed namespaces have in them.
bool same_name(const std::string& a, const std::string& b);

/// The PTX file of settings().ptx that has a kernel of this mangled name; empty: none has.
std::string ptx_file_with(const std::string& kernel);

}  // namespace gpu_emulator
