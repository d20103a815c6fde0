// A small chain of knowledge of its own, and objects for it.
#pragma once

#include <string>
#include <vector>

#include "catalog/library.hpp"
#include "diagnose/chain.hpp"
#include "diagnose/judge.hpp"
#include "signature/signatures.hpp"
#include "yaml/read.hpp"

namespace gpuctl::diagnose {

inline constexpr const char* kChain = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Diagnosis
spec:
  kinds:
    - {name: Machine, group: sample.example, resource: machines}
    - {name: Pod, resource: pods}
  layouts:
    - name: sample
      source: us
      objects: ["objects/*.yaml"]
      logs: ["logs/{namespace}/{pod}/{container}.log"]
  podChecks:
    - name: broken
      when: object.status.phase == "Failed"
      text: it has failed
      nodes: "[object.spec.nodeName]"
  links:
    - name: driver
      title: drivers
      after: [machine]
      pods: object.metadata.labels.app == "driver"
      logs: log.pod.startsWith("driver")
    - name: plugin
      title: plug-ins
      after: [driver]
      pods: object.metadata.labels.app == "plugin"
    - name: license
      title: licences
      after: [driver]
      watch: true
      logs: log.pod.startsWith("driver")
    - name: machine
      title: machines
      kinds: [Machine]
      checks:
        - name: failed
          kind: Machine
          when: object.status.phase == "Failed"
          text: the machine is not there
          says: object.status.?message.orValue("")
          nodes: 'has(object.status.node) ? [object.status.node] : []'
)";

inline constexpr const char* kSignatures = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Signatures
spec:
  signatures:
    - {name: installer-only, pattern: no quota, cause: a, remedy: b, source: us}
    - {name: quota, of: [machine], pattern: no quota, cause: a, remedy: b, source: us}
    - {name: build, of: [driver], pattern: cannot build, cause: a, remedy: b, source: us}
    - {name: vague, of: [driver], pattern: went wrong, cause: a, remedy: b, source: us, weak: true}
    - {name: unlicensed, of: [license], pattern: no licence, over: got a licence, cause: a, remedy: b, source: us}
    - {name: both, of: [installer, driver], pattern: both of them, cause: a, remedy: b, source: us}
)";

/// Knowledge of a test: one folder with a chain and signatures.
struct Lab {
  explicit Lab(const std::string& chain_text = kChain,
               const std::string& signature_text = kSignatures)
      : library(nullptr,
                {{"providers/sample/provider.yaml", "provider.yaml", "spec: {title: sample}\n"},
                 {"providers/sample/diagnosis.yaml", "diagnosis.yaml", chain_text},
                 {"providers/sample/signatures.yaml", "signatures.yaml", signature_text}},
                sink),
        chain(folders, library, true, sink),
        signatures(folders, library, signature::Use::diagnosis),
        evidence(chain),
        sources(&library.sources()) {}

  void add(const std::string& text) {
    const diag::FileId file = sources.add_file("objects.yaml", text);
    const auto documents = yaml::read_all(file, sources, arena, sink);
    if (!documents) return;
    for (const yaml::Node& document : *documents) evidence.add(document, "objects.yaml", arena);
  }
  void add_machine(const std::string& name, const std::string& status) {
    add("apiVersion: sample.example/v1\nkind: Machine\nmetadata: {name: " + name + "}\nstatus: {" +
        status + "}\n");
  }
  void add_pod(const std::string& name, const std::string& app, const std::string& phase,
               const std::string& node = "n1") {
    add("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: x, labels: {app: " +
        app + "}}\nspec: {nodeName: " + node + "}\nstatus: {phase: " + phase + "}\n");
  }
  void add_log(const std::string& pod, const std::string& content) {
    evidence.logs.push_back({pod + ".log", {}, content, "x", pod, "main", pod.empty()});
  }
  Diagnosis judge() {
    return diagnose::judge(chain, signatures, evidence, {}, {sources, arena, sink});
  }
  static const LinkResult& link(const Diagnosis& diagnosis, const std::string& name) {
    for (const LinkResult& one : diagnosis.links) {
      if (one.link->name == name) return one;
    }
    return diagnosis.links.front();
  }

  std::vector<std::string> folders = {"sample"};
  diag::Sink sink;
  catalog::Library library;
  Chain chain;
  signature::Signatures signatures;
  Evidence evidence;
  diag::Sources sources;
  yaml::Arena arena;
};

}  // namespace gpuctl::diagnose
