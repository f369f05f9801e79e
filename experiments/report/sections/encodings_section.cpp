#include <fmt/format.h>

#include <algorithm>

#include "experiments/report/html.h"
#include "experiments/report/sections/section.h"
#include "layers/positional/registry.h"
#include "train/config_loader.h"

namespace tapeline {

Section encodings_section(const ReportData& data) {
  std::vector<std::string> kinds;
  for (const Variant& variant : all_variants(data.comparison.config)) {
    for (const std::string& kind : with_variant(data.comparison.config, variant).positional.kinds()) {
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  std::string items;
  for (const std::string& name : kinds) {
    const EncodingKind& kind = encoding_kind(name);
    items += fmt::format("<li><strong>{}</strong>: {}. Acts on: {}. Paper: {}.</li>\n", html_escape(name),
                         html_escape(kind.title), html_escape(kind.acts_on), html_escape(kind.paper));
  }
  return {"encodings", "Encodings", "What was compared", "<ul>\n" + items + "</ul>\n"};
}

}  // namespace tapeline
