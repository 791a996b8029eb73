#include "gallery/cpp/support.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace {

using stickslip::gallery::Check;
using stickslip::gallery::Largest;
using stickslip::gallery::vary;
using stickslip::gallery::vary_log;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Gallery, ChecksOfNaNFail) {
  EXPECT_TRUE((Check{"", 1., 1.}.holds()));
  EXPECT_FALSE((Check{"", 1.1, 1.}.holds()));
  EXPECT_FALSE((Check{"", kNaN, 1.}.holds()));
}

TEST(Gallery, LargestRemembersNaN) {
  Largest largest;
  EXPECT_TRUE(std::isnan(largest));
  for (const double x : {-3., -1., -2.}) largest(x);
  EXPECT_EQ(largest, -1.);
  for (const double x : {kNaN, 5.}) largest(x);
  EXPECT_TRUE(std::isnan(largest));
}

TEST(Gallery, VariationsAreHaltonsSequence) {
  const double halves[] = {1. / 2, 1. / 4, 3. / 4, 1. / 8, 5. / 8};
  const double thirds[] = {1. / 3, 2. / 3, 1. / 9, 4. / 9, 7. / 9};
  for (int i = 0; i < 5; ++i) {
    EXPECT_DOUBLE_EQ(vary(i, 0, 0., 1.), halves[i]);
    EXPECT_DOUBLE_EQ(vary(i, 1, 10., 20.), 10. + 10. * thirds[i]);
    EXPECT_DOUBLE_EQ(vary_log(i, 0, 0.1, 10.), std::pow(10., 2. * halves[i] - 1.));
  }
  EXPECT_THROW(vary(0, 8, 0., 1.), std::out_of_range);
}

TEST(Gallery, VariationsDiffer) {
  for (int parameter = 0; parameter < 8; ++parameter) {
    std::set<double> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(vary(i, parameter, 0., 1.));
    EXPECT_EQ(seen.size(), 1000u);
    EXPECT_GT(*seen.begin(), 0.);
    EXPECT_LT(*seen.rbegin(), 1.);
  }
}

}  // namespace
