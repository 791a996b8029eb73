// The format is NVIDIA's own and not documented. What is known of it by looking at fat binaries of
// nvcc 12 and 13: a header, then entries (PTX text or ELF), each maybe compressed.
#include "runtime/fatbin.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "runtime/settings.hpp"

namespace gpu_emulator {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const unsigned char* data;
  const void* file;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1;

struct Header {
  std::uint32_t magic;
  std::uint16_t version, bytes;
  std::uint64_t payload_bytes;
};
constexpr std::uint32_t kHeaderMagic = 0xba55ed50;

struct Entry {
  std::uint16_t kind, version;
  std::uint32_t bytes;  // of this header
  std::uint64_t padded_payload_bytes;
  std::uint32_t compressed_bytes;  // 0: not compressed
  std::uint32_t options;
  std::uint16_t minor, major;
  std::uint32_t architecture;
  std::uint32_t name, name_bytes;
  std::uint64_t flags, zero, text_bytes;
};
constexpr std::uint16_t kPtx = 1;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;

/// A block of LZ4: literals and copies of what was written before, until the input ends.
bool decompress_lz4(const unsigned char* in, std::size_t bytes, std::string& out) {
  const unsigned char* const end = in + bytes;
  std::size_t at = 0;
  const auto length = [&](std::size_t n) {
    if (n != 15) return n;
    unsigned char more = 255;
    while (more == 255 && in < end) n += more = *in++;
    return n;
  };
  while (in < end) {
    const unsigned char token = *in++;
    const std::size_t literals = length(token >> 4);
    if (literals > std::size_t(end - in) || literals > out.size() - at) return false;
    std::memcpy(out.data() + at, in, literals);
    in += literals;
    at += literals;
    if (end - in < 2) break;  // the last sequence has no copy
    const std::size_t back = in[0] | std::size_t(in[1]) << 8;
    in += 2;
    const std::size_t copied = length(token & 15) + 4;
    if (back == 0 || back > at || copied > out.size() - at) return false;
    for (std::size_t i = 0; i < copied; ++i, ++at) out[at] = out[at - back];
  }
  return at == out.size();
}

/// By the system's library, which Debian's package manager needs anyway.
bool decompress_zstd(const unsigned char* in, std::size_t bytes, std::string& out) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  static const auto decompress =
      library == nullptr ? nullptr
                         : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  return decompress != nullptr && decompress(out.data(), out.size(), in, bytes) == out.size();
}

bool read_text(const Entry& entry, const unsigned char* payload, std::string& text) {
  const std::size_t bytes =
      entry.compressed_bytes != 0 ? entry.compressed_bytes : entry.padded_payload_bytes;
  if ((entry.flags & (kLz4 | kZstd)) == 0) {
    text.assign(reinterpret_cast<const char*>(payload), entry.padded_payload_bytes);
  } else {
    text.resize(entry.text_bytes);
    const bool zstd = (entry.flags & kZstd) != 0;
    if (!(zstd ? decompress_zstd : decompress_lz4)(payload, bytes, text)) return false;
  }
  text.resize(std::strlen(text.c_str()));  // it ends with zeros
  return true;
}

}  // namespace

PtxImage find_ptx(const void* wrapper, int most) {
  PtxImage image;
  const auto& outer = *static_cast<const Wrapper*>(wrapper);
  Header header{};
  if (outer.magic == kWrapperMagic) std::memcpy(&header, outer.data, sizeof header);
  if (header.magic != kHeaderMagic) {
    image.why = "the fat binary is of an unknown format";
    return image;
  }
  image.why = "there is none: compile with -gencode arch=compute_80,code=compute_80";
  const unsigned char* at = outer.data + header.bytes;
  const unsigned char* const end = at + header.payload_bytes;
  Entry best{};
  const unsigned char* payload = nullptr;
  while (end - at >= std::ptrdiff_t(sizeof(Entry))) {
    Entry entry;
    std::memcpy(&entry, at, sizeof entry);
    const bool suits = entry.kind == kPtx && int(entry.architecture) <= most;
    if (suits && (payload == nullptr || entry.architecture > best.architecture)) {
      best = entry;
      payload = at + entry.bytes;
    }
    at += entry.bytes + entry.padded_payload_bytes;
  }
  if (payload == nullptr) return image;
  image.architecture = int(best.architecture);
  image.why.clear();
  if (!read_text(best, payload, image.text)) {
    image.text.clear();
    image.why = "it cannot be decompressed: compile with nvcc's --no-compress";
  }
  return image;
}

namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Names in unnamed namespaces hold a hash of how the file was compiled: it is left out.
std::string without_hash(std::string name) {
  const std::string mark = "_GLOBAL__N__";
  if (const std::size_t at = name.find(mark); at != name.npos) {
    name.erase(at + mark.size(), 8);
  }
  return name;
}

}  // namespace

bool same_name(const std::string& a, const std::string& b) {
  return without_hash(a) == without_hash(b);
}

std::string ptx_file_with(const std::string& kernel) {
  static const auto* const files = [] {
    auto* index = new std::map<std::string, std::filesystem::path>;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(settings().ptx, none)) {
      if (file.path().extension() != ".ptx") continue;
      const std::string text = text_of_file(file.path()), mark = ".entry ";
      for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at)) {
        at += mark.size();
        (*index)[without_hash(text.substr(at, text.find_first_of("( \n", at) - at))] = file.path();
      }
    }
    return index;
  }();
  const auto found = files->find(without_hash(kernel));
  return found != files->end() ? text_of_file(found->second) : "";
}

}  // namespace gpu_emulator
