import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type McpHttpHandler,
  McpServer,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import Fastify, { type FastifyInstance } from 'fastify';
import { AnonymousConnections } from '../../../src/http/anonymousConnections.ts';
import { Callers } from '../../../src/http/callers.ts';
import { addMcp } from '../../../src/http/mcp/mount.ts';
import { handlerOf, ParamsServer } from '../../../src/http/mcp/server.ts';
import { createOwnHosts } from '../../../src/http/ownHosts.ts';
import type { TestServer } from '../server.ts';

/*
 * The tools, resources and prompts that the conformance suite requests by name, like the fixture server of the official
 * SDK. They are served by the product's own server class behind the product's mount, and so test both.
 */

/** One pixel, PNG. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** A silent WAV file. */
const AUDIO = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=';

type Content = CallToolResult['content'][number];
type Fields = Readonly<Record<string, unknown>>;
type ToolResult = CallToolResult | InputRequiredResult;
type Tool = (input: Fields, context: ServerContext) => ToolResult | Promise<ToolResult>;
type FormParams = Parameters<typeof inputRequired.elicit>[0];

/** Parts of one server, which is made for one request. */
interface Deps {
  /** Reaches the open subscriptions of all requests. */
  readonly notify: () => ServerNotifier;
}

/** Signs what a client returns in the next round. Every request gets a server of its own, so the key outlives it. */
const states = createRequestStateCodec<Fields>({ key: randomBytes(32) });

/** The tools, resources and prompts of the product pass through `ParamsServer`, so those of the fixtures do as well. */
class FixtureServer extends McpServer {
  override readonly server = new ParamsServer(
    { name: 'fixtures', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        prompts: { listChanged: true },
        // The library serves `logging/setLevel`, which clients of the older generation call before they read logs. It
        // filters what the same server sends. The next request has another server, so it sends logs of every level.
        logging: {},
        completions: {},
      },
      requestState: { verify: states.verify },
    },
  );
}

/** Serves the fixtures behind the mount of the product, with the keys of a server. */
export async function startFixtures({ app: { services } }: TestServer): Promise<{ app: FastifyInstance; url: string }> {
  const { authenticator, settings, requestLimits, log } = services;
  const app = Fastify({ genReqId: () => 'req_fixture' });
  const ownHosts = createOwnHosts(settings);
  // Like the server for all its routes.
  app.addHook('onRequest', async ({ headers }) => ownHosts.require(headers.host));
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const handler: McpHttpHandler = handlerOf(() => fixtureServer({ notify: () => handler.notify }), log);
  addMcp(app, {
    callers: new Callers(authenticator, new AnonymousConnections(10)),
    ownHosts,
    requestLimits,
    stopping: stopping.signal,
    toolsets: [],
    loadHandler: async () => handler,
  });
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}

function fixtureServer(deps: Deps): McpServer {
  const server = new FixtureServer({ name: 'fixtures', version: '1.0.0' });
  const all = { ...contentTools, ...inputTools, ...askingTools, ...subscriptionTools(deps) };
  for (const [name, tool] of Object.entries(all)) {
    const inputSchema = fromJsonSchema<Fields>({ type: 'object', properties: {}, ...schemas[name] });
    server.registerTool(name, { description: 'A fixture', inputSchema }, tool);
  }
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  return server;
}

const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, data: IMAGE, mimeType: 'image/png' };
const embedded = (uri: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: value },
});
const result = (...content: Content[]): CallToolResult => ({ content });

/** Input schemas of the tools whose schema the suite looks at. */
const schemas: Readonly<Record<string, Fields>> = {
  test_x_mcp_header: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      level: { type: 'integer' },
    },
  },
  test_sampling: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  test_elicitation: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  // Uses keywords of JSON Schema 2020-12, which must be returned unchanged.
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: it is a word of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

