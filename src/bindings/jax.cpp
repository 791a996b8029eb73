// Targets of XLA's foreign function interface, for stickslip.jax: XLA calls them with its arrays,
// from its threads, without Python. None where the headers of XLA were not found
// (src/bindings/CMakeLists.txt).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <algorithm>
#include <vector>

#include "src/bindings/jax_arguments.hpp"
#include "src/bindings/jax_device.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

namespace {

/// A call of XLA: what it passes. On a GPU with the device and the stream.
struct XlaCall {
  FromXla from;
  ToXla to;
  Attributes attributes;
  std::int32_t device = -1;
  cuda::Stream stream = nullptr;
};

/// Numbers in double that XLA wants in the type of W, or where it wants them.
template <class Scalar>
class Numbers {
 public:
  Numbers(Arrays& arrays, const AnyArray& result)
      : result_(arrays.output_numbers<Scalar>(result)), own_(std::size_t(arrays.num_envs())) {}
  double* data() { return own_.data(); }
  void round() const {
    std::transform(own_.begin(), own_.end(), result_, [](double value) { return Scalar(value); });
  }

 private:
  Scalar* result_;
  std::vector<double> own_;
};

template <class Scalar>
auto workspace_for(const XlaProblem<Scalar>& of, const XlaCall& call) {
  return take_workspace(of.view.max_rows, of.view.max_contacts,
                        call.attributes.get<std::int32_t>("threads"), Caller::xla);
}

/// The residual is double here, and of the type of W for XLA.
struct WithoutResidual {
  const ToXla& to;
  AnyArray operator()(std::string_view name) const {
    return name == "residual" ? AnyArray{} : to(name);
  }
};

struct Solve {
  static constexpr Names kArrays = kProblemArrays, kResults = kSolveResults;

  template <class Scalar>
  static void on_cpu(XlaProblem<Scalar>& of, const XlaCall& call) {
    of.require_room();
    auto r = results_of<Scalar>(of.arrays, WithoutResidual{call.to}, of.layout.rows);
    Numbers<Scalar> residual(of.arrays, call.to("residual"));
    r.residual = residual.data();
    solve(of.view, r, call.attributes.options(), *workspace_for(of, call));
    residual.round();
  }
  template <class Scalar>
  static void prepare(XlaProblem<Scalar>& of, const XlaCall& call) {
    device_memory(call.device, call.stream, of.view, call.attributes.options());
  }
  template <class Scalar>
  static void on_cuda(XlaProblem<Scalar>& of, const XlaCall& call) {
    auto* const residual = of.arrays.template output_numbers<Scalar>(call.to("residual"));
    solve_on_device(call.device, call.stream, of.view,
                    results_of<Scalar>(of.arrays, WithoutResidual{call.to}, of.layout.rows),
                    residual, call.attributes.options());
  }
};

struct Vjp {
  static constexpr Names kArrays = kVjpArrays, kResults = kVjpResults;

  /// What solve_vjp takes, without kink_distance and inconsistency.
  template <class Scalar>
  struct Task {
    SolutionBatch<Scalar> solution;
    LossBatch<Scalar> loss;
    GradientBatch<Scalar> gradient;

    Task(XlaProblem<Scalar>& of, const XlaCall& call)
        : solution(solution_of<Scalar>(of.arrays, of.from, of.layout.rows)),
          loss(loss_of<Scalar>(of.arrays, of.from, of.layout.rows)),
          gradient(derivatives_of<Scalar>(of.arrays, call.to, of.layout)) {
      GradientReport& report = gradient.report;
      report.status = reinterpret_cast<GradientStatus*>(
          of.arrays.template output_numbers<std::int32_t>(call.to("status")));
      report.redundant = of.arrays.template output_numbers<std::int32_t>(call.to("redundant"));
    }
  };

