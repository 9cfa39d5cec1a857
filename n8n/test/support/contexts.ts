import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type * as n8nWorkflow from 'n8n-workflow';
import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
  INode,
  INodeExecutionData,
  INodeParameters,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
  JsonObject,
} from 'n8n-workflow';

const { NodeApiError, NodeHelpers }: typeof n8nWorkflow = createRequire(import.meta.url)('n8n-workflow');

/*
 * Small stand-ins for the contexts that n8n gives to nodes, by n8n-core 2.41.1. Parameters get their defaults from
 * the description, with n8n's own code, so a parameter that is not shown for an operation is missing here too.
 */

export interface Credential {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const EXECUTION_ID = '4711';

function nodeOf({ name }: INodeTypeDescription): INode {
  return {
    id: '5c9b1c0e-6f0f-4a0b-9d53-0d3f4c1f2e11',
    name: 'Switchboard',
    type: `n8n-nodes-switchboard.${name}`,
    typeVersion: 1,
    position: [0, 0],
    parameters: {},
  };
}

/** Returns the parameters with the defaults of those that n8n shows. */
function withDefaults(description: INodeTypeDescription, given: object): INodeParameters {
  const node = nodeOf(description);
  return (
    NodeHelpers.getNodeParameters(description.properties, given as INodeParameters, true, false, node, description) ??
    {}
  );
}

/** Like @n8n/backend-network `http/axios/request.js`: with `ignoreHttpStatusErrors`, every response is returned. */
async function request(credential: Credential, options: IHttpRequestOptions): Promise<unknown> {
  const url = new URL(options.url);
  for (const [name, value] of Object.entries(options.qs ?? {}))
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  const { body, method = 'GET' } = options;
  const isRaw = Buffer.isBuffer(body) || body instanceof Readable;
  const headers = new Headers({ authorization: `Bearer ${credential.apiKey}` });
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, String(value));
  if (body !== undefined && !isRaw) headers.set('content-type', 'application/json');
  const response = await fetch(url, {
    method,
    headers,
    signal: AbortSignal.timeout(options.timeout ?? 60_000),
    redirect: options.disableFollowRedirect === true ? 'manual' : 'follow',
    ...(body !== undefined && { body: (isRaw ? body : JSON.stringify(body)) as BodyInit, duplex: 'half' }),
  });
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await bodyOf(response, options),
  };
}

async function bodyOf(response: Response, { encoding }: IHttpRequestOptions): Promise<unknown> {
  if (encoding === 'stream')
    return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never);
  if (encoding === 'arraybuffer') return Buffer.from(await response.arrayBuffer());
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The common part of all contexts. n8n stores `staticData` with the workflow. */
function base(description: INodeTypeDescription, credential: Credential, staticData: IDataObject = {}) {
  const node = nodeOf(description);
  return {
    getNode: () => node,
    getCredentials: async () => credential,
    getExecutionId: () => EXECUTION_ID,
    getInstanceId: () => 'instance',
    getTimezone: () => 'Europe/Berlin',
    getWorkflow: () => ({ id: 'wf1', name: 'Orders', active: true }),
    getWorkflowStaticData: () => staticData,
    logger: { warn() {}, info() {}, debug() {}, error() {} },
    helpers: {
      async httpRequestWithAuthentication(_: string, options: IHttpRequestOptions) {
        // n8n wraps what fails before a response.
        return request(credential, options).catch((error: unknown) => {
          throw new NodeApiError(node, ((error as Error).cause ?? error) as JsonObject);
        });
      },
      async prepareBinaryData(data: Buffer | Readable, fileName?: string, mimeType?: string) {
        const bytes = Buffer.isBuffer(data) ? data : await buffer(data);
        return { data: bytes.toString('base64'), fileName, mimeType };
      },
    },
  };
}

export interface RunOptions {
  readonly items?: INodeExecutionData[];
  /** Run of the node in its execution. */
  readonly run?: number;
  readonly isTool?: boolean;
  readonly continueOnFail?: boolean;
  readonly resumeUrl?: string;
  readonly onWait?: (until: Date) => void;
  /** Data of the node that n8n stores with the execution, and passes to every try of "Retry On Fail". */
  readonly stored?: IDataObject;
}

