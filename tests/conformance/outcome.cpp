#include "tests/conformance/outcome.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/table.h"
#include "tests/conformance/plan.h"

namespace tapeline::conformance {

namespace {

constexpr double double_limit = 1e-11, far_double_limit = 1e-10;
constexpr double single_value_limit = 2e-5, single_gradient_limit = 1e-4;

/// NaN where a number is none: larger than any limit.
double largest_difference(const FoundArray& found, const GoldenArray& expected) {
  require<ShapeError>(found.numbers.size() == expected.numbers.size(),
                      "\"{}\": {} numbers expected, {} found", found.array, expected.numbers.size(),
                      found.numbers.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.numbers.size(); ++i) {
    const double difference =
        std::abs(found.numbers[i] - expected.numbers[i]) / std::max(1.0, std::abs(expected.numbers[i]));
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(largest)) break;
  }
  return largest;
}

void compare(const GoldenCase& of, const Work& work, Outcome& outcome) {
  const std::vector<FoundArray> in_double = compute(double{}, work), in_single = compute(float{}, work);
  const double limit = is_far(work) ? far_double_limit : double_limit;
  for (std::size_t i = 0; i < in_double.size(); ++i) {
    const FoundArray& found = in_double[i];
    const GoldenArray* expected = of.find(found.array);
    if (expected == nullptr) continue;
    Difference difference{.array = found.array,
                          .in_double = largest_difference(found, *expected),
                          .in_single = largest_difference(in_single[i], *expected)};
    difference.double_holds = difference.in_double <= limit;
    difference.single_holds =
        difference.in_single <= (found.gradient ? single_gradient_limit : single_value_limit);
    outcome.differences.push_back(difference);
  }
}

/// Gradients by name: what is not compared there would pass unseen. Other arrays may be helpers.
bool is_gradient(std::string_view array) {
  return array.starts_with("d_") || array == "dq" || array == "dk" || array == "dv" || array == "dx";
}

std::string short_number(double number, bool holds) {
  return (number == 0 ? "0" : fmt::format("{:.1e}", number)) + (holds ? " " : "!");
}

std::string cell(const Difference& difference, std::size_t name_width) {
  return fmt::format("{:<{}} {:>8}{:>9}", difference.array, name_width,
                     short_number(difference.in_double, difference.double_holds),
                     short_number(difference.in_single, difference.single_holds));
}

/// The widest name in each column of differences.
std::vector<std::size_t> name_widths(const std::vector<Outcome>& outcomes) {
  std::vector<std::size_t> widths;
  for (const Outcome& outcome : outcomes) {
    widths.resize(std::max(widths.size(), outcome.differences.size()));
    for (std::size_t i = 0; i < outcome.differences.size(); ++i) {
      widths[i] = std::max(widths[i], outcome.differences[i].array.size());
    }
  }
  return widths;
}

}  // namespace

bool Outcome::holds() const {
  return reason.empty() && std::ranges::all_of(differences, [](const Difference& difference) {
           return difference.double_holds && difference.single_holds;
         });
}

Outcome outcome_of(const GoldenCase& of, const GoldenFile& file) {
  Outcome outcome{.name = of.name, .family = of.text("encoding"), .differences = {}, .reason = {}};
  try {
    for (const Work& work : plan(of, file)) compare(of, work, outcome);
    require<Unrunnable>(!outcome.differences.empty(), "it expects nothing that is computed");
    for (const auto& [array, expected] : of.arrays) {
      require<Unrunnable>(
          !is_gradient(array) ||
              std::ranges::find(outcome.differences, array, &Difference::array) != outcome.differences.end(),
          "it expects the gradient \"{}\", which nothing here computes", array);
    }
  } catch (const std::exception& error) {
    outcome.differences.clear();
    outcome.reason = error.what();
  }
  return outcome;
}

std::string case_lines(const std::vector<Outcome>& outcomes, bool failures_only) {
  std::size_t name_width = 0;
  for (const Outcome& outcome : outcomes) name_width = std::max(name_width, outcome.name.size());
  const std::vector<std::size_t> widths = name_widths(outcomes);
  std::string text;
  for (const Outcome& outcome : outcomes) {
    if (failures_only && outcome.holds()) continue;
    std::string line =
        fmt::format("  {:<{}}  {:<4}", outcome.name, name_width, outcome.holds() ? "ok" : "FAIL");
    for (std::size_t i = 0; i < outcome.differences.size(); ++i) {
      line += fmt::format("  {}", cell(outcome.differences[i], widths[i]));
    }
    if (!outcome.reason.empty()) line += fmt::format("  not run: {}", outcome.reason);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string summary_table(const std::vector<Outcome>& outcomes) {
  struct Family {
    std::string name;
    int cases = 0, hold = 0, run = 0;
    double in_double = 0, in_single = 0;
  };
  std::vector<Family> families;
  for (const Outcome& outcome : outcomes) {
    auto family = std::ranges::find(families, outcome.family, &Family::name);
    if (family == families.end()) family = families.insert(families.end(), Family{.name = outcome.family});
    ++family->cases;
    family->hold += outcome.holds() ? 1 : 0;
    family->run += outcome.reason.empty() ? 1 : 0;
    for (const Difference& difference : outcome.differences) {
      if (!(difference.in_double <= family->in_double)) family->in_double = difference.in_double;
      if (!(difference.in_single <= family->in_single)) family->in_single = difference.in_single;
    }
  }
  Table table;
  table.column("encoding", Table::Align::left).column("cases").column("ok").column("largest f64");
  table.column("largest f32");
  for (const Family& family : families) {
    const auto largest = [&family](double number) {
      return family.run == 0 ? std::string("-") : fmt::format("{:.1e}", number);
    };
    table.row({family.name, fmt::format("{}", family.cases), fmt::format("{}", family.hold),
               largest(family.in_double), largest(family.in_single)});
  }
  return table.text();
}

}  // namespace tapeline::conformance