/** Tools that answer at once. */
const contentTools: Readonly<Record<string, Tool>> = {
  test_simple_text: () => result(text('This is a simple text response for testing.')),
  test_image_content: () => result(image),
  test_audio_content: () => result({ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }),
  test_embedded_resource: () => result(embedded('test://embedded-resource', 'This is an embedded resource content.')),
  test_multiple_content_types: () =>
    result(text('Multiple content types test:'), image, {
      type: 'resource',
      resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
    }),
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_progress: async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      for (const progress of [0, 50, 100]) {
        const message = `Completed step ${progress} of 100`;
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message },
        });
      }
    }
    return result(text('done'));
  },
  test_tool_with_logging: async (_, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    return result(text('done'));
  },
  /** Sends the log only if the request asked for it. */
  test_logging_tool: async (_, { mcpReq }) => {
    await mcpReq.log('info', 'the tool ran');
    return result(text('done'));
  },
  test_streaming_elicitation: () => result(text('A stream carries no requests of the server.')),
  test_x_mcp_header: ({ region = 'none' }) => result(text(`region=${String(region)}`)),
  json_schema_2020_12_tool: (input) => result(text(JSON.stringify(input))),
};

const ask = (message: string, field: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  });
const confirm = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
});
const complete = (prompt: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 });

/** The value that the user has entered into the only field of a form. */
function entered({ mcpReq }: ServerContext, request: string, field: string): unknown {
  return acceptedContent<Fields>(mcpReq.inputResponses, request)?.[field];
}

const answerTo = ({ mcpReq }: ServerContext, request: string) =>
  mcpReq.inputResponses?.[request] as { roots?: unknown[]; content?: { text?: string } } | undefined;

/** Tools that return `input_required` until the client has sent what they need. */
const inputTools: Readonly<Record<string, Tool>> = {
  test_missing_capability: (_, context) =>
    answerTo(context, 'answer') === undefined
      ? inputRequired({ inputRequests: { answer: complete('Say pong.') } })
      : result(text('done')),
  test_input_required_result_elicitation: (_, context) => {
    const name = entered(context, 'user_name', 'name');
    return typeof name === 'string'
      ? result(text(`Hello, ${name}!`))
      : inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
  },
  test_input_required_result_sampling: (_, context) => {
    const answer = answerTo(context, 'capital_question');
    return answer === undefined
      ? inputRequired({ inputRequests: { capital_question: complete('What is the capital of France?') } })
      : result(text(`The model said: ${answer.content?.text}`));
  },
  test_input_required_result_list_roots: (_, context) => {
    const roots = answerTo(context, 'client_roots')?.roots;
    return Array.isArray(roots)
      ? result(text(`The client has ${roots.length} roots: ${JSON.stringify(roots)}`))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: async (_, context) => {
    if (entered(context, 'confirm', 'ok') === undefined) {
      const requestState = await states.mint({ step: 'confirm' });
      return inputRequired({ inputRequests: { confirm }, requestState });
    }
    if (context.mcpReq.requestState<Fields>()?.['step'] !== 'confirm')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The requestState is missing');
    return result(text('state-ok'));
  },
  test_input_required_result_multiple_inputs: async (_, context) => {
    const name = entered(context, 'user_name', 'name');
    const greeting = answerTo(context, 'greeting')?.content?.text;
    const roots = answerTo(context, 'client_roots')?.roots;
    if (name !== undefined && greeting !== undefined && roots !== undefined)
      return result(text(`${greeting} ${String(name)}, ${roots.length} roots`));
    return inputRequired({
      inputRequests: {
        user_name: ask('What is your name?', 'name'),
        greeting: complete('Write a greeting.'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 'all' }),
    });
  },
  test_input_required_result_multi_round: async (_, context) => {
    const state = context.mcpReq.requestState<Fields>();
    if (state?.['step'] === 'color')
      return result(text(`${String(state['name'])} likes ${String(entered(context, 'step2', 'color'))}`));
    if (state?.['step'] === 'name') {
      const name = entered(context, 'step1', 'name') ?? 'nobody';
      const requestState = await states.mint({ step: 'color', name });
      return inputRequired({ inputRequests: { step2: ask('Which color do you like?', 'color') }, requestState });
    }
    const requestState = await states.mint({ step: 'name' });
    return inputRequired({ inputRequests: { step1: ask('What is your name?', 'name') }, requestState });
  },
  /** `requestState.verify` refuses a changed state before this runs. */
  test_input_required_result_tampered_state: async (_, context) => {
    const isConfirmed = entered(context, 'confirm', 'ok') !== undefined;
    if (isConfirmed && context.mcpReq.requestState() !== undefined) return result(text('integrity-ok'));
    const requestState = await states.mint({ step: 'confirm' });
    return inputRequired({ inputRequests: { confirm }, requestState });
  },
  /** Asks only for what the client has declared. */
  test_input_required_result_capabilities: (_, { mcpReq }) => {
    const envelope: Fields = mcpReq.envelope ?? {};
    const { elicitation, sampling, roots } = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Fields;
    const inputRequests: InputRequests = {
      ...(elicitation !== undefined && { user_name: ask('What is your name?', 'name') }),
      ...(sampling !== undefined && { greeting: complete('Write a greeting.') }),
      ...(roots !== undefined && { client_roots: inputRequired.listRoots() }),
    };
    const isDone = mcpReq.inputResponses !== undefined || Object.keys(inputRequests).length === 0;
    return isDone ? result(text('done')) : inputRequired({ inputRequests });
  },
};

/** Every kind of field that a form can prefill. */
const FORM_WITH_DEFAULTS: FormParams = {
  message: 'Check the values',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
};

/** Every way to list choices. */
const FORM_WITH_CHOICES: FormParams = {
  message: 'Choose',
  requestedSchema: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ['a', 'b'] },
      titledSingle: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      legacyEnum: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      titledMulti: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    },
  },
};

