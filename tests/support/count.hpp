// The number of random problems in a test's loop.
#pragma once
#include <cstdlib>

namespace stickslip::support {

/// STICKSLIP_TEST_COUNT, or `fallback` if it is not set.
inline int test_count(int fallback) {
  const char* text = std::getenv("STICKSLIP_TEST_COUNT");
  return text == nullptr ? fallback : std::atoi(text);
}

}  // namespace stickslip::support
