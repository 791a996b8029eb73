// Friction with one coefficient per contact: that of rows, and back, on the host and on a device.
#include <cmath>
#include <limits>

#include "stickslip/stickslip.hpp"
#include "tests/launch/on_device.hpp"
#include "tests/support/dyadic.hpp"
#include "tests/support/refusal.hpp"

namespace stickslip {
namespace {

constexpr int kEnvs = 300;  // three blocks

/// Batches with environments that do not fit their slots.
template <class Scalar>
struct Numbers {
  support::DyadicBatch<Scalar> batch{kEnvs};
  ProblemBatch<Scalar> problem = batch.view();
  std::vector<RowCounts> counts{problem.counts.data, problem.counts.data + kEnvs};
  std::vector<std::int32_t> dims{problem.dims.data,
                                 problem.dims.data + kEnvs* problem.max_contacts};
  std::vector<Scalar> contacts, rows;

  Numbers()
      : contacts(std::size_t(kEnvs) * batch.kMaxContacts),
        rows(std::size_t(kEnvs) * batch.kMaxRows) {
    support::Random random(5);
    for (auto* numbers : {&contacts, &rows}) {
      for (Scalar& x : *numbers) x = Scalar(random.dyadic(0, 1));
    }
    counts[1].n_contacts = problem.max_contacts + 1;
    counts[2].n_contacts = -1;
    counts[3].n_nonneg = problem.max_rows;
    counts[4].n_contacts = 1;
    dims[std::size_t(4 * problem.max_contacts)] = 30;
    problem.counts = {counts.data(), 1};
    problem.dims = {dims.data(), problem.max_contacts};
  }
  bool fits(int env) const { return env < 1 || env > 4; }
  template <class T>
  EnvArray<T> of_contacts(T* data) const {
    return {data, problem.max_contacts};
  }
  template <class T>
  EnvArray<T> of_rows(T* data) const {
    return {data, problem.max_rows};
  }
};

template <class Scalar>
class Friction : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Friction, Types);

TYPED_TEST(Friction, of_a_contact_is_that_of_its_rows) {
  using Scalar = TypeParam;
  const Numbers<Scalar> n;
  const Scalar untouched = -7;
  std::vector<Scalar> rows(n.rows.size(), untouched), sums(n.contacts.size(), untouched);
  spread_friction(n.problem, n.of_contacts(n.contacts.data()), n.of_rows(rows.data()));
  sum_friction(n.problem, n.of_rows(n.rows.data()), n.of_contacts(sums.data()));
  for (int env = 0; env < kEnvs; ++env) {
    const Scalar *row = &rows[std::size_t(env * n.problem.max_rows)],
                 *by_row = &n.rows[std::size_t(env * n.problem.max_rows)];
    const std::size_t first = std::size_t(env * n.problem.max_contacts);
    int i = 0;
    for (int k = 0; k < n.problem.max_contacts; ++k) {
      const std::size_t contact = first + std::size_t(k);
      const bool used = n.fits(env) && k < n.counts[std::size_t(env)].n_contacts;
      Scalar sum = 0;
      for (const int end = i + (used ? n.dims[contact] - 1 : 0); i < end; ++i) {
        EXPECT_EQ(row[i], n.contacts[contact]) << env;
        sum += by_row[i];
      }
      EXPECT_EQ(sums[contact], sum) << env;
    }
    for (; i < n.problem.max_rows; ++i) EXPECT_EQ(row[i], untouched) << env;
  }
}

TYPED_TEST(Friction, has_the_same_bits_on_a_device) {
  using Scalar = TypeParam;
  if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  const Numbers<Scalar> n;
  std::vector<Scalar> rows(n.rows.size()), sums(n.contacts.size());
  spread_friction(n.problem, n.of_contacts(n.contacts.data()), n.of_rows(rows.data()));
  sum_friction(n.problem, n.of_rows(n.rows.data()), n.of_contacts(sums.data()));

  const cuda::Stream stream = support::stream(1);
  support::DeviceMemory memory(stream);
  const ProblemBatch<Scalar> problem = memory.copy(n.problem);
  const auto contacts = memory.copy(n.of_contacts(n.contacts.data()), kEnvs);
  const auto by_row = memory.copy(n.of_rows(n.rows.data()), kEnvs);
  const std::vector<Scalar> zeros(n.rows.size());
  const auto to_rows = n.of_rows(memory.template room<Scalar>(zeros.size()));
  const auto to_sums = n.of_contacts(memory.template room<Scalar>(sums.size()));
  support::Capture graph(stream);
  cuda::clear(to_rows.data, zeros.size() * sizeof(Scalar), stream);
  cuda::spread_friction(problem, {contacts.data, contacts.stride}, to_rows, stream);
  cuda::sum_friction(problem, {by_row.data, by_row.stride}, to_sums, stream);
  graph.end();
  graph.replay();
  graph.replay();
  EXPECT_EQ(memory.download(to_rows, kEnvs), rows);
  EXPECT_EQ(memory.download(to_sums, kEnvs), sums);
}

TEST(FrictionMisuse, is_refused_by_name) {
  Numbers<double> n;
  const auto from = n.of_contacts<const double>(n.contacts.data());
  const auto to = n.of_rows(n.rows.data());
  EXPECT_EQ(support::refusal_of([&] { spread_friction(n.problem, {}, to); }),
            "contacts: expected an array, got none");
  EXPECT_EQ(support::refusal_of([&] { spread_friction(n.problem, from, {}); }),
            "rows: expected an array, got none");
  n.problem.counts = {};
  EXPECT_EQ(support::refusal_of([&] { spread_friction(n.problem, from, to); }),
            "problem.counts: expected an array, got none");
  n.problem.num_envs = 0;
  EXPECT_EQ(support::refusal_of([&] { spread_friction(n.problem, {}, {}); }), "");
  n.problem.num_envs = -1;
  EXPECT_EQ(support::refusal_of([&] { spread_friction(n.problem, from, to); }),
            "problem.num_envs: expected a number >= 0, got -1");
}

}  // namespace
}  // namespace stickslip