/**
 * The suite checks the question. Without sessions its answer, a request of its own, reaches another server instance, so
 * the tool soon stops waiting.
 */
const asking = { timeout: 500 };

/** Tools that send the client a request while they run, as protocol versions before 2026-07-28 do. */
const askingTools: Readonly<Record<string, Tool>> = {
  test_sampling: async ({ prompt }, { mcpReq }) => {
    const messages = [{ role: 'user' as const, content: text(String(prompt)) }];
    const answer = await mcpReq.send(
      { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } },
      asking,
    );
    return result(text(JSON.stringify(answer)));
  },
  test_elicitation: ({ message }, context) =>
    elicit(context, {
      message: String(message),
      requestedSchema: { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] },
    }),
  test_elicitation_sep1034_defaults: (_, context) => elicit(context, FORM_WITH_DEFAULTS),
  test_elicitation_sep1330_enums: (_, context) => elicit(context, FORM_WITH_CHOICES),
};

async function elicit({ mcpReq }: ServerContext, params: FormParams): Promise<CallToolResult> {
  return result(text(JSON.stringify(await mcpReq.send({ method: 'elicitation/create', params }, asking))));
}

/** Tools that announce a change on the open streams of `subscriptions/listen`. */
const subscriptionTools = ({ notify }: Deps): Readonly<Record<string, Tool>> => ({
  test_trigger_tool_change: () => {
    notify().toolsChanged();
    return result(text('announced'));
  },
  test_trigger_prompt_change: () => {
    notify().promptsChanged();
    return result(text('announced'));
  },
});

function addResources(server: McpServer): void {
  const contents = {
    'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    'test://static-binary': { mimeType: 'image/png', blob: IMAGE },
    'test://watched-resource': { mimeType: 'text/plain', text: 'Watched.' },
  };
  for (const [uri, content] of Object.entries(contents))
    server.registerResource(uri, uri, { mimeType: content.mimeType }, () => ({ contents: [{ uri, ...content }] }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const mimeType = 'application/json';
  server.registerResource('template', template, { mimeType }, ({ href: uri }, { id }) => {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` });
    return { contents: [{ uri, mimeType, text: data }] };
  });
}

function addPrompts(server: McpServer): void {
  const said = (...contents: PromptMessage['content'][]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content })),
  });
  const argumentsOf = (...names: string[]) =>
    fromJsonSchema<Readonly<Record<string, string>>>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: 'An argument' }])),
      required: names,
    });
  const description = 'A fixture';
  server.registerPrompt('test_simple_prompt', { description }, () =>
    said(text('This is a simple prompt for testing.')),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: argumentsOf('arg1', 'arg2') },
    ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: argumentsOf('resourceUri') },
    ({ resourceUri = '' }) =>
      said(
        embedded(resourceUri, 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description }, () =>
    said(image, text('Please analyze the image above.')),
  );
  server.registerPrompt('test_input_required_result_prompt', { description }, (context: ServerContext) => {
    const given = entered(context, 'user_context', 'context');
    if (typeof given === 'string') return said(text(`Use this context: ${given}`));
    return inputRequired({ inputRequests: { user_context: ask('Which context?', 'context') } });
  });
}
