import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestServer } from '../server.ts';

/** The two generations of the protocol, as a client selects them. */
export const protocolVersions = {
  '2026-07-28': { mode: { pin: '2026-07-28' } },
  '2025-11-25': { mode: 'legacy' },
} as const;
export type ProtocolVersion = keyof typeof protocolVersions;

/** The official client, connected to a server with a credential. */
export async function mcpClient(
  { url }: Pick<TestServer, 'url'>,
  credential: string,
  version: ProtocolVersion,
  capabilities: ClientCapabilities = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: protocolVersions[version], capabilities },
  );
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${credential}` } },
  });
  // The SDK's own class does not fit its interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
}

/** The capabilities of a client that shows MCP Apps. */
export const withApps: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

export interface ToolAnswer {
  readonly isError: boolean;
  readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into outputs of every shape
  readonly output: any;
}

/** Calls a tool. `output` is its structured content, or the error it reports. */
export async function callTool(client: Client, name: string, input: Record<string, unknown> = {}): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: input });
  const content = result.content as ToolAnswer['content'];
  const isError = result.isError === true;
  return { isError, content, output: isError ? JSON.parse(content[0]?.text ?? '').error : result.structuredContent };
}