/** Runs a node. @returns the items of its first output */
export async function execute(
  node: INodeType,
  credential: Credential,
  parameters: object | ((index: number) => object),
  options: RunOptions = {},
): Promise<INodeExecutionData[]> {
  const { run = 0, isTool = false, continueOnFail = false, resumeUrl = '', onWait, stored = {} } = options;
  const items: INodeExecutionData[] = options.items ?? [{ json: {} }];
  const { description } = node;
  const context = base(description, credential);
  const all = items.map((_, index) =>
    withDefaults(description, typeof parameters === 'function' ? parameters(index) : parameters),
  );
  const binaryOf = (index: number, name: string) => {
    const binary = items[index]?.binary?.[name];
    if (binary === undefined)
      throw new Error(`This operation expects the node's input data to contain a binary file '${name}'`);
    return binary;
  };
  const running = {
    ...context,
    getInputData: () => items,
    getNodeParameter: (name: string, index: number, fallback?: unknown) => {
      const given = all[index]?.[name];
      // Like lodash's `get`: null, which an expression can return, has no fallback.
      const value = given === undefined ? fallback : given;
      if (value === undefined) throw new Error(`Could not get parameter "${name}"`);
      return value;
    },
    evaluateExpression: (expression: string) => (expression.includes('resumeUrl') ? resumeUrl : run),
    getContext: () => stored,
    continueOnFail: () => continueOnFail,
    isToolExecution: () => isTool,
    putExecutionToWait: async (until: Date) => onWait?.(until),
    helpers: {
      ...context.helpers,
      assertBinaryData: binaryOf,
      getBinaryDataBuffer: async (index: number, name: string) => Buffer.from(binaryOf(index, name).data, 'base64'),
      getBinaryStream: async (id: string) => Readable.from([Buffer.from(id, 'base64')]),
      getBinaryMetadata: async (id: string) => ({ fileSize: Buffer.from(id, 'base64').length }),
    },
  } as unknown as IExecuteFunctions;
  const outputs = (await node.execute?.call(running)) as INodeExecutionData[][] | undefined;
  return outputs?.[0] ?? [];
}

/** Searches a list, as a resource locator does. */
export function searchList(
  node: INodeType,
  credential: Credential,
  method: string,
  filter?: string,
  current: IDataObject = {},
) {
  const search = node.methods?.listSearch?.[method];
  if (search === undefined) throw new Error(`${method} does not exist`);
  return search.call(
    {
      ...base(node.description, credential),
      getCurrentNodeParameter: (name: string) => current[name],
    } as unknown as ILoadOptionsFunctions,
    filter,
  );
}

/** Loads the choices of a parameter. */
export function loadOptions(node: INodeType, credential: Credential, method: string) {
  const load = node.methods?.loadOptions?.[method];
  if (load === undefined) throw new Error(`${method} does not exist`);
  return load.call(base(node.description, credential) as unknown as ILoadOptionsFunctions);
}

/** The outcome of a delivery in n8n. */
export interface Delivered {
  readonly status: number;
  readonly result: IWebhookResponseData;
}

export interface FakeN8n {
  readonly url: string;
  /** Deliveries that reached the node, in their order. */
  readonly delivered: readonly Delivered[];
  waitFor(count: number): Promise<readonly Delivered[]>;
  close(): Promise<void>;
}

/** Receives webhooks for a node, as n8n does: with the raw body, and 200 unless the node has responded. */
export async function startN8n(
  node: INodeType,
  credential: Credential,
  { parameters = {}, staticData = {} }: { parameters?: object; staticData?: IDataObject } = {},
): Promise<FakeN8n> {
  const delivered: Delivered[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (incoming, response) => {
    const rawBody = await buffer(incoming);
    const mode = incoming.url?.includes('/webhook-test/') ? 'manual' : 'webhook';
    const { status, result } = await callWebhook(node, credential, { parameters, staticData, mode }, incoming, rawBody);
    response.writeHead(status).end();
    delivered.push({ status, result });
    for (const check of waiting) check();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    waitFor: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (delivered.length < count) return;
          waiting.delete(check);
          resolve(delivered);
        };
        waiting.add(check);
        check();
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface WebhookOptions {
  readonly parameters?: object;
  readonly staticData?: IDataObject;
  readonly mode?: 'manual' | 'webhook';
}

/** Calls the `webhook` of a node with a request. */
export async function callWebhook(
  node: INodeType,
  credential: Credential,
  { parameters = {}, staticData = {}, mode = 'webhook' }: WebhookOptions,
  { headers }: Pick<IncomingMessage, 'headers'>,
  rawBody: Buffer,
): Promise<Delivered> {
  let status = 200;
  const all = withDefaults(node.description, parameters);
  const response = {
    status(code: number) {
      status = code;
      return response;
    },
    json: () => response,
  };
  const context = {
    ...base(node.description, credential, staticData),
    getMode: () => mode,
    getNodeParameter: (name: string, fallback?: unknown) => all[name] ?? fallback,
    getRequestObject: () => ({ headers, rawBody }),
    getResponseObject: () => response,
  } as unknown as IWebhookFunctions;
  const result = (await node.webhook?.call(context)) ?? {};
  return { status, result };
}

/** Runs a hook of the webhook life cycle. */
export function callHook(
  node: INodeType,
  credential: Credential,
  hook: 'checkExists' | 'create' | 'delete',
  options: {
    readonly url: string;
    readonly parameters?: object;
    readonly staticData: IDataObject;
    readonly activation?: 'activate' | 'init' | 'update';
  },
): Promise<boolean> {
  const all = withDefaults(node.description, options.parameters ?? {});
  const context = {
    ...base(node.description, credential, options.staticData),
    getMode: () =>
      options.activation === 'update' ? 'internal' : options.url.includes('/webhook-test/') ? 'manual' : 'trigger',
    getActivationMode: () => options.activation ?? 'activate',
    getNodeWebhookUrl: () => options.url,
    getNodeParameter: (name: string, fallback?: unknown) => all[name] ?? fallback,
  } as unknown as IHookFunctions;
  const method = node.webhookMethods?.['default']?.[hook];
  if (method === undefined) throw new Error(`${hook} does not exist`);
  return method.call(context);
}
