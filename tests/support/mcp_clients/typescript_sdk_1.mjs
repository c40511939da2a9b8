// The TypeScript SDK 1.x: lists tools and calls them, with a key or through OAuth.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { run } from "./harness.mjs";

async function finishAuth(transport, answer) {
  // This version takes the code alone; what else came back is the program's business.
  if (!answer.has("code")) throw new UnauthorizedError(answer.get("error"));
  await transport.finishAuth(answer.get("code"));
}

await run({ Client, StreamableHTTPClientTransport, UnauthorizedError, RequestError: McpError, finishAuth });
