#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/variants.h"

namespace tapeline {

Section variants_section(const ReportData& data) {
  const ReportTable table = variants_table(data.comparison);
  Section section{"variants-part", "Variants", "Variants", {}};
  if (data.comparison.config.compare.variants.empty()) section.name = section.heading = "Further evaluations";
  if (!table.rows.empty()) section.body = html_table(table, "variants");
  return section;
}

}  // namespace tapeline
