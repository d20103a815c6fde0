#include "secrets/mask.hpp"

#include <gtest/gtest.h>

namespace gpuctl::secrets {
namespace {

TEST(Masked, HidesPasswordsOfUrls) {
  EXPECT_EQ(masked("url: https://me:s3cret@git.example.com/x"),
            "url: https://me:******@git.example.com/x");
  EXPECT_EQ(masked("url: https://git.example.com:8443/x@y"),
            "url: https://git.example.com:8443/x@y");
  EXPECT_EQ(masked("url: ssh://git@host/x"), "url: ssh://git@host/x");
}

TEST(Masked, HidesKeysAndTokens) {
  EXPECT_EQ(masked("k: wJalrXUtnFEMI/K7MDENG/bPxRfiCY"), "k: ******************************");
  EXPECT_EQ(masked("auth: \"dXNlcjpzZWNyZXRwYXNzd29yZDEy\""),
            "auth: \"****************************\"");
}

TEST(Masked, LeavesNamesReadable) {
  for (const char* line :
       {"name: openshift-machine-api-gpu-pool-01", "path: layers/20-machines/MachineSet-A100.yaml",
        "type: p4d.24xlarge", "kind: NodeFeatureDiscovery", "x: gpuOperatorReleasesTable",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "ami: ami-0a1b2c3d4e5f60718", "zone: Z0123456789ABCDEFGHIJ",
        "when: spec.gpuPools[0].machine.quotaCodeSpot2"}) {
    EXPECT_EQ(masked(line), line);
  }
}

}  // namespace
}  // namespace gpuctl::secrets
