// All tests of CUB and Thrust on the emulator.
#pragma once

// Algorithms on lists of n items whose blocks wait for one another, against the host.
void sorting(int n);
void selecting(int n);
void run_lengths(int n);
void sums(int n);
void thrust_algorithms(int n);

void graph(int n);
void waiting();
void instructions();
void hang();
