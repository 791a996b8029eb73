// Every lane of a pack has the bits of the same operation on plain numbers.
#include "kernels/group/pack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/random.hpp"

namespace stickslip {
namespace {

constexpr int kLanes = 16;

template <class T>
std::vector<T> awkward_numbers() {
  using L = kernels::Limits<T>;
  const T tiny = std::numeric_limits<T>::denorm_min(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> numbers = {T(0),
                            T(-0.0),
                            T(1),
                            T(-1),
                            L::infinity,
                            -L::infinity,
                            nan,
                            T(4),
                            tiny,
                            -tiny,
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::min(),
                            L::epsilon};
  support::Random random(7);
  while (numbers.size() < 48) numbers.push_back(T(random.normal()));
  return numbers;
}

/// Bits of a number; all NaN count as one.
template <class T>
std::uint64_t bits(T x) {
  std::uint64_t b = 0;
  if (x == x) std::memcpy(&b, &x, sizeof x);
  return x == x ? b : ~0ULL;
}
std::uint64_t bits(bool x) { return x ? 1 : 0; }

template <class T>
T lane(const kernels::Pack<T, kLanes>& p, int l) {
  return p.lane(l);
}
template <class T>
bool lane(const kernels::PackMask<T, kLanes>& m, int l) {
  return ((m.bits() >> l) & 1U) != 0U;
}

template <class T>
kernels::Pack<T, kLanes> pack_of(const std::vector<T>& numbers, std::size_t first,
                                 std::size_t step) {
  std::vector<T> chosen(kLanes);
  const T* from[kLanes];
  for (std::size_t l = 0; l < kLanes; ++l) {
    chosen[l] = numbers[(first + step * l) % numbers.size()];
    from[l] = &chosen[l];
  }
  kernels::Pack<T, kLanes> p;
  kernels::gather_lanes<T, kLanes>(from, 1, &p);
  return p;
}

/// Compares f(a, b, c) on packs with f lane by lane, over many triples.
template <class T, class F>
void expect_lanes(const char* what, F&& f) {
  const auto numbers = awkward_numbers<T>();
  for (std::size_t i = 0; i < 200; ++i) {
    const auto a = pack_of(numbers, i, 1), b = pack_of(numbers, 3 * i, 5),
               c = pack_of(numbers, 7 * i, 11);
    const auto got = f(a, b, c);
    for (int l = 0; l < kLanes; ++l) {
      ASSERT_EQ(bits(lane(got, l)), bits(f(a.lane(l), b.lane(l), c.lane(l))))
          << what << " of " << a.lane(l) << ", " << b.lane(l) << ", " << c.lane(l);
    }
  }
}

template <class T>
class PackOf : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(PackOf, Numbers);

TYPED_TEST(PackOf, arithmetic) {
  using T = TypeParam;
  using kernels::fma;
  using kernels::sqrt;
  expect_lanes<T>("sum", [](auto a, auto b, auto) { return a + b; });
  expect_lanes<T>("difference", [](auto a, auto b, auto) { return a - b; });
  expect_lanes<T>("product", [](auto a, auto b, auto) { return a * b; });
  expect_lanes<T>("ratio", [](auto a, auto b, auto) { return a / b; });
  expect_lanes<T>("opposite", [](auto a, auto, auto) { return -a; });
  expect_lanes<T>("fma", [](auto a, auto b, auto c) { return fma(a, b, c); });
  expect_lanes<T>("root", [](auto a, auto, auto) { return sqrt(a); });
}

TYPED_TEST(PackOf, choices) {
  using T = TypeParam;
  using kernels::abs;
  using kernels::clamp;
  using kernels::is_finite;
  using kernels::max;
  using kernels::min;
  using kernels::select;
  expect_lanes<T>("min", [](auto a, auto b, auto) { return min(a, b); });
  expect_lanes<T>("max", [](auto a, auto b, auto) { return max(a, b); });
  expect_lanes<T>("clamp", [](auto a, auto b, auto c) { return clamp(a, b, c); });
  expect_lanes<T>("abs", [](auto a, auto, auto) { return abs(a); });
  expect_lanes<T>("less", [](auto a, auto b, auto) { return a < b; });
  expect_lanes<T>("at most", [](auto a, auto b, auto) { return a <= b; });
  expect_lanes<T>("greater", [](auto a, auto b, auto) { return a > b; });
  expect_lanes<T>("at least", [](auto a, auto b, auto) { return a >= b; });
  expect_lanes<T>("equal", [](auto a, auto b, auto) { return a == b; });
  expect_lanes<T>("different", [](auto a, auto b, auto) { return a != b; });
  expect_lanes<T>("finite", [](auto a, auto, auto) { return is_finite(a); });
  expect_lanes<T>("select", [](auto a, auto b, auto c) {
    return select((a < b) & !(b < c), a, select((b < c) | (c == b), b, c));
  });
}

TYPED_TEST(PackOf, conversions) {
  using T = TypeParam;
  using Other = std::conditional_t<sizeof(T) == 4, double, float>;
  const auto numbers = awkward_numbers<T>();
  for (std::size_t i = 0; i < 100; ++i) {
    const auto a = pack_of(numbers, i, 3);
    const kernels::Pack<Other, kLanes> b(a);
    const kernels::PackMask<Other, kLanes> mask(a < kernels::Pack<T, kLanes>(T(0)));
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(bits(b.lane(l)), bits(Other(a.lane(l))));
      EXPECT_EQ(lane(mask, l), a.lane(l) < T(0));
    }
  }
}

TYPED_TEST(PackOf, any_and_all) {
  using Mask = kernels::PackMask<TypeParam, kLanes>;
  EXPECT_TRUE(all(Mask(true)));
  EXPECT_FALSE(any(Mask(false)));
  EXPECT_EQ(Mask(true).bits(), 0xffffU);
  for (int l = 0; l < kLanes; ++l) {
    std::vector<TypeParam> numbers(kLanes, TypeParam(1));
    numbers[std::size_t(l)] = TypeParam(-1);
    const auto negative = pack_of(numbers, 0, 1) < kernels::Pack<TypeParam, kLanes>(TypeParam(0));
    EXPECT_EQ(negative.bits(), 1U << l);
    EXPECT_TRUE(any(negative));
    EXPECT_FALSE(all(negative));
    EXPECT_FALSE(all(!negative));
  }
}

TEST(Pack, powers_of_two) {
  const auto numbers = awkward_numbers<double>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto a = pack_of(numbers, i, 1), b = power_of_two_below(a);
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(bits(b.lane(l)), bits(kernels::power_of_two_below(a.lane(l))));
    }
  }
}

// Sources end where their memory ends: a sanitizer would report reads beyond it.
TYPED_TEST(PackOf, gathered_lanes) {
  for (int count = 0; count <= 40; ++count) {
    std::vector<std::vector<TypeParam>> sources(kLanes);
    const TypeParam* from[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < count; ++i) sources[std::size_t(l)].push_back(TypeParam(100 * l + i));
      from[l] = sources[std::size_t(l)].data();
    }
    std::vector<kernels::Pack<TypeParam, kLanes>> to(std::size_t(count) + 1);
    to.back() = TypeParam(-1);
    kernels::gather_lanes<TypeParam, kLanes>(from, count, to.data());
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < count; ++i) {
        EXPECT_EQ(to[std::size_t(i)].lane(l), TypeParam(100 * l + i));
      }
      EXPECT_EQ(to.back().lane(l), TypeParam(-1)) << "written beyond " << count;
    }
  }
}

}  // namespace
}  // namespace stickslip
