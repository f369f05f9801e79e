#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/sweep_table.h"

namespace tapeline {

Section sweep_section(const ReportData& data) {
  Section section{"rates", "Rates", "Learning rates", {}};
  const ReportTable table = sweep_table(data.comparison);
  if (!table.rows.empty()) section.body = html_table(table, "sweep");
  return section;
}

}  // namespace tapeline
