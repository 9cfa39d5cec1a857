import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/* The services around n8n and Switchboard: a language model, a CRM, and an endpoint that fails. */

export interface Others {
  readonly url: string;
  /** Requests to the language model. */
  readonly prompts: ReadonlyArray<{
    readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  }>;
  /** Contacts of the CRM by phone number. */
  readonly contacts: Map<string, { name: string; company?: string }>;
  /** Status of the endpoint. */
  endpointStatus: number;
  /** Events that the endpoint has accepted. */
  readonly accepted: string[];
  close(): Promise<void>;
}

export async function startOthers(): Promise<Others> {
  const prompts: Others['prompts'][number][] = [];
  const contacts: Others['contacts'] = new Map();
  const accepted: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://others');
    const body = request.method === 'POST' ? await json(request).catch(() => ({})) : {};
    if (pathname.endsWith('/chat/completions')) {
      prompts.push(body as Others['prompts'][number]);
      return respond(response, completionOf(body as Prompt));
    }
    if (pathname === '/api/contacts') return respond(response, crm(contacts, request, searchParams, body));
    if (pathname === '/endpoint') {
      if (others.endpointStatus === 200) accepted.push(String(request.headers['x-webhook-id']));
      return response.writeHead(others.endpointStatus).end();
    }
    return response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const others: Others = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    prompts,
    contacts,
    endpointStatus: 200,
    accepted,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return others;
}

function respond(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function crm(
  contacts: Others['contacts'],
  { method }: IncomingMessage,
  query: URLSearchParams,
  body: unknown,
): unknown {
  if (method !== 'POST') return { contact: contacts.get(query.get('phone') ?? '') ?? null };
  const { phone, name } = body as { phone: string; name: string };
  contacts.set(phone, { name });
  return { contact: { name } };
}

interface Prompt {
  readonly model: string;
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  readonly tools?: ReadonlyArray<{ readonly function: { readonly name: string } }>;
}

/** Searches with the first tool, and then answers with what it has found: the format of OpenAI's chat completions. */
function completionOf({ model, messages, tools = [] }: Prompt): unknown {
  const result = messages.findLast(({ role }) => role === 'tool');
  const question = String(messages.findLast(({ role }) => role === 'user')?.content);
  const name = tools[0]?.function.name;
  const isSearching = name !== undefined && result === undefined;
  const call = { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify({ words: 'order' }) } };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        finish_reason: isSearching ? 'tool_calls' : 'stop',
        message: isSearching
          ? { role: 'assistant', content: null, tool_calls: [call] }
          : { role: 'assistant', content: `You asked: ${question}. ${describe(result?.content)}` },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function describe(found: unknown): string {
  return String(JSON.stringify(found)).includes('order 42') ? 'Your order is 42.' : 'I found nothing.';
}
