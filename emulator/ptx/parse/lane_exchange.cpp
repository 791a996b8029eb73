// Instructions that lanes of a warp do together.
#include "ptx/machine/memory_operations.hpp"
#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr Named<u8> kShuffles[] = {
    {"up", kShuffleUp}, {"down", kShuffleDown}, {"bfly", kShuffleXor}, {"idx", kShuffleIndex}};
constexpr Named<u8> kVotes[] = {
    {"all", kVoteAll}, {"any", kVoteAny}, {"uni", kVoteUniform}, {"ballot", kVoteBallot}};

template <std::size_t n>
u8 mode_of(const Opcode& op, const Named<u8> (&list)[n]) {
  for (const auto modifier : op.modifiers) {
    if (const auto found = find_named(list, modifier)) return *found;
  }
  return list[n - 1].value;
}

}  // namespace

BodyParser::Parse BodyParser::find_exchange(std::string_view base) {
  static constexpr Named<Parse> kList[] = {
      {"shfl", &BodyParser::shuffle}, {"vote", &BodyParser::vote},
      {"match", &BodyParser::match},  {"redux", &BodyParser::redux},
      {"elect", &BodyParser::elect},  {"activemask", &BodyParser::active_mask}};
  return find_named(kList, base).value_or(nullptr);
}

void BodyParser::warp_barrier(Statement& s) {
  need(s, 1);
  s.ins.kind = Kind::warpbar;
  set(s.ins, {}, {source(s.x[0], Type::b32)});
  emit(s.ins);
}

void BodyParser::shuffle(Statement& s) {
  if (!s.op.has("sync")) unknown(s);
  need(s, 5);
  s.ins.kind = Kind::shfl;
  s.ins.mode = mode_of(s.op, kShuffles);
  s.ins.mode2 = s.x[0].paired;
  const u32 d = destination(s.x[0], Type::b32), p = paired_predicate(s.x[0]);
  set(s.ins, {d, p},
      {source(s.x[1], Type::b32), source(s.x[2], Type::b32), source(s.x[3], Type::b32),
       source(s.x[4], Type::b32)});
  emit(s.ins);
}

void BodyParser::vote(Statement& s) {
  if (!s.op.has("sync")) unknown(s);
  need(s, 3);
  s.ins.kind = Kind::vote;
  s.ins.mode = mode_of(s.op, kVotes);
  s.ins.imm = s.x[1].negated ? 1 : 0;
  const Type result = s.ins.mode == kVoteBallot ? Type::b32 : Type::pred;
  set(s.ins, {destination(s.x[0], result)},
      {source(s.x[1], Type::pred), source(s.x[2], Type::b32)});
  emit(s.ins);
}

void BodyParser::match(Statement& s) {
  need(s, 3);
  s.ins.kind = Kind::match;
  s.ins.mode = s.op.has("all");
  s.ins.mode2 = s.x[0].paired;
  s.ins.size = u8(width(s.type()));
  const u32 d = destination(s.x[0], Type::b32), p = paired_predicate(s.x[0]);
  set(s.ins, {d, p}, {source(s.x[1], s.type()), source(s.x[2], Type::b32)});
  emit(s.ins);
}

void BodyParser::redux(Statement& s) {
  need(s, 3);
  if (s.type() == Type::f32) unknown(s);
  s.ins.kind = Kind::redux;
  s.ins.mode = u8(s.op.atomic());
  s.ins.mode2 = is_signed(s.type());
  set(s.ins, {destination(s.x[0], s.type())},
      {source(s.x[1], s.type()), source(s.x[2], Type::b32)});
  emit(s.ins);
}

void BodyParser::elect(Statement& s) {
  need(s, 2);
  if (!s.x[0].paired) unknown(s);
  s.ins.kind = Kind::elect;
  const u32 d = destination(s.x[0], Type::b32), p = paired_predicate(s.x[0]);
  set(s.ins, {d, p}, {source(s.x[1], Type::b32)});
  emit(s.ins);
}

void BodyParser::active_mask(Statement& s) {
  need(s, 1);
  s.ins.handler = kActiveMask;
  set(s.ins, {destination(s.x[0], Type::b32)}, {});
  emit(s.ins);
}

}  // namespace gpu_emulator::ptx
