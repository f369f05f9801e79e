#include "experiments/report/html.h"

#include <fmt/format.h>

#include "experiments/report/figure.h"

namespace tapeline {
namespace {

constexpr std::string_view style = R"css(
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", sans-serif; overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.15rem; font-weight: 600; color: var(--soft); margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 .5rem; scroll-margin-top: 1rem; }
h3 { font-size: 1rem; margin: 2rem 0 .25rem; }
.answer { font-size: 1.3rem; line-height: 1.45; margin: 0 0 .75rem; text-wrap: pretty; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.missing { border-left: 4px solid var(--fails); padding: .1rem 0 .1rem .8rem; }
.title { margin: 1.6rem 0 0; font-weight: 600; font-size: .95rem; }
nav { margin: 0 0 1.25rem; padding: .3rem 0; overflow-x: auto; white-space: nowrap; font-size: .9rem;
  scrollbar-width: thin; }
nav a { color: var(--soft); margin-right: 1.1rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--ground); padding: .4rem .8rem; z-index: 1; }
:focus-visible { outline: 3px solid var(--curve0); outline-offset: 2px; border-radius: 2px; }
figure { margin: 1.25rem 0 0; }
figure .drawing { overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: .35rem; }
.legend { display: none; margin: .5rem 0; font-size: .9rem; }
.legend span { display: inline-block; margin-right: 1rem; }
.legend span::before { content: ""; display: inline-block; width: 1.1rem; border-top: 3px solid var(--curve);
  vertical-align: middle; margin-right: .35rem; }
.scroll { overflow-x: auto; margin-top: .4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; min-width: min(24rem, 100cqw);
  overflow-wrap: normal; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid var(--grid); }
th { font-weight: 600; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { border-bottom: 2px solid var(--grid); color: var(--soft); white-space: normal; vertical-align: bottom; }
td.text { text-align: left; }
td.best { font-weight: 700; }
td.none { color: var(--soft); }
pre { background: var(--panel); padding: .8rem 1rem; overflow-x: auto; border-radius: 6px; font-size: .85rem;
  line-height: 1.45; overflow-wrap: normal; }
pre.whole { user-select: all; }
details { margin-top: .75rem; }
summary { cursor: pointer; width: fit-content; }
a { color: inherit; }
.verdicts { list-style: none; padding: 0; margin: 1rem 0 0; }
.verdicts li { display: grid; grid-template-columns: 7.5rem 1fr; gap: 0 .75rem; padding: .55rem 0;
  border-bottom: 1px solid var(--grid); }
.verdicts p { margin: 0; }
.verdicts details { margin-top: .2rem; font-size: .85rem; }
.numbers { list-style: none; padding: 0; margin: .3rem 0 0; }
.verdicts .numbers li { display: block; padding: .15rem 0; border: 0; overflow-wrap: anywhere; }
.verdict { font-weight: 700; }
.holds { color: var(--holds); }
.fails { color: var(--fails); }
.inconclusive { color: var(--inconclusive); }
@media (max-width: 42rem) { .legend { display: block; } main { padding: 1rem .9rem 3rem; } .answer { font-size: 1.12rem; }
  th, td { padding: .3rem .55rem; }
  .verdicts li { grid-template-columns: 1fr; }
}
.drawing, .scroll { container-type: inline-size; }
.drawing > div { min-width: 40rem; }
.scroll > div { width: fit-content; min-width: 100%; }
/* Without height; the padding is open only where the content (100%) is wider than its frame (100cqw). */
.drawing > div::before, .scroll > div::before { content: "wider than the page: scroll sideways"; display: block;
  position: sticky; left: 0; width: max-content; height: 0; overflow: hidden; white-space: nowrap;
  padding-bottom: clamp(0rem, (100% - 100cqw - 2px) * 999, 1.3rem); color: var(--soft); font-size: .8rem;
  line-height: 1.5; }
@media print { figure, table { break-inside: avoid; } nav, .skip { display: none; }
  .drawing > div::before, .scroll > div::before { content: none; } }
)css";

std::string colours() {
  std::string light =
      "--ground:#ffffff;--ink:#1c1e21;--soft:#5b626b;--grid:#dfe2e6;--panel:#f4f5f7;--behind:#c9ccd1;"
      "--holds:#1a7437;--fails:#b3261e;--inconclusive:#855600;";
  std::string dark =
      "--ground:#14171a;--ink:#e9ebee;--soft:#a2a9b1;--grid:#343a41;--panel:#1e2226;--behind:#4a525b;"
      "--holds:#5cc98b;--fails:#ff9188;--inconclusive:#e3b45c;";
  for (std::size_t i = 0; i < curve_colours().size(); ++i) {
    light += fmt::format("--curve{}:{};", i, curve_colours()[i].light);
    dark += fmt::format("--curve{}:{};", i, curve_colours()[i].dark);
  }
  return fmt::format(
      ":root {{ color-scheme: light dark; {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}",
      light, dark);
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{}\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n"
      "<main>\n{}</main>\n</body>\n</html>\n",
      page_origin, html_escape(title), colours(), style, body);
}

}  // namespace tapeline
