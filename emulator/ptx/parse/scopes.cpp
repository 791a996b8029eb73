#include "ptx/parse/scopes.hpp"

namespace gpu_emulator::ptx {

void Scopes::open() {
  outer_.push_back(open_.empty() ? kNone : current());
  open_.emplace_back();
  here().id = u32(outer_.size() - 1);
}

std::optional<u32> Scopes::find_register(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const bool numbered = digits < name.size() && name.size() - digits < 9;
  u32 n = 0;
  if (numbered) {
    for (const char c : name.substr(digits)) n = n * 10 + u32(c - '0');
  }
  for (auto s = open_.rbegin(); s != open_.rend(); ++s) {
    const auto r = s->registers.find(name);
    if (r != s->registers.end()) return r->second;
    if (!numbered) continue;
    const auto p = s->prefixes.find(name.substr(0, digits));
    if (p != s->prefixes.end() && n < p->second.count) return p->second.first + n;
  }
  return std::nullopt;
}

const Variable* Scopes::find_variable(std::string_view name) const {
  for (auto s = open_.rbegin(); s != open_.rend(); ++s) {
    const auto v = s->variables.find(name);
    if (v != s->variables.end()) return &v->second;
  }
  return nullptr;
}

std::optional<u32> Scopes::find_label(u32 scope, std::string_view name) const {
  for (; scope != kNone; scope = outer_[scope]) {
    const auto l = labels_.find({scope, name});
    if (l != labels_.end()) return l->second;
  }
  return std::nullopt;
}

}  // namespace gpu_emulator::ptx
