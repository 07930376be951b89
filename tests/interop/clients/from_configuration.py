"""FastMCP's client, which reads the configuration of a host and starts the servers in it.

    from_configuration.py FILE

Prints the names of the tools that it is offered.
"""

import asyncio
import json
import sys

from fastmcp import Client


async def main():
    with open(sys.argv[1]) as file:
        servers = json.load(file)["mcpServers"]
    async with Client({"mcpServers": servers}) as client:
        for tool in await client.list_tools():
            print(tool.name)


asyncio.run(main())
