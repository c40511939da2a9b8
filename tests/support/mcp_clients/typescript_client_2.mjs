// The TypeScript client 2.x: lists tools and calls them, with a key or through OAuth.
import { Client, ProtocolError, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { run } from "./harness.mjs";

const finishAuth = (transport, answer) => transport.finishAuth(answer);

await run({ Client, StreamableHTTPClientTransport, UnauthorizedError, RequestError: ProtocolError, finishAuth });
