// Problems side by side in one environment, their rows shuffled among each other.
#pragma once
#include <vector>

#include "tests/support/mixed.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

/// Which row of which part a row of the whole is.
struct Origin {
  int part, row;
};

struct Archipelago {
  std::vector<reference::Problem> parts;
  reference::Problem whole;
  std::vector<Origin> origin;  ///< [rows of the whole]
};

/// Number of items of kind `kind`: free, nonneg, box rows, contacts.
inline int items_of(const reference::Problem& p, int kind) {
  const int counts[] = {p.counts.n_free, p.counts.n_nonneg, p.counts.n_box, p.counts.n_contacts};
  return counts[kind];
}

/// First row of item `i` of a kind, and first of its friction coefficients.
inline int first_row(const reference::Problem& p, int kind, int i) {
  int row = i;
  for (int k = 0; k < kind; ++k) row += items_of(p, k);
  for (int k = 0; kind == 3 && k < i; ++k) row += p.dims[std::size_t(k)] - 1;
  return row;
}

/// Problems side by side, the items of each kind shuffled among the parts.
inline Archipelago join(std::vector<reference::Problem> parts, Random& random) {
  Archipelago all{std::move(parts), {}, {}};
  std::vector<double> mu, lo, hi;
  for (int kind = 0; kind < 4; ++kind) {
    std::vector<int> next(all.parts.size(), 0);
    for (;;) {
      std::vector<int> left;
      for (std::size_t k = 0; k < all.parts.size(); ++k)
        if (next[k] < items_of(all.parts[k], kind)) left.push_back(int(k));
      if (left.empty()) break;
      const int part = left[std::size_t(random.integer(int(left.size())))];
      const reference::Problem& p = all.parts[std::size_t(part)];
      const int i = next[std::size_t(part)]++;
      const int dim = kind == 3 ? p.dims[std::size_t(i)] : 1, row = first_row(p, kind, i);
      if (kind == 3) all.whole.dims.push_back(dim);
      const int coefficient = row - first_row(p, 3, 0) - i;
      for (int j = 0; j < dim; ++j) {
        all.origin.push_back({part, row + j});
        if (j > 0) mu.push_back(p.mu(coefficient + j - 1));
      }
      if (kind == 2) {
        lo.push_back(p.lo(i));
        hi.push_back(p.hi(i));
      }
    }
  }
  for (const reference::Problem& p : all.parts) {
    all.whole.counts.n_free += p.counts.n_free;
    all.whole.counts.n_nonneg += p.counts.n_nonneg;
    all.whole.counts.n_box += p.counts.n_box;
    all.whole.counts.n_contacts += p.counts.n_contacts;
  }
  const auto to_vector = [](const std::vector<double>& v) {
    return reference::Vector(Eigen::Map<const reference::Vector>(v.data(), long(v.size())));
  };
  all.whole.mu = to_vector(mu);
  all.whole.lo = to_vector(lo);
  all.whole.hi = to_vector(hi);
  const long n = long(all.origin.size());
  all.whole.W = reference::Matrix::Zero(n, n);
  all.whole.b = all.whole.R = reference::Vector::Zero(n);
  for (long i = 0; i < n; ++i) {
    const Origin& a = all.origin[std::size_t(i)];
    const reference::Problem& p = all.parts[std::size_t(a.part)];
    all.whole.b(i) = p.b(a.row);
    all.whole.R(i) = p.R(a.row);
    for (long j = 0; j < n; ++j) {
      const Origin& c = all.origin[std::size_t(j)];
      if (c.part == a.part) all.whole.W(i, j) = p.W(a.row, c.row);
    }
  }
  return all;
}

/// Parts of rows of every kind, together more rows than are solved undivided.
inline Archipelago make_archipelago(int index, Law law, int parts = 9) {
  MixedOptions kinds = kinds_for(law);
  kinds.max_contacts = 6;
  Random random(77 + std::uint64_t(index));
  std::vector<reference::Problem> all;
  int rows = 0;
  for (int k = 0; k < parts || rows <= 120; ++k) {
    all.push_back(make_mixed(100 * index + k, kinds).problem);
    rows += reference::rows(all.back());
  }
  return join(std::move(all), random);
}

}  // namespace stickslip::support
