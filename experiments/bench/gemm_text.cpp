#include "experiments/bench/gemm_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/bench/gemm_choices.h"
#include "experiments/bench/text.h"
#include "experiments/output.h"

namespace tapeline {

std::string gemm_json(const GemmSpeed& speed) {
  nlohmann::ordered_json json = {
      {"threads", speed.threads},           {"repeats", speed.repeats},
      {"rule_seconds", speed.rule_seconds}, {"fastest_seconds", speed.fastest_seconds},
      {"rule_loss", speed.rule_loss()},     {"products", nlohmann::ordered_json::array()}};
  for (const ProductTimes::Line& line : speed.products) {
    nlohmann::ordered_json choices = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < line.times.size(); ++i) {
      const ProductTimes::Time& time = line.times[i];
      choices.push_back({{"library", library_name(time.choice.library)},
                         {"split", split_name(time.choice.split)},
                         {"seconds", time.seconds},
                         {"gflops", line.flops() / time.seconds / 1e9},
                         {"rule", i == line.rule},
                         {"fastest", i == line.fastest}});
    }
    json["products"].push_back({{"name", line.name},
                                {"m", line.m},
                                {"n", line.n},
                                {"k", line.k},
                                {"count", line.count},
                                {"flops", line.flops()},
                                {"rule_seconds", line.rule_seconds()},
                                {"fastest_seconds", line.fastest_seconds()},
                                {"rule_loss", line.rule_loss()},
                                {"choices", std::move(choices)}});
  }
  return printed_json(json);
}

std::string gemm_text(const GemmSpeed& speed, std::size_t width) {
  Table table;
  table.column("product", Table::Align::left).column("m").column("n").column("k").column("times");
  table.column("library and split", Table::Align::left).column("ms").column("GFLOP/s");
  table.column("rule", Table::Align::left);
  for (const ProductTimes::Line& line : speed.products) {
    if (&line != &speed.products.front()) table.rule();
    for (std::size_t i = 0; i < line.times.size(); ++i) {
      std::string mark;
      if (i == line.rule)
        mark =
            i == line.fastest ? "takes it" : fmt::format("takes it, loses {:.1f}%", 100 * line.rule_loss());
      if (i == line.fastest && i != line.rule) mark = "fastest";
      const auto first = [i](const auto& value) { return i == 0 ? fmt::format("{}", value) : std::string(); };
      table.row({first(line.name), first(line.m), first(line.n), first(line.k), first(line.count),
                 line.times[i].name, milliseconds_text(line.times[i].seconds),
                 fmt::format("{:.1f}", line.flops() / line.times[i].seconds / 1e9), mark});
    }
  }
  return table.text(width) +
         fmt::format(
             "All products of a step: {:.2f} ms as the shipped rule takes them, {:.2f} ms each by\n"
             "its fastest: the rule loses {:.1f}%. Medians of {}, {}.\n",
             1e3 * speed.rule_seconds, 1e3 * speed.fastest_seconds, 100 * speed.rule_loss(), speed.repeats,
             threads_text(speed.threads));
}

}  // namespace tapeline
