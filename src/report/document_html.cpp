// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "report/document.h"
#include "report/escape.h"
#include "report/svg.h"

namespace tradeoff::detail::report {
namespace {

// Nothing is wider than the window: tables scroll in their own box, long plans break anywhere, pictures shrink. Print has a white
// background.
constexpr std::string_view page_style = R"(
:root{color-scheme:light dark;--paper:#ffffff;--ink:#24292f;--soft:#57606a;--line:#d0d7de;--tint:#f6f8fa;--mark:#0072b2;--glow:#eaf3f9}
@media screen and (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--tint:#161b22;--mark:#56b4e9;--glow:#10233a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
main{max-width:66rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
p,li{max-width:46rem;overflow-wrap:anywhere}
ul{padding-left:1.3rem}li{margin:.3rem 0}
.highlight{border-left:4px solid var(--mark);background:var(--glow);padding:.8rem 1rem;margin:1rem 0;font-size:1.08rem;font-weight:600;max-width:none}
.table{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);min-width:5rem}
td:first-child code{white-space:nowrap}
th{color:var(--soft);font-weight:600;font-size:.9rem}
code,pre{font-family:ui-monospace,'SFMono-Regular',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.88em}
code{background:var(--tint);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere}
.gallery{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}
.gallery figure{margin:0;min-width:0;max-width:100%}
.gallery svg{display:block;max-width:100%;height:auto}
.appendix{margin-top:3.5rem;padding-top:1.5rem;border-top:3px double var(--line);font-size:1.6rem}
@media print{body{font-size:9.2pt;line-height:1.38}main,p,li{max-width:none}main{padding:0}h1{font-size:16pt;margin-bottom:.5rem}
h2{font-size:11pt;margin:.9rem 0 .3rem;break-after:avoid}p{margin:.35rem 0}ul{margin:.3rem 0}li{margin:.12rem 0}
.highlight{margin:.5rem 0;padding:.5rem .8rem}.table{margin:.4rem 0}th,td{padding:.14rem .7rem .14rem 0}pre{padding:.4rem .7rem;margin:.4rem 0}
figure,tr,pre,.highlight{break-inside:avoid}.appendix{break-before:page;border:0;padding:0;margin-top:0;font-size:14pt}
.gallery{gap:.5rem;margin:.4rem 0;flex-wrap:nowrap}.gallery figure{flex:1 1 0;max-width:44%}.table{overflow:visible}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@page{size:A4;margin:16mm}
)";

/// Markup of running text: text in backquotes is code.
std::string inline_html(const std::string& text) {
  std::string html;
  bool in_code = false;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('`', from), text.size());
    html += escaped_markup(text.substr(from, end - from));
    if (end < text.size()) {
      in_code = !in_code;
      html += in_code ? "<code>" : "</code>";
    }
    from = end + 1;
  }
  return in_code ? html + "</code>" : html;
}

/// Keeps line breaks and escapes everything else.
std::string escaped_lines(const std::string& text) {
  std::string html;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    html += escaped_markup(text.substr(from, end - from)) + (end < text.size() ? "\n" : "");
    from = end + 1;
  }
  return html;
}

std::string row_of(const std::vector<std::string>& cells, const char* element) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += std::string("<") + element + ">" + inline_html(cell) + "</" + element + ">";
  return html + "</tr>\n";
}

struct HtmlWriter {
  std::string operator()(const Heading& block) const { return "<h2>" + inline_html(block.text) + "</h2>\n"; }
  std::string operator()(const Appendix& block) const { return "<h1 class=\"appendix\">" + inline_html(block.title) + "</h1>\n"; }
  std::string operator()(const Paragraph& block) const { return "<p>" + inline_html(block.text) + "</p>\n"; }
  std::string operator()(const Highlight& block) const { return "<p class=\"highlight\">" + inline_html(block.text) + "</p>\n"; }
  std::string operator()(const Listing& block) const {
    std::string html = "<ul>\n";
    for (const std::string& item : block.items) html += "<li>" + inline_html(item) + "</li>\n";
    return html + "</ul>\n";
  }
  std::string operator()(const Table& block) const {
    std::string html = "<div class=\"table\"><table>\n";
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      if (i == 0) html += "<thead>\n";
      html += row_of(block.rows[i], i == 0 ? "th" : "td");
      if (i == 0) html += "</thead>\n<tbody>\n";
    }
    return html + "</tbody>\n</table></div>\n";
  }
  std::string operator()(const Verbatim& block) const { return "<pre>" + escaped_lines(block.text) + "</pre>\n"; }
  std::string operator()(const Gallery& block) const {
    std::string html = "<div class=\"gallery\">\n";
    for (const Figure& figure : block.figures) html += "<figure>\n" + to_svg(figure) + "</figure>\n";
    return html + "</div>\n";
  }
};

}  // namespace

std::string to_html(const Document& document) {
  const std::string title = escaped_markup(document.title);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      title + "</title>\n<style>" + std::string(page_style) + "</style>\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n";
  for (const Block& block : document.blocks) html += std::visit(HtmlWriter{}, block);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace tradeoff::detail::report
