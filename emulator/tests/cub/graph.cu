// Algorithms in a graph.
#include <cub/cub.cuh>
#include <numeric>
#include <random>

#include "support.cuh"
#include "tests.cuh"

/// Captured once, replayed with other data.
void graph(int n) {
  Device<int> keys(n), values(n), sorted(n), permuted(n), sums(n), selected(n), count(1);
  size_t bytes[3] = {};
  const auto all = [&](void* t, size_t(&b)[3], cudaStream_t s) {
    CUDA(cub::DeviceRadixSort::SortPairs(t, b[0], keys.p, sorted.p, values.p, permuted.p, n, 0, 32,
                                         s));
    CUDA(cub::DeviceScan::InclusiveSum(t, b[1], sorted.p, sums.p, n, s));
    CUDA(cub::DeviceSelect::If(t, b[2], sorted.p, selected.p, count.p, n, Even(), s));
  };
  all(nullptr, bytes, nullptr);
  Device<char> storage(std::max({bytes[0], bytes[1], bytes[2]}));
  cudaStream_t s;
  CUDA(cudaStreamCreate(&s));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  all(storage.p, bytes, s);
  CUDA(cudaStreamEndCapture(s, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int replay = 0; replay < 3; ++replay) {
    std::mt19937 random(unsigned(replay) + 7);
    std::vector<int> x(n), order(n);
    for (int& k : x) k = int(random() % 1000u);
    std::iota(order.begin(), order.end(), 0);
    CUDA(cudaMemcpy(keys.p, x.data(), sizeof(int) * n, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(values.p, order.data(), sizeof(int) * n, cudaMemcpyHostToDevice));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] < x[b]; });
    std::sort(x.begin(), x.end());
    same("graph: keys", n, sorted.host(), x);
    same("graph: values", n, permuted.host(), order);
    std::vector<int> want(n), even;
    std::inclusive_scan(x.begin(), x.end(), want.begin());
    same("graph: sums", n, sums.host(), want);
    std::copy_if(x.begin(), x.end(), std::back_inserter(even), Even());
    same("graph: count", n, count.host(), {int(even.size())});
    same("graph: selected", n, selected.host(even.size()), even);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}
