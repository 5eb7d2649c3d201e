// SPDX-License-Identifier: Apache-2.0
// The layout of a figure is that of its SVG: this file translates the few elements that svg.cpp writes into operators of PDF.
#include "report/pdf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "numeric/conversions.h"
#include "report/svg.h"

namespace tradeoff::detail::report {
namespace {

constexpr double points_of_pixel = 0.75;  // 96 pixels and 72 points are an inch

/// A number with at most two decimals.
std::string decimal(double value) {
  const double rounded = std::round(value * 100) / 100;
  std::array<char, 64> text{};
  return {text.data(),
          numeric::to_chars(text.data(), text.data() + text.size(), rounded == 0 ? 0.0 : rounded, std::chars_format::fixed).ptr};
}

/// The value of an attribute; empty if there is none.
std::string_view attribute_of(std::string_view tag, std::string_view name) {
  const std::string opening = " " + std::string(name) + "=\"";
  const std::size_t start = tag.find(opening);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = tag.substr(start + opening.size());
  return rest.substr(0, rest.find('"'));
}

/// The numbers of a text, separated by anything else.
std::vector<double> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  for (std::size_t at = 0; (at = text.find_first_of("-0123456789.", at)) != std::string_view::npos;) {
    double value = 0;
    const char* end = numeric::from_chars(text.data() + at, text.data() + text.size(), value).ptr;
    if (end == text.data() + at) {  // a lone sign
      ++at;
      continue;
    }
    numbers.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

double number_of(std::string_view tag, std::string_view name) {
  const std::vector<double> found = numbers_of(attribute_of(tag, name));
  return found.empty() ? 0 : found.front();
}

bool has_word(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

/// `M x y L x y x y H x V y Z` as operators of PDF.
std::string path_of(std::string_view d) {
  std::string path;
  double x = 0, y = 0;
  const auto go = [&](const char* operation) { path += decimal(x) + " " + decimal(y) + " " + operation + "\n"; };
  for (std::size_t at = 0; at < d.size();) {
    const char command = d[at++];
    const std::size_t end = std::min(d.find_first_of("MLHVZ", at), d.size());
    const std::vector<double> numbers = numbers_of(d.substr(at, end - at));
    at = end;
    if (command == 'Z') path += "h\n";
    if (command == 'H') x = numbers.at(0), go("l");
    if (command == 'V') y = numbers.at(0), go("l");
    if (command == 'M' || command == 'L')
      for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
        x = numbers[i], y = numbers[i + 1];
        go(command == 'M' && i == 0 ? "m" : "l");
      }
  }
  return path;
}

/// A disc by four Bézier curves.
std::string disc_of(double x, double y, double radius) {
  constexpr double handle = 0.5523;  // the control points of a quarter of a circle
  const double h = handle * radius;
  const auto to = [](double a, double b) { return decimal(a) + " " + decimal(b) + " "; };
  return to(x + radius, y) + "m\n" + to(x + radius, y + h) + to(x + h, y + radius) + to(x, y + radius) + "c\n" + to(x - h, y + radius) +
         to(x - radius, y + h) + to(x - radius, y) + "c\n" + to(x - radius, y - h) + to(x - h, y - radius) + to(x, y - radius) + "c\n" +
         to(x + h, y - radius) + to(x + radius, y - h) + to(x + radius, y) + "c f\n";
}

// ---- text ----

enum class Font { plain, bold, symbol };

struct Glyph {
  Font font = Font::plain;
  unsigned char code = '?';
  bool raised = false;
};

/// Widths of the characters from blank to tilde in Helvetica, in thousandths of the size.
constexpr std::array<int, 95> widths = {278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
                                        556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
                                        611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
                                        667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
                                        222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/// Greek letters and signs, and their codes in the font Symbol.
constexpr std::array<std::pair<unsigned, unsigned char>, 17> symbols = {{{0x3B1, 'a'},
                                                                         {0x3B2, 'b'},
                                                                         {0x3B3, 'g'},
                                                                         {0x3B4, 'd'},
                                                                         {0x3B5, 'e'},
                                                                         {0x3BC, 'm'},
                                                                         {0x3C0, 'p'},
                                                                         {0x3C1, 'r'},
                                                                         {0x3C3, 's'},
                                                                         {0x3C6, 'f'},
                                                                         {0x3A6, 'F'},
                                                                         {0x2212, '-'},
                                                                         {0x2264, 0xA3},
                                                                         {0x2265, 0xB3},
                                                                         {0x221E, 0xA5},
                                                                         {0x2248, 0xBB},
                                                                         {0x2202, 0xB6}}};
/// Signs of Windows' character set beyond Latin-1.
constexpr std::array<std::pair<unsigned, unsigned char>, 7> pdf_signs = {
    {{0x2013, 0x96}, {0x2014, 0x97}, {0x2018, 0x91}, {0x2019, 0x92}, {0x201C, 0x93}, {0x201D, 0x94}, {0x2026, 0x85}}};

Glyph glyph_of(unsigned point, Font font) {
  for (const auto& [from, code] : symbols)
    if (from == point) return {Font::symbol, code, false};
  for (const auto& [from, code] : pdf_signs)
    if (from == point) return {font, code, false};
  if (point == 0x207B) return {font, '-', true};
  if (point == 0xB9) return {font, '1', true};
  if (point == 0xB2 || point == 0xB3) return {font, static_cast<unsigned char>('0' + (point - 0xB0)), true};
  if (point == 0x2070 || (point >= 0x2074 && point <= 0x2079)) return {font, static_cast<unsigned char>('0' + (point - 0x2070)), true};
  const bool is_latin = (point >= 0x20 && point < 0x7F) || (point >= 0xA0 && point <= 0xFF);
  return {font, is_latin ? static_cast<unsigned char>(point) : static_cast<unsigned char>('?'), false};
}

/// The characters of valid UTF-8.
std::vector<unsigned> points_of(std::string_view text) {
  std::vector<unsigned> points;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    unsigned point = size == 1 ? byte : byte & (0xFFU >> (size + 1));
    for (std::size_t k = 1; k < size && at + k < text.size(); ++k)
      point = (point << 6U) | (static_cast<unsigned char>(text[at + k]) & 0x3FU);
    points.push_back(point);
    at += size;
  }
  return points;
}

/// The text without the entities of escaped_markup.
std::string without_entities(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 4> entities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}}};
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = 1;
    char meant = text[at];
    for (const auto& [written, sign] : entities)
      if (text.substr(at).starts_with(written)) size = written.size(), meant = sign;
    plain += meant;
    at += size;
  }
  return plain;
}

