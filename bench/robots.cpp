// The laws coulomb and convex on the robots' problems in $STICKSLIP_DATA/robots (default
// ../shared/data), each problem solved alone on one thread. Skipped if the folder is absent.
#include <benchmark/benchmark.h>
#include <hdf5.h>

#include <cstdlib>
#include <filesystem>

#include "bench/label.hpp"
#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

namespace fs = std::filesystem;

fs::path robots_folder() {
  const char* data = std::getenv("STICKSLIP_DATA");
  return fs::path(data != nullptr ? data : "../shared/data") / "robots";
}

/// All values of a one- or two-dimensional dataset; empty if the group has none of that name.
template <class T>
std::vector<T> read(hid_t group, const char* name) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return {};
  const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<T> values(std::size_t(H5Sget_simple_extent_npoints(space)));
  const hid_t type = sizeof(T) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
  if (!values.empty()) H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

int read_count(hid_t group, const char* name) {
  int value = 0;
  const hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
  H5Aread(attribute, H5T_NATIVE_INT, &value);
  H5Aclose(attribute);
  return value;
}

reference::Vector to_vector(const std::vector<double>& v) {
  return Eigen::Map<const reference::Vector>(v.data(), Eigen::Index(v.size()));
}

reference::Problem read_problem(hid_t group) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  reference::Problem p;
  p.dims = read<std::int32_t>(group, "dims");
  p.counts = {read_count(group, "n_free"), read_count(group, "n_nonneg"),
              read_count(group, "n_box"), std::int32_t(p.dims.size())};
  const auto W = read<double>(group, "W");
  p.b = to_vector(read<double>(group, "b"));
  p.W = Eigen::Map<const RowMajor>(W.data(), p.b.size(), p.b.size());
  p.mu = to_vector(read<double>(group, "mu"));
  p.R = to_vector(read<double>(group, "R"));
  p.lo = to_vector(read<double>(group, "lo"));
  p.hi = to_vector(read<double>(group, "hi"));
  return p;
}

/// The problems of a file whose names end in the law's.
std::vector<reference::Problem> read_problems(const fs::path& file, Law law) {
  std::vector<reference::Problem> problems;
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t all = H5Gopen2(id, "problems", H5P_DEFAULT);
  H5G_info_t info{};
  H5Gget_info(all, &info);
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char text[256] = {};
    H5Lget_name_by_idx(all, ".", H5_INDEX_NAME, H5_ITER_INC, i, text, sizeof text, H5P_DEFAULT);
    if (!std::string(text).ends_with(name(law))) continue;
    const hid_t group = H5Gopen2(all, text, H5P_DEFAULT);
    problems.push_back(read_problem(group));
    H5Gclose(group);
  }
  H5Gclose(all);
  H5Fclose(id);
  return problems;
}

void solve_robot(benchmark::State& state, const fs::path& file, const SolveOptions& options) {
  const auto loaded = read_problems(file, options.law);
  const HostProblems<double> problems = support::to_batch<double>(loaded);
  HostResults<double> results(problems.num_envs(), problems.max_rows());
  Workspace workspace(problems.max_rows(), problems.max_contacts(), 1);
  for (auto _ : state) solve(problems.view(), results.view(), options, workspace);

  const auto each = seconds_each(problems, results, options);
  state.counters["us_median"] = 1e6 * quantile(each, 0.5);
  state.counters["us_p95"] = 1e6 * quantile(each, 0.95);
  state.counters["us_max"] = 1e6 * quantile(each, 1.0);
  count_rungs(state.counters, results, problems.num_envs());
  state.SetItemsProcessed(state.iterations() * problems.num_envs());
}

const bool registered = [] {
  if (!fs::is_directory(robots_folder())) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(robots_folder())) {
    if (entry.path().extension() != ".h5") continue;
    for (const Law law : {Law::coulomb, Law::convex}) {
      for (const Precision precision : {Precision::float64, Precision::mixed}) {
        if (law == Law::convex && precision == Precision::mixed) continue;
        SolveOptions options;
        options.law = law;
        options.precision = precision;
        const std::string setup = std::string(name(law)) + "/auto/" + bench::label(precision);
        const std::string robot = entry.path().stem().string();
        const auto run = [=](benchmark::State& state) {
          solve_robot(state, entry.path(), options);
        };
        const auto unit = benchmark::kMicrosecond;
        benchmark::RegisterBenchmark(("robots/" + setup + "/" + robot).c_str(), run)->Unit(unit);
        if (law == Law::convex) continue;
        benchmark::RegisterBenchmark(("rungs/" + setup + "/robots/" + robot).c_str(), run)
            ->Unit(unit);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
