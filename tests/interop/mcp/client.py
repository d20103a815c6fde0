"""Talks to `gpuctl mcp` by the published Python client: `client.py GPUCTL FOLDER MODE`, whose mode is `auto` or
`legacy`. Prints as JSON what came; the client itself checks messages, and results by the schemas of their tools."""

import asyncio
import json
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(gpuctl, folder, mode):
    server = stdio_client(StdioServerParameters(command=gpuctl, args=["mcp"], cwd=folder, env={"GPUCTL_DATE": "2025-12-01"}))
    async with Client(server, mode=mode) as client:
        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            return {"isError": bool(result.is_error), "structured": result.structured_content,
                    "texts": [block.text for block in result.content]}

        tools = (await client.list_tools()).tools
        answers = {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools],
            "readOnly": all(tool.annotations.read_only_hint for tool in tools),
            "good": await call("validate", blueprints=["good.yaml"]),
            "bad": await call("validate", blueprints=["bad.yaml"]),
            "explain": await call("explain", about="GPU0201"),
            "plan": await call("plan", blueprints=["good.yaml"], repo="fleet"),
            "resources": [str(one.uri) for one in (await client.list_resources()).resources],
            "page": (await client.read_resource("gpuctl://codes/GPU0201")).contents[0].text,
        }
    print(json.dumps(answers))


asyncio.run(main(*sys.argv[1:4]))
