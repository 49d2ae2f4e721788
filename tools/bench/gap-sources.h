// SPDX-License-Identifier: MIT
/*
 * Gives the GAP reference's programs (github.com/sbeamer/gapbs) the sources of gtu bench gpu, and takes their ranks. It is
 * included before their code, which is unchanged:
 *
 *	make CXX="g++ -Isrc -include PATH/gap-sources.h"
 *
 * GTU_SOURCES names a file of one vertex a line, which replaces the sources that they draw; -r goes before it. GTU_RANKS names
 * the file that pr writes its ranks to, 4-byte reals, by another run that is not timed.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <benchmark.h>

template<typename GraphT_>
class ListedSources {
 public:
  // tc samples vertices by this one, to judge their degrees
  explicit ListedSources(const GraphT_ &g) : own_(g) {}

  ListedSources(const GraphT_ &g, NodeID given) : own_(g, given) {
    const char *path = given == -1 ? getenv("GTU_SOURCES") : nullptr;
    FILE *f = path && *path ? fopen(path, "r") : nullptr;
    long v;

    while (f && fscanf(f, "%ld", &v) == 1 && v >= 0 && v < g.num_nodes())
      sources_.push_back(v);
    if (path && *path && (sources_.empty() || !feof(f))) {
      fprintf(stderr, "GTU_SOURCES: %s is not a list of the graph's vertices\n", path);
      exit(1);
    }
    if (f)
      fclose(f);
  }

  NodeID PickNext() {
    return sources_.empty() ? own_.PickNext() : sources_[next_++ % sources_.size()];
  }

 private:
  SourcePicker<GraphT_> own_;
  std::vector<NodeID> sources_;
  size_t next_ = 0;
};

template<typename Result_>
void WriteRanks(const Result_ &) {}

inline void WriteRanks(const pvector<float> &ranks) {
  const char *path = getenv("GTU_RANKS");
  FILE *f = fopen(path, "wb");

  if (!f || fwrite(ranks.begin(), sizeof(float), ranks.size(), f) != ranks.size() || fclose(f)) {
    perror(path);
    exit(1);
  }
}

template<typename GraphT_, typename Kernel_, typename Stats_, typename Verify_>
void BenchmarkAndWrite(const CLApp &cli, const GraphT_ &g, Kernel_ kernel, Stats_ stats, Verify_ verify) {
  BenchmarkKernel(cli, g, kernel, stats, verify);
  if (getenv("GTU_RANKS") && *getenv("GTU_RANKS"))
    WriteRanks(kernel(g));
}

#define SourcePicker ListedSources
#define BenchmarkKernel BenchmarkAndWrite
