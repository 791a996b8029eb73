#include "ptx/program/opcode.hpp"

#include <algorithm>

#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr Named<Type> kTypes[] = {
    {"pred", Type::pred}, {"b8", Type::b8},       {"u8", Type::u8},    {"s8", Type::s8},
    {"b16", Type::b16},   {"u16", Type::u16},     {"s16", Type::s16},  {"f16", Type::f16},
    {"bf16", Type::bf16}, {"b32", Type::b32},     {"u32", Type::u32},  {"s32", Type::s32},
    {"f32", Type::f32},   {"f16x2", Type::f16x2}, {"b64", Type::b64},  {"u64", Type::u64},
    {"s64", Type::s64},   {"f64", Type::f64},     {"b128", Type::b128}};

constexpr Named<Round> kRounds[] = {{"rn", Round::rn},   {"rz", Round::rz},   {"rm", Round::rm},
                                    {"rp", Round::rp},   {"rna", Round::rna}, {"rni", Round::rni},
                                    {"rzi", Round::rzi}, {"rmi", Round::rmi}, {"rpi", Round::rpi}};

constexpr Named<Space> kSpaces[] = {
    {"global", Space::global},      {"shared", Space::shared},
    {"shared::cta", Space::shared}, {"shared::cluster", Space::shared},
    {"local", Space::local},        {"param", Space::param},
    {"param::entry", Space::param}, {"param::func", Space::param},
    {"const", Space::constant}};

constexpr Named<Atomic> kAtomics[] = {
    {"add", Atomic::add}, {"min", Atomic::min}, {"max", Atomic::max},   {"inc", Atomic::inc},
    {"dec", Atomic::dec}, {"cas", Atomic::cas}, {"exch", Atomic::exch}, {"and", Atomic::and_},
    {"or", Atomic::or_},  {"xor", Atomic::xor_}};

constexpr Named<Compare> kCompares[] = {
    {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},
    {"gt", Compare::gt},   {"ge", Compare::ge},   {"lo", Compare::lt},   {"ls", Compare::le},
    {"hi", Compare::gt},   {"hs", Compare::ge},   {"equ", Compare::equ}, {"neu", Compare::neu},
    {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu}, {"geu", Compare::geu},
    {"num", Compare::num}, {"nan", Compare::nan}};

template <class T, std::size_t n>
std::optional<T> first_named(const Named<T> (&list)[n],
                             const std::vector<std::string_view>& words) {
  for (const auto word : words) {
    if (const auto found = find_named(list, word)) return found;
  }
  return std::nullopt;
}

}  // namespace

Type type_of(std::string_view name) { return find_named(kTypes, name).value_or(Type::none); }

Opcode::Opcode(std::string_view name) : text(name) {
  std::size_t from = name.find('.');
  base = name.substr(0, from);
  while (from != name.npos) {
    const std::size_t to = name.find('.', from + 1);
    const auto modifier = name.substr(from + 1, to == name.npos ? to : to - from - 1);
    modifiers.push_back(modifier);
    from = to;
    const Type t = type_of(modifier);
    if (t != Type::none && types < 3) type[types++] = t;
    if (const auto r = find_named(kRounds, modifier)) round = *r;
  }
  ftz = has("ftz");
  sat = has("sat") || has("satfinite");
  approx = has("approx");
  full = has("full");
}

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}
Space Opcode::space() const { return first_named(kSpaces, modifiers).value_or(Space::generic); }
Atomic Opcode::atomic() const { return first_named(kAtomics, modifiers).value_or(Atomic::none); }
std::optional<Compare> Opcode::compare() const { return first_named(kCompares, modifiers); }

}  // namespace gpu_emulator::ptx
