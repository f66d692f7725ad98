// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_graph.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/device/recording.h"

namespace lijit::runtime {
namespace {

class CudaStream {
 public:
  explicit CudaStream(const CudaContext& context) : context_(context) {}
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() {
    if (stream_ == nullptr || !context_.usable()) return;
    const CudaContext::Scope scope(context_);
    if (scope.status().ok()) context_.driver().StreamDestroy(stream_);
  }

  // Once. The stream does not wait for the default stream.
  Status Create() {
    const Driver& driver = context_.driver();
    return driver.Check(driver.StreamCreate(&stream_, kCuStreamNonBlocking), "creating a stream");
  }
  CuStream get() const { return stream_; }

 private:
  const CudaContext& context_;
  CuStream stream_ = nullptr;
};

// Marks in a stream. The context must be current while it lives.
class CudaEvents {
 public:
  explicit CudaEvents(const Driver& driver) : driver_(driver) {}
  CudaEvents(const CudaEvents&) = delete;
  CudaEvents& operator=(const CudaEvents&) = delete;
  ~CudaEvents() {
    for (const CuEvent event : events_) driver_.EventDestroy(event);
  }

  // Adds one at this point of the stream.
  Status Record(CuStream stream) {
    CuEvent event = nullptr;
    LIJIT_TRY(driver_.Check(driver_.EventCreate(&event, kCuEventDefault), "creating an event"));
    events_.push_back(event);
    return driver_.Check(driver_.EventRecord(event, stream), "recording an event");
  }

  // Microseconds from each to the next, once all are reached.
  Result<std::vector<double>> Intervals() const {
    std::vector<double> microseconds;
    for (std::size_t i = 1; i < events_.size(); ++i) {
      float milliseconds = 0;
      LIJIT_TRY(driver_.Check(driver_.EventElapsedTime(&milliseconds, events_[i - 1], events_[i]),
                              "reading the time between two events"));
      microseconds.push_back(1000.0 * static_cast<double>(milliseconds));
    }
    return microseconds;
  }

 private:
  const Driver& driver_;
  std::vector<CuEvent> events_;
};

class CudaGraph final : public Graph {
 public:
  explicit CudaGraph(const CudaContext& context) : context_(context), stream_(context) {}
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() override {
    if (!context_.usable()) return;
    const CudaContext::Scope scope(context_);
    if (!scope.status().ok()) return;
    if (executable_ != nullptr) driver().GraphExecDestroy(executable_);
    if (graph_ != nullptr) driver().GraphDestroy(graph_);
  }

  Status Record(const std::function<Status(Stream)>& work) {
    const RecordingScope recording;
    LIJIT_TRY(recording.status());
    const CudaContext::Scope scope(context_);
    LIJIT_TRY(scope.status());
    LIJIT_TRY(stream_.Create());
    LIJIT_TRY(Check(driver().StreamBeginCapture(stream_.get(), kCuStreamCaptureModeThreadLocal)));
    const Status worked = work(stream_.get());
    // Ends whatever came of the work, or the stream would stay in the capture.
    const int ended = driver().StreamEndCapture(stream_.get(), &graph_);
    LIJIT_TRY(worked);
    LIJIT_TRY(Check(ended));
    return Check(driver().GraphInstantiate(&executable_, graph_, 0));
  }

  Status Launch(Stream stream) override {
    const CudaContext::Scope scope(context_);
    LIJIT_TRY(scope.status());
    return driver().Check(driver().GraphLaunch(executable_, stream), "launching a graph");
  }

  Result<std::vector<double>> Time(int replays) override {
    if (replays < 1 || replays > kMaxTimedReplays) {
      return InvalidArgument(
          fmt::format("{} replays; accepted are 1 to {}", replays, kMaxTimedReplays));
    }
    const CudaContext::Scope scope(context_);
    LIJIT_TRY(scope.status());
    CudaEvents events(driver());
    LIJIT_TRY(events.Record(stream_.get()));
    for (int i = 0; i < replays; ++i) {
      LIJIT_TRY(Launch(stream_.get()));
      LIJIT_TRY(events.Record(stream_.get()));
    }
    LIJIT_TRY(driver().Check(driver().StreamSynchronize(stream_.get()), "waiting for a graph"));
    return events.Intervals();
  }

 private:
  const Driver& driver() const { return context_.driver(); }
  Status Check(int result) const { return driver().Check(result, "recording a graph"); }

  const CudaContext& context_;
  CudaStream stream_;
  CuGraph graph_ = nullptr;
  CuGraphExec executable_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Graph>> RecordCudaGraph(const CudaContext& context,
                                               const std::function<Status(Stream)>& work) {
  auto graph = std::make_unique<CudaGraph>(context);
  LIJIT_TRY(graph->Record(work));
  return std::unique_ptr<Graph>(std::move(graph));
}

}  // namespace lijit::runtime
