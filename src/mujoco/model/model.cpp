#include "src/mujoco/model/model.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <stdexcept>

namespace stickslip::mujoco {
namespace {

// While a model loads, MuJoCo's messages are collected for the exception instead of going to the
// console and a log file, and an error, fatal by default, unwinds to the caller.
class LogCapture {
 public:
  LogCapture() : lock_(mutex()) {
    text().clear();
    previous_ = mju_setLogHandler(&LogCapture::receive);
  }
  ~LogCapture() { mju_setLogHandler(previous_); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  static std::string& text() {
    static std::string messages;
    return messages;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static void receive(const mjLogMessage* message) {
    text() += (text().empty() ? "" : "; ") + std::string(message->subject);
    if (message->level == mjLOG_ERROR) throw std::runtime_error(text());
  }
  std::lock_guard<std::mutex> lock_;
  mjfLogHandler previous_;
};

// Runs `load(error, size)` and converts any failure into one exception.
template <class Load>
LoadedModel guarded(const std::string& what, Load load) {
  check_mujoco_version();
  char error[1024] = "";
  std::string reason;
  {
    const LogCapture capture;
    try {
      if (LoadedModel loaded = load(error, int(sizeof error)); loaded.model) return loaded;
      reason = error[0] ? error : LogCapture::text();
    } catch (const std::exception& e) {
      reason = e.what();
    }
  }
  if (reason.empty()) reason = "MuJoCo gives no reason";
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  throw std::invalid_argument("model: cannot load " + what + ": " + reason);
}

LoadedModel compile(mjSpec* spec, char* error, int size) {
  if (!spec) return {};
  LoadedModel loaded{ModelPtr{mj_compile(spec, nullptr)}, spec->memory >= 0};
  if (!loaded.model) mju_strncpy(error, mjs_getError(spec), size);
  mj_deleteSpec(spec);
  return loaded;
}

}  // namespace

void check_mujoco_version() {
  constexpr int kPatches = 1000;  // 4.0.1 is 4000001
  if (mj_version() / kPatches == mjVERSION_HEADER / kPatches) return;
  throw std::runtime_error(std::string("libmujoco ") + mj_versionString() +
                           " is loaded, but this library was built with MuJoCo " +
                           std::to_string(mjVERSION_HEADER / 1'000'000) + "." +
                           std::to_string(mjVERSION_HEADER / kPatches % 1000));
}

LoadedModel load_model_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw std::invalid_argument("model: no such file: " + path);
  if (!fs::is_regular_file(path, ignored))
    throw std::invalid_argument("model: not a file: " + path);
  return guarded(path, [&](char* error, int size) {
    if (fs::path(path).extension() == ".mjb")
      return LoadedModel{ModelPtr{mj_loadModel(path.c_str(), nullptr)}};
    return compile(mj_parseXML(path.c_str(), nullptr, error, size), error, size);
  });
}

LoadedModel load_model_text(const std::string& xml) {
  return guarded("the given text", [&](char* error, int size) {
    return compile(mj_parseXMLString(xml.c_str(), nullptr, error, size), error, size);
  });
}

LoadedModel load_model_bytes(std::string_view bytes) {
  return guarded("the given model", [&](char*, int) {
    return LoadedModel{ModelPtr{mj_loadModelBuffer(bytes.data(), mjtSize(bytes.size()))}};
  });
}

std::string bytes_of(const mjModel& m) {
  std::string bytes(std::size_t(mj_sizeModel(&m)), '\0');
  mj_saveModel(&m, nullptr, bytes.data(), mjtSize(bytes.size()));
  return bytes;
}

}  // namespace stickslip::mujoco
