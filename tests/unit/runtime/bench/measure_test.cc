// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/measure.h"

#include <gtest/gtest.h>

#include <vector>

namespace lijit::runtime {
namespace {

// A device with a clock by which every call takes `call_us`.
class ClockDevice final : public Device {
 public:
  explicit ClockDevice(double call_us) : call_us_(call_us) {}

  class Replay final : public Graph {
   public:
    Replay(double us, std::vector<int>& log) : us_(us), log_(log) {}
    Status Launch(Stream) override { return {}; }
    Result<std::vector<double>> Time(int replays) override {
      log_.push_back(replays);
      std::vector<double> times;  // the tenth is slow
      for (int i = 0; i < replays; ++i) times.push_back(us_ * (i % 10 == 9 ? 2 : 1));
      return times;
    }

   private:
    double us_;
    std::vector<int>& log_;
  };

  const DeviceInfo& info() const override { return info_; }
  Result<DeviceAddress> Allocate(std::uint64_t, std::string_view) override { return 0; }
  Status Free(DeviceAddress) override { return {}; }
  Status CopyToDevice(DeviceAddress, const void*, std::uint64_t) override { return {}; }
  Status CopyToHost(void*, DeviceAddress, std::uint64_t) override { return {}; }
  Status Fill(DeviceAddress, std::uint8_t, std::uint64_t) override { return {}; }
  ImageKind image_kind() const override { return ImageKind::kPtx; }
  Result<KernelHandle> Load(std::span<const std::byte>, std::string_view) override {
    return KernelHandle{};
  }
  Status Launch(KernelHandle, const LaunchShape&, std::span<const std::byte>, Stream) override {
    ++calls_;
    return {};
  }
  Status Synchronize() override { return {}; }
  Result<std::unique_ptr<Graph>> Record(const std::function<Status(Stream)>& work) override {
    calls_ = 0;
    LIJIT_TRY(work(nullptr));
    return std::unique_ptr<Graph>(std::make_unique<Replay>(calls_ * call_us_, replays));
  }

  std::vector<int> replays;

 private:
  DeviceInfo info_;
  double call_us_;
  int calls_ = 0;
};

ScoreCase Case(Device& device, int sets, std::vector<int>& called) {
  ScoreCase score;
  score.sets = sets;
  score.call = [&](int set, Tail, Stream stream) {
    called.push_back(set);
    return device.Launch({}, {}, {}, stream);
  };
  return score;
}

TEST(MeasureCallsTest, GraphsTakeAboutAMillisecondAndHoldEverySet) {
  ClockDevice device(10);
  std::vector<int> called;
  const ScoreCase score = Case(device, 3, called);
  const auto times = MeasureCalls(device, score, Tail::kKeep, 20);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->calls, 3 * 34);
  EXPECT_DOUBLE_EQ(times->us, 10);
  EXPECT_DOUBLE_EQ(times->us_p90, 10);
  EXPECT_EQ(device.replays.back(), 20);
  EXPECT_EQ(std::vector<int>(called.end() - 4, called.end()), (std::vector<int>{2, 0, 1, 2}));
}

TEST(MeasureCallsTest, LongAndManyCalls) {
  ClockDevice slow(5000);
  std::vector<int> called;
  EXPECT_EQ(MeasureCalls(slow, Case(slow, 1, called), Tail::kKeep, 5)->calls, 1);
  EXPECT_EQ(MeasureCalls(slow, Case(slow, 1, called), Tail::kKeep, 5)->replays, 5);
  EXPECT_EQ(MeasureCalls(slow, Case(slow, 1, called), Tail::kKeep, 9999)->replays, 600);
  ClockDevice fast(0.001);
  EXPECT_LE(MeasureCalls(fast, Case(fast, 1, called), Tail::kKeep, 5)->calls, 1 << 14);
  EXPECT_EQ(MeasureCalls(fast, Case(fast, 1 << 14, called), Tail::kKeep, 5)->calls, 1 << 14);
}

TEST(PercentileTest, NearestRank) {
  const std::vector<double> samples = {5, 1, 4, 2, 3, 10, 9, 8, 7, 6};
  EXPECT_EQ(Percentile(samples, 0.5), 5);
  EXPECT_EQ(Percentile(samples, 0.9), 9);
  EXPECT_EQ(Percentile(samples, 1), 10);
  EXPECT_EQ(Percentile(samples, 0), 1);
  EXPECT_EQ(Percentile(std::vector<double>{7}, 0.9), 7);
}

}  // namespace
}  // namespace lijit::runtime
