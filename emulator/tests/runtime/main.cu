// What is right works, whatever the settings of the emulator are.
#include "support.cuh"
#include "tests.cuh"

int main() {
  device_and_errors();
  memory();
  launches();
  parameters();
  graphs();
  captures();
  joined_captures();
  events();
  streams();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
