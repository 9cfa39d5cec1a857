import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import type { TObject } from 'typebox';
import { AppError, type ErrorCode } from '../../errors.ts';
import { type EventKind, eventKinds, events, isEventKind } from '../../events/events.ts';
import { strictObject } from '../../invoke/input/fields.ts';
import { validator } from '../../invoke/input/validate.ts';
import { denialOf, type Invoke, type Operation } from '../../invoke/operation.ts';
import { keptArguments } from '../../invoke/toolCallArguments.ts';
import { type Opened, openEvents, type Polled, pollEvents } from '../../operations/webhooks/eventReads.ts';
import { argumentsOf } from '../../operations/webhooks/eventSelection.ts';
import {
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_PER_KEY,
  type Subscribed,
  subscribeToEvents,
  unsubscribeFromEvents,
} from '../../operations/webhooks/eventSubscriptions.ts';
import { listEvents, visibleBody } from '../../operations/webhooks/events.ts';
import { eventErrors } from '../../webhooks/lanes/subscription.ts';
import type { EventReaders } from '../events/eventReader.ts';
import type { CallLog } from './callLog.ts';
import { EventStream } from './eventStream.ts';
import { beginningOf, MAX_NAME_LENGTH } from './fit.ts';
import type { Principal } from './mount.ts';
import { type Occurrence, occurrenceOf, payloadSchema } from './occurrence.ts';
import { toolInputReader } from './toolInput.ts';
import { isSelected } from './toolsets.ts';

const EXTENSION = 'io.modelcontextprotocol/events';
/** Bytes of a response, without what is small. */
const ROOM_BYTES = 50_000;
const MAX_POLLED = 100;
const NEXT_POLL_MS = 5000;
/** Of a name in DNS, and a port. */
const MAX_HOST_LENGTH = 260;
/** The period of the limit of verifications. */
const VERIFICATION_MS = 60_000;

/** The params of a method, which `params.ts` has checked. */
interface EventParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly cursor?: string | null;
  readonly maxAgeMs?: number;
  readonly maxEvents?: number;
  readonly ttlMs?: number | null;
  readonly delivery: { readonly mode?: string; readonly url: string; readonly secret: string };
}

type Answer = Record<string, unknown>;

interface Listed {
  readonly name: EventKind;
  readonly description: string;
  readonly inputSchema: TObject;
  readonly payloadSchema: TObject;
}

/**
 * The MCP Events extension, SEP-3415: agents poll events of one type, stream them, or subscribe a callback to them.
 * Only for the protocol version that it is defined for.
 *
 * Source: https://modelcontextprotocol.io/seps/3415-events-extension
 */
export class Events {
  readonly #invoke: Invoke;
  readonly #readers: EventReaders;
  readonly #calls: CallLog;
  readonly #types: ReadonlyMap<string, Listed & { readonly validate: ReturnType<typeof validator> }>;

  constructor(invoke: Invoke, readers: EventReaders, calls: CallLog) {
    this.#invoke = invoke;
    this.#calls = calls;
    this.#readers = readers;
    const types = eventKinds.map((name) => {
      const { description } = events[name];
      const inputSchema = strictObject(argumentsOf(name));
      const listed = { name, description, inputSchema, payloadSchema: payloadSchema(name) };
      const [read, validate] = [toolInputReader(inputSchema), validator(inputSchema)];
      return [name, { ...listed, validate: (input: unknown) => validate(read(input)) }] as const;
    });
    this.#types = new Map(types);
  }

