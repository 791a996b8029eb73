#include "gallery/cpp/gallery.hpp"

namespace stickslip::gallery {

Record pendulum(int variations);
Record hinge(int variations);
Record double_pendulum(int variations);
Record four_bar(int variations);
Record sliding_cube(int variations);
Record falling_block(int variations);
Record forward_sliding(int variations);
Record bidirectional_sliding(int variations);
Record bolt(int variations);
Record backspin_ball(int variations);
Record turntable(int variations);
Record painleve_rod(int variations);
Record arch(int variations);

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      {"pendulum", pendulum},
      {"hinge", hinge},
      {"double_pendulum", double_pendulum},
      {"four_bar", four_bar},
      {"sliding_cube", sliding_cube},
      {"falling_block", falling_block},
      {"forward_sliding", forward_sliding},
      {"bidirectional_sliding", bidirectional_sliding},
      {"bolt", bolt},
      {"backspin_ball", backspin_ball},
      {"turntable", turntable},
      {"painleve_rod", painleve_rod},
      {"arch", arch},
  };
  return list;
}

}  // namespace stickslip::gallery
