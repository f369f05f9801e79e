#include "experiments/bench/floor.h"

#include <algorithm>

#include "train/flops.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct LinearLayer {
  const char* name;
  Index in, out;
};

/// What every block multiplies with; query, key and value are one product.
std::vector<LinearLayer> block_layers(const ModelConfig& model) {
  const Index key_value_width = model.resolved_key_value_heads() * model.head_width();
  const Index inner = model.resolved_feed_forward_width();
  return {{"query, key, value", model.width, model.width + 2 * key_value_width},
          {"attention out", model.width, model.width},
          {"feed-forward in", model.width, model.activation == "swiglu" ? 2 * inner : inner},
          {"feed-forward out", inner, model.width}};
}

void add_model(ProductTimes& products, const ModelConfig& model, Index vocabulary, Index rows, Index times,
               ProductTimes::Run run) {
  for (const LinearLayer& layer : block_layers(model))
    products.add_linear(layer.name, rows, layer.in, layer.out, times * model.layers, run);
  products.add_linear("head", rows, model.width, vocabulary, times, run);
}

}  // namespace

void Floor::measure() {
  products.measure();
  if (tiles) tiles->measure();
}

double Floor::seconds() const {
  double total = 0;
  for (const Line& line : lines()) total += line.seconds * static_cast<double>(line.count);
  return total;
}

std::vector<Floor::Line> Floor::lines() const {
  std::vector<Line> all;
  for (const ProductTimes::Line& line : products.lines()) {
    all.push_back({line.name, line.m, line.n, line.k, line.count, line.fastest_seconds(), line.flops(),
                   line.times[line.fastest].name});
  }
  if (!tiles) return all;
  const AttentionTiles::Size& size = tiles->size();
  const auto add = [&](const char* name, const AttentionTiles::Time& time, double products_of_pairs) {
    if (time.name.empty()) return;
    const double pairs = seen_pairs(0, size.length, {.causal = true, .window = size.window, .sinks = 0}) *
                         static_cast<double>(size.heads);
    all.push_back({name, AttentionTiles::tile_rows, size.length, size.head_width, tile_count, time.seconds,
                   products_of_pairs * 2 * pairs * static_cast<double>(size.head_width), time.name});
  };
  add("attention's tiles of a layer, forward", tiles->forward(), 2);
  add("attention's tiles of a layer, backward", tiles->backward(), 5);
  return all;
}

ProductTimes step_products(const ModelConfig& model, Index vocabulary, const StepShape& shape) {
  ProductTimes products;
  add_model(products, model, vocabulary, shape.micro_batch * shape.length, shape.windows / shape.micro_batch,
            ProductTimes::Run::training);
  return products;
}

Floor step_floor(const Config& config, Index vocabulary, const StepShape& shape) {
  const ModelConfig& model = config.model;
  Floor floor;
  floor.products = step_products(model, vocabulary, shape);
  floor.tiles.emplace(AttentionTiles::Size{.heads = shape.windows * model.heads,
                                           .length = shape.length,
                                           .head_width = model.head_width(),
                                           .window = config.positional.keys.window},
                      AttentionTiles::Run::training);
  floor.tile_count = model.layers;
  return floor;
}

Floor window_floor(const Config& config, Index vocabulary, Index length, Index chunk) {
  const ModelConfig& model = config.model;
  Floor floor;
  const Index chunks = length / chunk, rest = length % chunk;
  if (chunks > 0) add_model(floor.products, model, vocabulary, chunk, chunks, ProductTimes::Run::forward);
  if (rest > 0) add_model(floor.products, model, vocabulary, rest, 1, ProductTimes::Run::forward);
  floor.tiles.emplace(AttentionTiles::Size{.heads = model.heads,
                                           .length = length,
                                           .head_width = model.head_width(),
                                           .window = config.positional.keys.window},
                      AttentionTiles::Run::forward);
  floor.tile_count = model.layers;
  return floor;
}

Floor token_floor(const ModelConfig& model, Index vocabulary) {
  Floor floor;
  for (const LinearLayer& layer : block_layers(model))
    floor.products.add_row(layer.name, layer.in, layer.out, model.layers);
  floor.products.add_row("head", model.width, vocabulary, 1);
  return floor;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