  /** Adds the methods to the server of a request, unless the client has asked for other toolsets. */
  register(server: Server, principal: Principal): void {
    if (!isSelected(principal.selection, listEvents)) return;
    // The first clients look for `events`, as the drafts of the extension had it.
    const capabilities = { events: {}, extensions: { [EXTENSION]: {} } };
    server.registerCapabilities(capabilities);
    const on = (method: string, handle: (params: EventParams, context: ServerContext) => Answer | Promise<Answer>) =>
      // `params.ts` has checked the params.
      server.setRequestHandler(method, { params: anyParams }, (params, context) =>
        handle(params as EventParams, context),
      );
    on('events/list', ({ cursor }) => this.#list(principal, cursor ?? undefined));
    on('events/poll', (params) => this.#poll(principal, params));
    on('events/stream', (params, { mcpReq }) => this.#stream(principal, params, mcpReq.id));
    const listed = (operation: Operation, params: EventParams, context: ServerContext, work: () => Promise<Answer>) =>
      this.#calls.run(principal, context, { operation, kept: keptOf(operation, params) }, { work, outcomeOf });
    on('events/subscribe', (params, context) =>
      listed(subscribeToEvents, params, context, () => this.#subscribe(principal, params)),
    );
    on('events/unsubscribe', (params, context) =>
      listed(unsubscribeFromEvents, params, context, () => this.#unsubscribe(principal, params)),
    );
  }

  /** Pages, because the schemas of all event types do not fit into one response. */
  #list({ caller, selection }: Principal, cursor: string | undefined) {
    if (denialOf(listEvents, caller) !== undefined) return { events: [] };
    const names: readonly string[] = eventKinds;
    const start = cursor === undefined ? 0 : names.indexOf(cursor) + 1;
    if (cursor !== undefined && start === 0)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of events/list; leave it out');
    const canSubscribe = caller.credential.type === 'api_key' && isSelected(selection, subscribeToEvents);
    const delivery = canSubscribe ? ['poll', 'push', 'webhook'] : ['poll', 'push'];
    const page: object[] = [];
    let room = ROOM_BYTES;
    for (const kind of eventKinds.slice(start)) {
      const { validate: _, ...listed } = this.#typeOf(kind);
      const shown = { ...listed, delivery };
      room -= Buffer.byteLength(JSON.stringify(shown));
      if (room < 0 && page.length > 0) return { events: page, nextCursor: eventKinds[start + page.length - 1] };
      page.push(shown);
    }
    return { events: page };
  }

  async #poll(principal: Principal, { cursor, maxAgeMs, maxEvents = 20, ...params }: EventParams) {
    const most = Math.min(maxEvents, MAX_POLLED);
    const input = { ...this.#selectionOf(params), cursor, maxAgeMs, maxEvents: most };
    const polled = (await this.#call(principal, pollEvents, input)) as Polled;
    const { caller } = principal;
    const page: Occurrence[] = [];
    let room = ROOM_BYTES;
    for (const event of polled.events) {
      const body = visibleBody({ caller }, 'events', event.kind, event.body);
      const occurrence = occurrenceOf({ ...event, body });
      room -= Buffer.byteLength(JSON.stringify(occurrence));
      if (room < 0 && page.length > 0) break;
      page.push(occurrence);
    }
    const isWhole = page.length === polled.events.length;
    return {
      events: page,
      cursor: isWhole ? polled.cursor : polled.events[page.length - 1]?.cursor,
      truncated: polled.truncated,
      hasMore: polled.hasMore || !isWhole,
      nextPollMs: NEXT_POLL_MS,
    };
  }

  /** Opens the stream, which the mount then sends in place of the result. The result ends it. */
  async #stream(principal: Principal, { cursor, maxAgeMs, ...params }: EventParams, requestId: string | number) {
    const input = { ...this.#selectionOf(params), cursor, maxAgeMs };
    const { selected, from, truncated } = (await this.#call(principal, openEvents, input)) as Opened;
    const { caller, credential = '', signal } = principal;
    const wanted = { caller, credential, after: from, types: [selected.kind], gone: signal() };
    const reader = await this.#readers.open(wanted).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      throw error.code === 'too_many'
        ? exhausted('streams', error.message)
        : protocolErrorOf(error.code, error.message, error.retryAfterSeconds);
    });
    const { accountId } = caller;
    principal.stream(new EventStream({ accountId, readers: this.#readers, reader, selected, requestId, truncated }));
    return { _meta: { 'io.modelcontextprotocol/subscriptionId': requestId } };
  }

  async #subscribe(principal: Principal, { delivery, cursor, maxAgeMs, ttlMs, ...params }: EventParams) {
    requireSelected(principal, subscribeToEvents);
    const { mode = 'webhook', url, secret } = delivery;
    const selection = this.#selectionOf(params);
    if (mode !== 'webhook')
      throw errorOf('unsupported', `events/subscribe supports only the delivery mode webhook`, {
        feature: 'deliveryMode',
        value: beginningOf(mode, MAX_NAME_LENGTH),
      });
    const input = { ...selection, arguments: canonical(params.arguments), url, secret, cursor, maxAgeMs, ttlMs };
    const subscribed = (await this.#call(principal, subscribeToEvents, input)) as Subscribed;
    if (subscribed.problem === 'too_many')
      throw exhausted('verifications', 'This callback was verified too often; wait a minute', {
        retryAfterMs: VERIFICATION_MS,
      });
    if (subscribed.problem === 'key_full')
      throw exhausted(
        'subscriptions',
        `The API key has reached its limit of ${MAX_SUBSCRIPTIONS_PER_KEY} event subscriptions; end one first`,
        { max: MAX_SUBSCRIPTIONS_PER_KEY },
      );
    if (subscribed.problem !== undefined)
      throw errorOf('callbackEndpointError', 'The callback did not confirm that it wants deliveries', {
        reason: subscribed.problem,
      });
    const { problem: _, ...answer } = subscribed;
    return { ...answer };
  }

  async #unsubscribe(principal: Principal, { delivery: { url }, ...params }: EventParams) {
    requireSelected(principal, unsubscribeFromEvents);
    const input = { ...this.#selectionOf(params), arguments: canonical(params.arguments), url };
    const { found } = (await this.#call(principal, unsubscribeFromEvents, input)) as { found: boolean };
    if (!found) throw errorOf('notFound', 'There is no such subscription', { kind: 'subscription' });
    return {};
  }

  /** @throws {ProtocolError} `NotFound` for an unknown event type, `InvalidParams` for wrong arguments */
  #selectionOf({ name, arguments: given = {} }: Pick<EventParams, 'name' | 'arguments'>) {
    try {
      return { ...this.#typeOf(name).validate(given), event: name };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The arguments of ${name} are invalid: ${error.message}`,
      );
    }
  }

  #typeOf(name: string) {
    const type = isEventKind(name) ? this.#types.get(name) : undefined;
    if (type !== undefined) return type;
    const shown = beginningOf(name, MAX_NAME_LENGTH);
    throw errorOf('notFound', `The event type ${shown} does not exist; call events/list`, { kind: 'event' });
  }

  /** @throws {ProtocolError} for an error of the operation */
  async #call(principal: Principal, operation: Operation, given: Readonly<Record<string, unknown>>): Promise<unknown> {
    const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const answer = await this.#invoke(operation, { ...principal, input, channel: 'mcp' });
    if (answer.ok) return answer.output;
    const { code, detail } = answer.problem;
    throw code === 'too_many'
      ? exhausted('subscriptions', detail, { max: MAX_SUBSCRIPTIONS })
      : protocolErrorOf(code, detail, answer.retryAfterSeconds);
  }
}

/** @throws {ProtocolError} `Forbidden` if the client has asked for a server that only reads */
function requireSelected({ selection }: Principal, operation: Operation): void {
  if (isSelected(selection, operation)) return;
  const reason = 'This connection is read-only, as the client has asked (readonly)';
  throw errorOf('forbidden', reason, { reason });
}

/** The exhausted limit, by the code of an error that passes by itself. */
const exhaustedBy: Readonly<Partial<Record<ErrorCode, string>>> = {
  rate_limited: 'requests',
  too_busy: 'concurrency',
  storage_unavailable: 'storage',
};

function protocolErrorOf(code: ErrorCode, detail: string, retryAfterSeconds: number | undefined): ProtocolError {
  const limit = exhaustedBy[code];
  if (limit !== undefined)
    return exhausted(limit, detail, retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1000 });
  switch (code) {
    case 'permission_denied':
    case 'unauthorized':
    case 'confirmation_required':
      return errorOf('forbidden', detail, { reason: detail });
    case 'validation_failed':
    case 'not_found':
    case 'session_required':
      return new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
    default:
      return new ProtocolError(ProtocolErrorCode.InternalError, detail);
  }
}

/** The listed arguments. Of the callback only the host stays, because the rest of a URL often contains a secret. */
function keptOf(operation: Operation, { name, arguments: given, ttlMs, maxAgeMs, delivery }: EventParams): object {
  const { url = '' } = delivery;
  const host = URL.canParse(url) ? new URL(url).host : '';
  const times = Object.entries({ ttlMs, maxAgeMs }).filter(([, value]) => value !== undefined);
  const kept = keptArguments(operation, { ...given, event: name, ...Object.fromEntries(times) });
  return { ...kept, callbackHost: beginningOf(host, MAX_HOST_LENGTH) };
}

/** The outcome of a listed call, by the codes of errors where there is one. */
function outcomeOf({ error }: { readonly error?: unknown }): string {
  if (error === undefined) return 'ok';
  if (!(error instanceof ProtocolError)) return 'internal_error';
  return outcomes.get(error.code) ?? 'internal_error';
}

const outcomes: ReadonlyMap<number, string> = new Map<number, string>([
  [ProtocolErrorCode.InvalidParams, 'validation_failed'],
  [eventErrors.notFound.code, 'not_found'],
  [eventErrors.forbidden.code, 'permission_denied'],
  [eventErrors.resourceExhausted.code, 'too_many'],
  [eventErrors.unsupported.code, 'not_supported'],
  [eventErrors.callbackEndpointError.code, 'callback_failed'],
]);

function errorOf(name: keyof typeof eventErrors, message: string, data: object): ProtocolError {
  return new ProtocolError(eventErrors[name].code, `${eventErrors[name].message}: ${message}`, data);
}

function exhausted(
  limit: string,
  message: string,
  more: { readonly max?: number; readonly retryAfterMs?: number } = {},
): ProtocolError {
  return errorOf('resourceExhausted', message, { limit, ...more });
}

/** JSON in which equal arguments are the same text, whatever the order of their names (RFC 8785). */
function canonical(given: Readonly<Record<string, unknown>> = {}): string {
  const names = Object.keys(given).sort();
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, given[name]])));
}

/** Accepts what `params.ts` has checked. */
const anyParams = {
  '~standard': {
    version: 1 as const,
    vendor: 'switchboard',
    validate: (value: unknown) => ({ value }),
  },
};
