// cub_test [LARGEST SIZE] or cub_test hang.
#include <cstdlib>
#include <cstring>

#include "support.cuh"
#include "tests.cuh"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "hang") == 0) {
    hang();
    return failures != 0;
  }
  const int most = argc > 1 ? std::atoi(argv[1]) : 300000;
  for (const int n : {1, 31, 5000, 300000}) {
    if (n > most) break;
    sorting(n);
    selecting(n);
    run_lengths(n);
    sums(n);
    thrust_algorithms(n);
  }
  graph(std::min(most, 20000));
  waiting();
  instructions();
  CUDA(cudaDeviceSynchronize());
  if (failures == 0) std::printf("cub_test: all right\n");
  return failures != 0;
}
