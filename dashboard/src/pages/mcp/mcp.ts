import { queryOptions } from '@tanstack/react-query';
import { apiFetch, ServerError } from '../../api.ts';
import type { Schema } from '../../schema.ts';

/** Where agents reach this server. */
export const MCP_PATH = '/api/v1/mcp';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

export interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly content: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  )[];
}

/** Every tool there is: a login may call them all. */
export const toolsQuery = queryOptions({
  queryKey: ['tools'],
  queryFn: async () => ((await request('tools/list', {})) as { tools: readonly Tool[] }).tools,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Calls a tool, as an agent does. That the tool itself fails is a result, as it is for the agent. */
export async function callTool(name: string, input: Readonly<Record<string, unknown>>): Promise<ToolResult> {
  return (await request('tools/call', { name, arguments: input })) as ToolResult;
}

/** @returns the result of a JSON-RPC request, which the server answers without a session */
async function request(method: string, params: object): Promise<unknown> {
  const response = await apiFetch(MCP_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = messageOf(await response.text());
  if (answer.error !== undefined) throw new ServerError(answer.error.message);
  return answer.result;
}

/** An answer comes as plain JSON, or as the one event of a stream. */
function messageOf(text: string): { readonly result?: unknown; readonly error?: { readonly message: string } } {
  const data = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return JSON.parse(data.length > 0 ? data.join('\n') : text);
}
