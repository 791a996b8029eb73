// Which geoms may meet within the step, and from what distance contacts of each pair are searched.
// MuJoCo finds the contacts of two geoms whose distance is less than a margin. A rigid contact must
// be known before it closes within the step: so the margin of a pair must cover the distance by
// which its geoms can approach each other in a step,
//
//     h (|v_rel| + |ω_rel| r) + h 0.25 m/s + 4 h² |gravity| + 1 µm
//
// with the relative velocity at the centre of the smaller geom and its radius r (a sphere's surface
// does not move along its contact's normal when it turns). Only pairs within that distance are
// listed. So links of a robot that move together need small margins, however fast the robot is. For
// bodies of different mechanisms the sum of their speeds is used: one that follows another may
// reach it in the step in which the other is stopped. And a body that is hit in this way can be
// pushed on to a third.
#pragma once
#include <mujoco/mujoco.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "src/mujoco/contacts/part.hpp"

namespace stickslip::mujoco {

/// Two geoms that may meet in the step.
struct NearPair {
  int geom[2];
  int parts;     ///< number of their pair of parts
  int listed;    ///< index of the pair in the model's list (<pair>); -1: none
  double ahead;  ///< m, search distance in addition to the model's margin
  double jolt;   ///< m, the part of it that pushes of other bodies cause
};

/// The result for one environment, and work memory. Reused from step to step.
struct NearPairs {
  bool sees_gaps = false;       ///< something may adhere: contacts within gaps are searched too
  std::vector<NearPair> pairs;  ///< in ascending order of their bodies
  std::vector<GeomMotion> of_part, of_geom;
  std::vector<std::uint8_t> known;  ///< of_geom
  std::vector<double> way;  ///< m, by how much the parts of each pair may approach each other; < 0:
                            ///< they do not meet
  std::vector<double> jolt;           ///< m, by how much a body near it may move a part in the step
  std::vector<int> geoms_a, geoms_b;  ///< of two parts
};

/// Margin and gap of geoms a and b, or, if `listed` >= 0, of that pair of the model's list, m.
double margin_of(const mjModel* m, int a, int b, int listed);
double gap_of(const mjModel* m, int a, int b, int listed);

class Broadphase {
 public:
  Broadphase() = default;
  explicit Broadphase(const mjModel* m);

  /// False: too many pairs of bodies to check each of them.
  bool usable() const { return usable_; }

  /// Motions of all parts, for the state of d, whose positions and `cvel` are computed.
  void find_motions(const mjModel* m, const mjData* d, NearPairs& found) const;
  /// The pairs that may meet, after find_motions.
  void find_pairs(const mjModel* m, const mjData* d, NearPairs& found) const;

  const std::vector<Part>& parts() const { return parts_; }

 private:
  struct Pair {
    int a, b;      // parts
    bool by_bits;  // by contype and conaffinity
    bool apart;    // of different mechanisms, both of which move
    bool single;   // each of one geom, and no listed pair
    int listed, num_listed;
  };
  struct Listed {
    int a, b, number;  // parts, and the index of the pair in the model's list
  };

  void list_parts(const mjModel* m);
  void list_pairs(const mjModel* m);
  std::vector<Listed> list_model_pairs(const mjModel* m) const;
  double distance_of(const mjModel* m, const NearPairs& found, const Pair& pair) const;
  double find_jolts(const mjModel* m, NearPairs& found) const;
  void list_near_geoms(const mjModel* m, const mjData* d, const NearPairs& found, int a, int b,
                       double distance, std::vector<int>& geoms) const;
  void add_geoms(const mjModel* m, const mjData* d, NearPairs& found, const Pair& pair,
                 double jolt) const;

  std::vector<Part> parts_, geoms_;
  std::vector<int> part_of_;  // of each geom that may meet others
  std::vector<Pair> pairs_;
  std::vector<Listed> listed_;
  bool usable_ = true;
};

}  // namespace stickslip::mujoco
