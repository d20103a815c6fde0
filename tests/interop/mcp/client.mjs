// Talks to `gpuctl mcp` by the published TypeScript clients: `client.mjs GPUCTL FOLDER MODE`, whose mode is `sdk` (the
// package before 2026-07-28), or a mode of the package after it. Prints as JSON what came, as client.py does.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [gpuctl, folder, mode, packages] = process.argv.slice(2);
const require = createRequire(packages + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const old = mode === "sdk";
const { Client } = await load(old ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await load(
  old ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
const transport = new StdioClientTransport({
  command: gpuctl, args: ["mcp"], cwd: folder, env: { GPUCTL_DATE: "2025-12-01" },
});
const client = new Client({ name: "test", version: "0" }, old ? {} : { versionNegotiation: { mode } });
await client.connect(transport);
const call = async (name, given) => {
  const result = await client.callTool({ name, arguments: given });
  return { isError: Boolean(result.isError), structured: result.structuredContent,
           texts: result.content.map((block) => block.text) };
};
const { tools } = await client.listTools();
const answers = {
  version: old ? transport.protocolVersion ?? null : client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion().name,
  tools: tools.map((tool) => tool.name),
  readOnly: tools.every((tool) => tool.annotations.readOnlyHint),
  good: await call("validate", { blueprints: ["good.yaml"] }),
  bad: await call("validate", { blueprints: ["bad.yaml"] }),
  explain: await call("explain", { about: "GPU0201" }),
  plan: await call("plan", { blueprints: ["good.yaml"], repo: "fleet" }),
  resources: (await client.listResources()).resources.map((one) => one.uri),
  page: (await client.readResource({ uri: "gpuctl://codes/GPU0201" })).contents[0].text,
};
await client.close();
console.log(JSON.stringify(answers));
