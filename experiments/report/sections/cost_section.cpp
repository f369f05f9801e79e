#include "experiments/report/cost.h"

#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"

namespace tapeline {

Section cost_section(const ReportData& data) {
  Section section{"cost", "Cost", "Cost", {}};
  section.body = html_table(training_cost_table(data.comparison), "training-cost") +
                 html_table(evaluation_speed_table(data.comparison, data.all), "evaluation-speed") +
                 html_folded("Every trained model", html_table(training_table(data.comparison), "training"));
  return section;
}

}  // namespace tapeline