std::vector<Glyph> glyphs_of(std::string_view text, Font font) {
  std::vector<Glyph> glyphs;
  for (const unsigned point : points_of(without_entities(text))) glyphs.push_back(glyph_of(point, font));
  return glyphs;
}

constexpr double raised_size = 0.7;  // of a superscript, as a part of the size

double width_of(const std::vector<Glyph>& glyphs, double size) {
  double width = 0;
  for (const Glyph& one : glyphs) {
    const bool known = one.font != Font::symbol && one.code >= 0x20 && one.code < 0x7F;
    const double thousandths = known ? widths[one.code - 0x20U] : 556;  // other letters are about as wide as digits
    width += thousandths / 1000 * size * (one.raised ? raised_size : 1) * (one.font == Font::bold ? 1.06 : 1);  // bold is wider
  }
  return width;
}

std::string show(const std::vector<Glyph>& glyphs, double size) {
  static constexpr std::array<std::string_view, 3> fonts = {"/F1", "/F2", "/F3"};
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string shown;
  for (std::size_t i = 0; i < glyphs.size();) {
    const Glyph first = glyphs[i];
    shown.append(fonts[static_cast<std::size_t>(first.font)]).append(" " + decimal(size * (first.raised ? raised_size : 1)) + " Tf ");
    shown += decimal(first.raised ? size / 3 : 0) + " Ts <";
    for (; i < glyphs.size() && glyphs[i].font == first.font && glyphs[i].raised == first.raised; ++i) {
      shown += digits[glyphs[i].code >> 4U];
      shown += digits[glyphs[i].code & 15U];
    }
    shown += "> Tj\n";
  }
  return shown;
}

std::string text_of(std::string_view tag, std::string_view content) {
  const bool heading = has_word(attribute_of(tag, "class"), "heading");
  const double size = heading ? 14 : 12;  // as in the style of the SVG
  const std::vector<Glyph> glyphs = glyphs_of(content, heading ? Font::bold : Font::plain);
  const std::string_view anchor = attribute_of(tag, "text-anchor");
  const double before = width_of(glyphs, size) * (anchor == "middle" ? 0.5 : anchor == "end" ? 1 : 0);
  const std::string_view moved = attribute_of(tag, "transform");
  const std::vector<double> turn = numbers_of(moved);  // translate(x y) rotate(-90)
  std::string matrix = "1 0 0 -1 " + decimal(number_of(tag, "x") - before) + " " + decimal(number_of(tag, "y"));
  if (!moved.empty()) matrix = "0 -1 -1 0 " + decimal(turn.at(0)) + " " + decimal(turn.at(1) + before);
  return "BT 0.14 0.16 0.18 rg " + matrix + " Tm\n" + show(glyphs, size) + "ET\n";
}

// ---- elements ----

/// The colours of the light style, c0 to c7.
constexpr std::array<unsigned, 8> pdf_colours = {0x0072B2, 0xD55E00, 0x009E73, 0xB0578D, 0xC98500, 0x3A9BD9, 0x24292F, 0x8C959F};

std::string paint(unsigned colour, const char* operation) {
  std::string text;
  for (const unsigned shift : {16U, 8U, 0U}) text += decimal(static_cast<double>(colour >> shift & 255U) / 255) + " ";
  return text + operation + " ";
}

