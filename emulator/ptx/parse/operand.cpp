#include "ptx/parse/operand.hpp"

#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr Named<Special> kSpecials[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
    // A cluster is a block.
    {"%nclusterid.x", Special::nctaid_x},
    {"%nclusterid.y", Special::nctaid_y},
    {"%nclusterid.z", Special::nctaid_z},
    {"%clusterid.x", Special::ctaid_x},
    {"%clusterid.y", Special::ctaid_y},
    {"%clusterid.z", Special::ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_one},
    {"%cluster_nctaid.y", Special::cluster_one},
    {"%cluster_nctaid.z", Special::cluster_one},
    {"%cluster_nctarank", Special::cluster_one},
    {"%cluster_ctaid.x", Special::cluster_zero},
    {"%cluster_ctaid.y", Special::cluster_zero},
    {"%cluster_ctaid.z", Special::cluster_zero},
    {"%cluster_ctarank", Special::cluster_zero},
};

}  // namespace

Special special_of(std::string_view name) {
  return find_named(kSpecials, name).value_or(Special::none);
}

bool is_clock(std::string_view name) {
  return name == "%clock" || name == "%clock64" || name == "%clock_hi" || name == "%globaltimer" ||
         name == "%globaltimer_lo" || name == "%globaltimer_hi";
}

}  // namespace gpu_emulator::ptx
