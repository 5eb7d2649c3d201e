// SPDX-License-Identifier: Apache-2.0
// Pages as Markdown and HTML: untrusted text cannot change their structure.
#include "report/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tradeoff::detail::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Document sample() {
  Picture picture{"A title", {"x", Scale::linear, 0, 1}, {"y", Scale::linear, 0, 1}, {{"line", {{0, {0, 0}}, {1, {1, 1}}}}}};
  return {"Title",
          {Appendix{"Appendix: more"}, Heading{"Head"}, Paragraph{"Text with `code`."}, Highlight{"Quick"}, Listing{{"one", "two"}},
           Table{{{"a", "b"}, {"1", "`x | y`"}}}, Verbatim{"as it is\n", "sh"}, Gallery{{{"Figure", "what it shows", {picture}}}}}};
}

TEST(Document, InMarkdown) {
  const std::string text = to_markdown(sample());
  EXPECT_THAT(text, HasSubstr("# Title\n\n# Appendix: more\n\n## Head\n\nText with `code`.\n\n> **Quick**\n\n- one\n- two\n\n"));
  EXPECT_THAT(text, HasSubstr("| a | b |\n|---|---|\n| 1 | `x \\| y` |\n"));
  EXPECT_THAT(text, HasSubstr("```sh\nas it is\n```\n"));
  EXPECT_THAT(text, HasSubstr("```text\n  A title\n"));
}

TEST(Document, InHtml) {
  const std::string page = to_html(sample());
  for (const char* part : {"<!DOCTYPE html>", "<h1>Title</h1>", "<h1 class=\"appendix\">Appendix: more</h1>", "<h2>Head</h2>",
                           "Text with <code>code</code>.", "<li>two</li>", "<th>b</th>", "<td><code>x | y</code></td>",
                           "<pre>as it is\n</pre>", "<svg ", "prefers-color-scheme:dark", "@media print"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* part : {"<script", "http-equiv", "<link", "src=", "url("}) EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(Document, UntrustedTextIsEscaped) {
  const std::string hostile = "<script>alert(\"1\")</script> `<b>` *x* [y](z) \x01\xff & |";
  const Document document{hostile,
                          {Heading{hostile}, Paragraph{hostile}, Highlight{hostile}, Listing{{hostile}}, Table{{{hostile}, {hostile}}},
                           Verbatim{"```\n" + hostile + "\n````", ""}}};
  const std::string page = to_html(document);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)"));
  const std::string text = to_markdown(document);
  EXPECT_THAT(text, HasSubstr("\\<script>"));
  EXPECT_THAT(text, HasSubstr("\\*x\\* \\[y](z)"));
  EXPECT_THAT(text, HasSubstr("`````\n```\n"));  // a fence that nothing inside can close
}

TEST(Document, UntrustedCodeHasNoBackquotes) {
  EXPECT_EQ(as_code("plan"), "`plan`");
  EXPECT_EQ(as_code("a`b\nc"), "`a'b c`");
}

}  // namespace
}  // namespace tradeoff::detail::report
