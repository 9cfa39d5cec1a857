import { queryOptions } from '@tanstack/react-query';
import { apiFetch, ServerError } from '../../api.ts';
import type { Schema } from '../../schema.ts';

/** The path of the MCP endpoint. */
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

/** All tools: a login may call any of them. */
export const toolsQuery = queryOptions({
  queryKey: ['tools'],
  queryFn: async () => ((await request('tools/list', {})) as { tools: readonly Tool[] }).tools,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Calls a tool like an agent does. An error of the tool is a result. */
export async function callTool(name: string, input: Readonly<Record<string, unknown>>): Promise<ToolResult> {
  return (await request('tools/call', { name, arguments: input })) as ToolResult;
}

/** @returns the result of a stateless JSON-RPC request */
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

/** Parses a response that is plain JSON or a stream of one event. */
function messageOf(text: string): { readonly result?: unknown; readonly error?: { readonly message: string } } {
  const data = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return JSON.parse(data.length > 0 ? data.join('\n') : text);
}
