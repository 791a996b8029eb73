// Everything: batches of small frictional-contact problems, solved together, judged one by one.
#pragma once
#include "stickslip/batch.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/formulation.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/host_lcp.hpp"
#include "stickslip/info.hpp"
#include "stickslip/lcp.hpp"
#include "stickslip/mncp.hpp"
#include "stickslip/solve.hpp"
#include "stickslip/sparse_mechanism.hpp"
#include "stickslip/types.hpp"
