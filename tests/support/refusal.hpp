// What the library says of misuse.
#pragma once
#include <stdexcept>
#include <string>

namespace stickslip::support {

/// The message with which a call is refused; empty if it is not.
template <class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace stickslip::support