  template <class Scalar>
  static void on_cpu(XlaProblem<Scalar>& of, const XlaCall& call) {
    of.require_room();
    Task<Scalar> task(of, call);
    clear(task.gradient, of.view.num_envs);
    Numbers<Scalar> kink_distance(of.arrays, call.to("kink_distance"));
    Numbers<Scalar> inconsistency(of.arrays, call.to("inconsistency"));
    task.gradient.report.kink_distance = kink_distance.data();
    task.gradient.report.inconsistency = inconsistency.data();
    solve_vjp(of.view, task.solution, task.loss, task.gradient, call.attributes.options(),
              *workspace_for(of, call));
    kink_distance.round();
    inconsistency.round();
  }
  template <class Scalar>
  static void prepare(XlaProblem<Scalar>& of, const XlaCall& call) {
    device_memory(call.device, call.stream, of.view, call.attributes.options(), true);
  }
  template <class Scalar>
  static void on_cuda(XlaProblem<Scalar>& of, const XlaCall& call) {
    const Task<Scalar> task(of, call);
    vjp_on_device(call.device, call.stream, of.view, task.solution, task.loss, task.gradient,
                  of.arrays.template output_numbers<Scalar>(call.to("kink_distance")),
                  of.arrays.template output_numbers<Scalar>(call.to("inconsistency")),
                  call.attributes.options());
  }
};

/// Calls f(XlaProblem) with the type of W, and turns exceptions into XLA's errors.
template <class F>
ffi::Error with_problem(const FromXla& from, F&& f) {
  return guarded([&] {
    with_scalar(from("W"), [&](auto scalar) {
      XlaProblem<decltype(scalar)> of(from);
      f(of);
    });
  });
}

template <class Operation>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  static const auto handler = ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs().To(
      [](ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary attributes) {
        const XlaCall call{{arguments, Operation::kArrays},
                           {results, Operation::kResults},
                           Attributes(attributes)};
        return with_problem(call.from, [&](auto& of) { Operation::on_cpu(of, call); });
      });
  return handler->Call(frame);
}

/// What XLA calls on a GPU: `run(problem, call)`, at a stage of which `binding` is the beginning.
template <class Operation, class Binding, class Run>
auto device_handler(Binding&& binding, Run run, std::initializer_list<ffi::Traits> traits = {}) {
  return std::forward<Binding>(binding)
      .template Ctx<ffi::PlatformStream<cuda::Stream>>()
      .template Ctx<ffi::DeviceOrdinal>()
      .RemainingArgs()
      .RemainingRets()
      .Attrs()
      .To(
          [run](cuda::Stream stream, std::int32_t device, ffi::RemainingArgs arguments,
                ffi::RemainingRets results, ffi::Dictionary attributes) {
            const XlaCall call{{arguments, Operation::kArrays},
                               {results, Operation::kResults},
                               Attributes(attributes),
                               device,
                               stream};
            return with_problem(call.from, [&](auto& of) {
              of.require_room_for_any(call.attributes);
              run(of, call);
            });
          },
          traits);
}

/// The stage in which XLA lets targets allocate.
template <class Operation>
XLA_FFI_Error* prepare(XLA_FFI_CallFrame* frame) {
  static const auto handler = device_handler<Operation>(
      ffi::Ffi::BindInitialize(),
      [](auto& of, const XlaCall& call) { Operation::prepare(of, call); });
  return handler->Call(frame);
}

/// Operations themselves may be captured.
template <class Operation>
XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = device_handler<Operation>(
      ffi::Ffi::Bind(), [](auto& of, const XlaCall& call) { Operation::on_cuda(of, call); },
      {ffi::Traits::kCmdBufferCompatible});
  return handler->Call(frame);
}

nb::capsule capsule(XLA_FFI_Error* (*target)(XLA_FFI_CallFrame*)) {
  return nb::capsule(reinterpret_cast<void*>(target), "xla._CUSTOM_CALL_TARGET");
}

template <class Operation>
void add_targets(const char* name, nb::dict cpu, nb::dict on_gpu) {
  cpu[name] = capsule(&on_cpu<Operation>);
  nb::dict both;
  both["initialize"] = capsule(&prepare<Operation>);
  both["execute"] = capsule(&on_cuda<Operation>);
  on_gpu[name] = both;
}

}  // namespace

void bind_jax(nb::module_& m) {
  m.def(
      "jax_targets",
      [] {
        nb::dict cpu, on_gpu, targets;
        add_targets<Solve>("stickslip_solve", cpu, on_gpu);
        add_targets<Vjp>("stickslip_vjp", cpu, on_gpu);
        targets["cpu"] = cpu;
        if (cuda::available()) targets["CUDA"] = on_gpu;
        return targets;
      },
      "Targets of XLA's foreign function interface, by platform and name.");
}

}  // namespace stickslip::bindings

#else

void stickslip::bindings::bind_jax(nanobind::module_& m) {
  m.def(
      "jax_targets", [] { return nanobind::dict(); },
      "None: the headers of XLA were not found when this was built.");
}

#endif