std::string shape_of(std::string_view kind, const std::string& path, unsigned colour) {
  if (has_word(kind, "area")) return "q /A gs " + paint(colour, "rg") + "\n" + path + "f Q\n";
  if (has_word(kind, "grid")) return "q 1 w " + paint(0xE4E7EA, "RG") + "\n" + path + "S Q\n";
  if (has_word(kind, "frame")) return "q 1 w " + paint(0x6E7781, "RG") + "\n" + path + "S Q\n";
  std::string pen = has_word(kind, "edge") ? "1 w 1 j " : "2 w 1 j 1 J ";
  if (has_word(kind, "dashed")) pen = "2 w 1 j 0 J [7 5] 0 d ";
  if (has_word(kind, "dotted")) pen = "2 w 1 j 1 J [0.1 4.5] 0 d ";
  return "q " + pen + paint(colour, "RG") + "\n" + path + "S Q\n";
}

std::string rectangle_of(std::string_view tag) {
  const std::string path = decimal(number_of(tag, "x")) + " " + decimal(number_of(tag, "y")) + " " + decimal(number_of(tag, "width")) +
                           " " + decimal(number_of(tag, "height")) + " re\n";
  return attribute_of(tag, "class") == "paper" ? "q 1 1 1 rg\n" + path + "f Q\n" : shape_of("frame", path, 0);
}

/// The elements of the SVG, in their order.
std::string content_of(std::string_view svg) {
  std::string content;
  std::vector<unsigned> groups = {pdf_colours[6]};  // the colour of each open group
  for (std::size_t at = 0; (at = svg.find('<', at)) != std::string_view::npos;) {
    const std::size_t end = svg.find('>', at);
    const std::string_view tag = svg.substr(at + 1, end - at - 1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" /", 1));
    at = end + 1;
    const std::size_t next = std::min(svg.find('<', at), svg.size());
    if (name == "g") {
      const std::string_view kind = attribute_of(tag, "class");
      groups.push_back(kind.size() == 2 && kind[0] == 'c' ? pdf_colours.at(static_cast<std::size_t>(kind[1] - '0')) : groups.back());
    } else if (tag == "/g") {
      groups.pop_back();
    } else if (name == "path") {
      content += shape_of(attribute_of(tag, "class"), path_of(attribute_of(tag, "d")), groups.back());
    } else if (name == "circle") {
      content +=
          "q " + paint(groups.back(), "rg") + "\n" + disc_of(number_of(tag, "cx"), number_of(tag, "cy"), number_of(tag, "r")) + "Q\n";
    } else if (name == "rect") {
      content += rectangle_of(tag);
    } else if (name == "text") {
      content += text_of(tag, svg.substr(at, next - at));
    } else if (name != "svg" && name != "title" && name != "desc" && name != "style" && tag.front() != '/') {
      throw std::logic_error("to_pdf: the element " + std::string(name) + " of the SVG is not known");
    }
  }
  return content;
}

/// A text string in UTF-16 with its mark, as hexadecimal digits; characters beyond 16 bits are left out.
std::string text_string(std::string_view text) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string hexadecimal = "<FEFF";
  for (const unsigned point : points_of(text))
    for (const unsigned shift : {12U, 8U, 4U, 0U})
      if (point <= 0xFFFF) hexadecimal += digits[point >> shift & 15U];
  return hexadecimal + ">";
}

}  // namespace

std::string to_pdf(const Figure& figure) {
  const std::string svg = to_svg(figure);
  const std::string_view tag = std::string_view(svg).substr(0, svg.find('>'));
  const double width = number_of(tag, "width") * points_of_pixel, height = number_of(tag, "height") * points_of_pixel;
  const std::string content =
      decimal(points_of_pixel) + " 0 0 -" + decimal(points_of_pixel) + " 0 " + decimal(height) + " cm\n" + content_of(svg);
  const auto font = [](const char* name, const char* encoding) {
    return std::string("<< /Type /Font /Subtype /Type1 /BaseFont /") + name + encoding + " >>";
  };
  const std::vector<std::string> objects = {
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + decimal(width) + " " + decimal(height) +
          "] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R /F3 7 0 R >> /ExtGState << /A << /ca 0.16 >> >> >> >>",
      "<< /Length " + std::to_string(content.size()) + " >>\nstream\n" + content + "endstream",
      font("Helvetica", " /Encoding /WinAnsiEncoding"),
      font("Helvetica-Bold", " /Encoding /WinAnsiEncoding"),
      font("Symbol", ""),
      "<< /Title " + text_string(figure.title) + " /Subject " + text_string(figure.description) + " /Producer (tradeoff) >>"};
  std::string document = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::string table = "xref\n0 " + std::to_string(objects.size() + 1) + "\n0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string offset = std::to_string(document.size());
    table += std::string(10 - offset.size(), '0') + offset + " 00000 n \n";
    document += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string start = std::to_string(document.size());
  return document + table + "trailer\n<< /Size " + std::to_string(objects.size() + 1) + " /Root 1 0 R /Info 8 0 R >>\nstartxref\n" + start +
         "\n%%EOF\n";
}

}  // namespace tradeoff::detail::report
