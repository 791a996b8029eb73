// Devices and device memory.
#include <utility>

#include "src/api/check.hpp"
#include "src/cuda/check.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

bool available() { return why_not().empty(); }

std::string why_not() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess) return devices > 0 ? "" : "no GPU answers here";
  cudaGetLastError();
  int driver = 0;  // its version; 0: there is none
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0) {
    return "no NVIDIA driver is installed here";
  }
  return std::string("no GPU answers here (CUDA: ") + cudaGetErrorString(error) + ")";
}

std::string device_name() {
  if (!available()) return {};
  int device = 0;
  cudaDeviceProp properties{};
  SS_CUDA(cudaGetDevice(&device));
  SS_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  SS_CUDA(cudaPointerGetAttributes(&attributes, memory));
  const bool usable =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return usable ? attributes.device : -1;
}

void clear(void* memory, std::size_t bytes, Stream stream) {
  if (bytes > 0) SS_CUDA(cudaMemsetAsync(memory, 0, bytes, stream));
}

void wait(Stream stream) { SS_CUDA(cudaStreamSynchronize(stream)); }

DeviceScope::DeviceScope(int device) {
  SS_CUDA(cudaGetDevice(&before_));
  if (device != before_) SS_CUDA(cudaSetDevice(device));
}
DeviceScope::~DeviceScope() { cudaSetDevice(before_); }

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes > 0) SS_CUDA(cudaMalloc(&data_, bytes));
}

Buffer::~Buffer() { cudaFree(data_); }

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Buffer::upload(const void* host, std::size_t bytes, Stream stream) {
  require(bytes <= bytes_, "bytes", "at most the size of the buffer", bytes);
  SS_CUDA(cudaMemcpyAsync(data_, host, bytes, cudaMemcpyHostToDevice, stream));
}

void Buffer::download(void* host, std::size_t bytes, Stream stream) const {
  require(bytes <= bytes_, "bytes", "at most the size of the buffer", bytes);
  SS_CUDA(cudaMemcpyAsync(host, data_, bytes, cudaMemcpyDeviceToHost, stream));
}

}  // namespace stickslip::cuda
