// Values of a document with what the schema says of them.
#include "base/text.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

TEST(Visit, GivesEachValueItsSchema) {
  Bench bench;
  const SchemaPtr schema = compile(bench.read("type: object\n"
                                              "properties:\n"
                                              "  a: {type: string, x-gpuctl-mark: one}\n"
                                              "  list: {type: array, items: {type: integer, "
                                              "x-gpuctl-mark: two}}\n"
                                              "  map: {type: object, additionalProperties: {type: "
                                              "string, x-gpuctl-mark: three}}\n"
                                              "  open: {type: object, x-gpuctl-mark: four}\n"),
                                   bench.sources, bench.sink);
  std::string seen;
  for_each_value(*schema, bench.read("a: 1\nlist: [5]\nmap: {k: v}\nopen: {x: {y: 7}}\nb: 2\n"),
                 [&](const std::vector<std::string>& path, const yaml::Node& definition,
                     const yaml::Node& value) {
                   if (!value.is_scalar()) return;
                   seen += base::join(path, ".") + "=" +
                           std::string(definition.get("x-gpuctl-mark").as_string()) + " ";
                 });
  // What no schema knows has that of the nearest field above.
  EXPECT_EQ(seen, "a=one list.0=two map.k=three open.x.y=four b= ");
}

}  // namespace
}  // namespace gpuctl::schema
