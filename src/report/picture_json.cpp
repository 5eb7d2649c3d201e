// SPDX-License-Identifier: Apache-2.0
#include "report/picture_json.h"

#include <cmath>

#include "report/json.h"
#include "report/label.h"

namespace tradeoff::detail::report {
namespace {

void write_number(JsonWriter& out, double value) {
  if (std::isfinite(value)) {
    out.number(value);
  } else {
    out.null();
  }
}

void write_axis(JsonWriter& out, const Axis& axis) {
  out.begin_object().key("label").text(printable(axis.label)).key("scale").text(axis.scale == Scale::linear ? "linear" : "log");
  out.key("low");
  write_number(out, axis.low ? *axis.low : INFINITY);
  out.key("high");
  write_number(out, axis.high ? *axis.high : INFINITY);
  out.end_object();
}

const char* word_of(Shape shape) {
  return shape == Shape::line ? "line" : shape == Shape::steps ? "steps" : shape == Shape::markers ? "markers" : "area";
}

const char* word_of(Stroke stroke) { return stroke == Stroke::solid ? "solid" : stroke == Stroke::dashed ? "dashed" : "dotted"; }

void write_series(JsonWriter& out, const Series& series) {
  out.begin_object().key("label").text(printable(series.label)).key("shape").text(word_of(series.shape));
  out.key("stroke").text(word_of(series.stroke)).key("colour");
  if (series.colour) {
    out.integer(*series.colour);
  } else {
    out.null();
  }
  out.key("x").begin_array();
  for (const Spot& spot : series.spots) write_number(out, spot.x);
  out.end_array().key("lo").begin_array();
  for (const Spot& spot : series.spots) write_number(out, spot.y.lo);
  out.end_array().key("hi").begin_array();
  for (const Spot& spot : series.spots) write_number(out, spot.y.hi);
  out.end_array().end_object();
}

}  // namespace

std::string to_json(const Picture& picture) {
  JsonWriter out;
  out.begin_object().key("title").text(printable(picture.title)).key("square").boolean(picture.square).key("x");
  write_axis(out, picture.x);
  out.key("y");
  write_axis(out, picture.y);
  out.key("series").begin_array();
  for (const Series& series : picture.series) write_series(out, series);
  return out.end_array().end_object().str();
}

}  // namespace tradeoff::detail::report
