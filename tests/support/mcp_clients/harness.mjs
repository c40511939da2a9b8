// What the scripts of both TypeScript SDKs share; protocol.py says what they read and write.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import process from "node:process";

const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Listen on a free port; `next()` resolves with the parameters that a browser brings back. */
async function loopback() {
  let arrive;
  let arrival;
  const expect = () => (arrival = new Promise((resolve) => (arrive = resolve)));
  expect();
  const server = http.createServer((request, response) => {
    response.end("You can close this window.");
    const url = new URL(request.url, "http://127.0.0.1");
    if (url.pathname === "/callback") arrive(url.searchParams);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/callback`,
    async next() {
      const answer = await arrival;
      expect();
      const shown = Object.fromEntries(answer);
      write({ returned: "code" in shown ? { ...shown, code: "…" } : shown });
      return answer;
    },
  };
}

/** An `OAuthClientProvider` of the SDKs, which keeps its state in a file and hands addresses to the test. */
class Provider {
  constructor(path, redirectUrl) {
    this.path = path;
    this.redirectUrl = redirectUrl;
    this.expectedState = randomUUID();
  }

  get clientMetadata() {
    return { client_name: "Pressroom's tests", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  }

  state() {
    return this.expectedState;
  }

  clientInformation() {
    return this.#kept().client;
  }

  saveClientInformation(client) {
    this.#keep({ client });
  }

  tokens() {
    return this.#kept().tokens;
  }

  saveTokens(tokens) {
    this.#keep({ tokens });
  }

  redirectToAuthorization(url) {
    write({ open: String(url) });
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  invalidateCredentials(scope) {
    if (scope === "all" || scope === "tokens") this.#keep({ tokens: undefined });
    if (scope === "all" || scope === "client") this.#keep({ client: undefined });
  }

  #kept() {
    return existsSync(this.path) ? JSON.parse(readFileSync(this.path, "utf8")) : {};
  }

  #keep(part) {
    writeFileSync(this.path, JSON.stringify({ ...this.#kept(), ...part }));
  }
}

async function call({ RequestError }, client, { name, arguments: given }) {
  try {
    return await client.callTool({ name, arguments: given });
  } catch (error) {
    if (error instanceof RequestError) return { error: { code: error.code, message: error.message } };
    throw error;
  }
}

async function report(sdk, client, calls) {
  const { tools } = await client.listTools();
  const results = [];
  for (const one of calls) results.push(await call(sdk, client, one));
  return {
    protocol: client.transport.protocolVersion,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    tools: tools.map((tool) => tool.name),
    calls: results,
  };
}

/** Connect, list and call as ordered; where the server asks for it, authorize first and connect again. */
async function main(sdk, order) {
  const back = order.store ? await loopback() : undefined;
  const authProvider = back && new Provider(order.store, back.url);
  for (;;) {
    const options = { authProvider, requestInit: { headers: order.headers } };
    const transport = new sdk.StreamableHTTPClientTransport(new URL(order.url), options);
    const client = new sdk.Client({ name: "pressroom-tests", version: "1.0.0" });
    try {
      await client.connect(transport);
      return await report(sdk, client, order.calls);
    } catch (error) {
      if (!back || !(error instanceof sdk.UnauthorizedError)) throw error;
    }
    const answer = await back.next();
    if (answer.get("state") !== authProvider.expectedState) throw new Error("the state is not the one that was sent");
    await sdk.finishAuth(transport, answer);
  }
}

/** Carry out the order on standard input with an SDK, and write what came of it. */
export async function run(sdk) {
  try {
    write({ done: await main(sdk, JSON.parse(readFileSync(0, "utf8"))) });
  } catch (error) {
    console.error(error);
    write({ failed: { type: error.constructor.name, message: String(error.message), code: error.code ?? null } });
  }
  process.exit();
}
