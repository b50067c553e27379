#!/usr/bin/env python3
"""Walks search → get → read → plan over stdio with the official Python SDK (package `mcp`, version 1), on the sample sessions.

    python3 tests/clients/walk.py PATH-TO-AGF

Exits with 0 if every step gives what it should.
"""
import asyncio
import os
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ALLOW = "metadata,summaries,content,transcript,prompts"


async def walk(program, home):
    env = {"PATH": os.environ["PATH"], "HOME": home}
    server = StdioServerParameters(command=program, args=["--demo", "mcp", "--allow", ALLOW], env=env)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        assert hello.serverInfo.name == "agf", hello

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            assert not result.isError and result.structuredContent["ok"], result
            return result.structuredContent["data"]

        found = await call("agf_search_sessions", query="idempotency keys", include_content=True)
        assert found["total"] == 1, found
        hit = found["sessions"][0]
        who = {"agent": hit["agent"], "session_id": hit["session_id"]}
        shown = await call("agf_get_session", **who, include_summaries=True)
        assert shown["session"]["title"] == "Retry and backoff for the invoice webhook", shown
        page = await call("agf_read_session", **who, around=hit["matches"][0]["message"], limit=3)
        assert any("idempotency" in m["text"].lower() for m in page["messages"]), page
        plan = await call("agf_resume_plan", **who)
        assert plan["plan"]["args"] == ["--resume", who["session_id"]] and plan["executed"] is False, plan
        refused = await session.call_tool("agf_get_session", {"agent": "claude", "session_id": "unknown"})
        assert refused.isError and refused.structuredContent["error"]["code"] == "not_found", refused
    print("search, get, read, plan: 4 passed, 0 failed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(asyncio.wait_for(walk(os.path.abspath(sys.argv[1]), home), 120))
