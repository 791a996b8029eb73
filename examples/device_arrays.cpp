// Solves problems whose arrays are in the memory of a GPU, in place.
#include <cstdio>
#include <vector>

#include "stickslip/stickslip.hpp"

int main() {
  using namespace stickslip;
  if (!cuda::available()) {
    std::printf("not run: %s\n", cuda::why_not().c_str());
    return 0;
  }
  const int num_envs = 1024, rows = 3;
  const RowCounts counts{.n_contacts = 1};
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double mu[2] = {0.5, 0.5};
  const std::vector<double> b(num_envs * rows, -0.5);
  cuda::Stream stream = nullptr;  // or your own cudaStream_t

  // Your program has such memory already; here it is filled from the host.
  const auto on_device = [&](const void* host, std::size_t bytes) {
    cuda::Buffer buffer(bytes);
    buffer.upload(host, bytes, stream);
    return buffer;
  };
  const cuda::Buffer counts_d = on_device(&counts, sizeof counts), W_d = on_device(W, sizeof W);
  const cuda::Buffer mu_d = on_device(mu, sizeof mu);
  const cuda::Buffer b_d = on_device(b.data(), b.size() * sizeof(double));
  const cuda::Buffer impulse(b.size() * sizeof(double)), residual(num_envs * sizeof(double));
  const cuda::Buffer status(num_envs * sizeof(EnvStatus)), steps(num_envs * sizeof(int));
  const cuda::Buffer solver(num_envs * sizeof(Solver));

  ProblemBatch<double> problem;
  problem.num_envs = num_envs;
  problem.max_rows = rows;
  problem.max_contacts = 1;
  problem.counts = {static_cast<const RowCounts*>(counts_d.data()), 0};  // 0: shared by all
  problem.W = {static_cast<const double*>(W_d.data()), 0};
  problem.mu = {static_cast<const double*>(mu_d.data()), 0};
  problem.b = {static_cast<const double*>(b_d.data()), rows};
  ResultBatch<double> result;
  result.impulse = {static_cast<double*>(impulse.data()), rows};
  result.residual = static_cast<double*>(residual.data());
  result.status = static_cast<EnvStatus*>(status.data());
  result.iterations = static_cast<std::int32_t*>(steps.data());
  result.solver = static_cast<Solver*>(solver.data());

  // This allocates; solve does not.
  cuda::Workspace workspace({.num_envs = num_envs, .max_rows = rows, .max_contacts = 1});
  cuda::solve(problem, result, SolveOptions{}, workspace, stream);
  cuda::wait(stream);

  std::vector<EnvStatus> verdicts(num_envs);
  status.download(verdicts.data(), num_envs * sizeof(EnvStatus), stream);
  cuda::wait(stream);
  for (EnvStatus verdict : verdicts)
    if (verdict != EnvStatus::solved) return 1;
  std::printf("%d problems solved on %s\n", num_envs, cuda::device_name().c_str());
}
