import type { Static, TObject, TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import type { Watch } from '../auth/credentialWatches.ts';
import { allows, type ContentResource, hidesContent, type Permission } from '../auth/permissions.ts';
import { type RequestAllowance, rateLimited } from '../auth/requestLimits.ts';
import { ElsewhereError } from '../cluster/forward.ts';
import { AppError, type ErrorCode, invalidField, type Problem, toProblem } from '../errors.ts';
import type { Content } from '../media/content.ts';
import type { Preview } from '../media/previews.ts';
import type { Services } from './context.ts';
import { type Outcome, runElsewhere } from './elsewhere.ts';
import type { Idempotency } from './idempotency.ts';
import { projector } from './project.ts';
import { validator } from './validate.ts';

/**
 * What an operation does to the world: `write` adds or marks something, `destructive` overwrites or removes what
 * somebody has written or set. Declared, never derived from the method.
 */
export type Effect = 'read' | 'write' | 'destructive';

interface Declaration<I extends TObject, O extends TSchema> {
  /** `resource.action`; the MCP tool is called the same with `_` for `.`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`; `{name}` stands for the input field of that name. */
  readonly path: string;
  readonly effect: Effect;
  /** Whether a second call with the same input changes nothing more. It is so of what reads, overwrites or removes. */
  readonly isRepeatable?: true;
  /** Whether it is exposed over MCP. */
  readonly tool: boolean;
  readonly summary: string;
  readonly description?: string;
  /** HTTP status of success; 200 unless set. */
  readonly status?: number;
  /** One flat object: fields of the path, of the query and of the body alike. */
  readonly input: I;
  readonly output: O;
  /** Whether its output has texts or names that third parties wrote: an agent must not take them for instructions. */
  readonly thirdPartyText?: boolean;
  /** The resource whose `metadata` permission hides message content in the output, and is enough where `read` is needed. */
  readonly messageContent?: ContentResource | undefined;
  /** The field of the output, a text or a list, that may be too long for one answer over MCP and is read there in parts. */
  readonly longField?: string & keyof Static<O>;
  /** A small picture of the output, for agents that ask for it over MCP. */
  readonly preview?: (output: Static<O>, services: Services) => Promise<Preview>;
  /** What it can answer with, beside what every operation can. */
  readonly errors: readonly ErrorCode[];
  /** Whether an `Idempotency-Key` makes it safe to repeat. */
  readonly idempotent?: boolean;
  /** How long another node that is asked for it may take, in ms; about two minutes unless set. */
  readonly deadlineMs?: number;
  /** An input that works, for the docs. */
  readonly example?: Static<I>;
  /** Whether it begins a login, and answers with its token, or ends one: the dashboard's cookie goes with it. */
  readonly login?: 'begins' | 'ends';
  /**
   * Whether the body is a file, streamed, of any type: `openContent` of the context opens it, and the fields of the
   * input are in the query.
   */
  readonly takesContent?: true;
  /** The output in other media types, by `Accept`; null when this output has no such form. */
  readonly representations?: Readonly<
    Record<string, (output: Static<O>, services: Services) => Promise<Buffer | null>>
  >;
}

/** An operation for a caller that has shown a credential. */
interface Guarded<I extends TObject, O extends TSchema> extends Declaration<I, O> {
  /** `jwt`: a login token is needed, an API key does not do. */
  readonly credential: 'any' | 'jwt';
  /** Null where every credential may: what concerns only the credential itself. */
  readonly permission: Permission | null;
  run(ctx: Context, input: Static<I>): Promise<Static<O>>;
  /**
   * What a run that another node is still at has made under `ctx.resourceId`, as far as it is stored: the answer for a
   * caller when that node cannot be reached. Undefined when nothing is.
   */
  soFar?(ctx: Context): Promise<Static<O> | undefined>;
}

/** An operation for everybody: registering and logging in. */
interface Public<I extends TObject, O extends TSchema> extends Declaration<I, O> {
  readonly credential: 'none';
  readonly permission: null;
  run(ctx: PublicContext, input: Static<I>): Promise<Static<O>>;
}

export type Operation<I extends TObject = TObject, O extends TSchema = TSchema> = Guarded<I, O> | Public<I, O>;

export function isRepeatable({ effect, isRepeatable }: Pick<Operation, 'effect' | 'isRepeatable'>): boolean {
  return effect !== 'write' || isRepeatable === true;
}

/** The permission by which somebody with these grants may call an operation. */
export function permissionFor(
  { permission, messageContent }: Pick<Operation, 'permission' | 'messageContent'>,
  grants: readonly string[],
): Permission | null {
  if (messageContent === undefined || !hidesContent(grants, messageContent)) return permission;
  return permission === `${messageContent}:read` ? `${messageContent}:metadata` : permission;
}

/** Whether grants are enough for an operation. */
export function permits(
  grants: readonly string[],
  operation: Pick<Operation, 'permission' | 'messageContent'>,
): boolean {
  const needed = permissionFor(operation, grants);
  return needed === null || allows(grants, needed);
}

/** Whether a resource shows its caller no content of messages. */
export function isContentHidden({ caller }: Pick<Context, 'caller'>, resource: ContentResource): boolean {
  return hidesContent(caller.credential.permissions, resource);
}

/** @throws {AppError} `permission_denied` for a caller to whom the content of messages is hidden */
export function requireContent(ctx: Pick<Context, 'caller'>, resource: ContentResource): void {
  if (isContentHidden(ctx, resource))
    throw new AppError('permission_denied', `This requires the permission ${resource}:read`);
}

/** Whether asking is all it does, also where the answer is kept for the next time. */
export function isRead({ method, ...operation }: Pick<Operation, 'method' | 'effect' | 'isRepeatable'>): boolean {
  return method === 'GET' && isRepeatable(operation);
}

/** What every `run` gets: the services, and who asks. It never sees HTTP. */
export interface PublicContext extends Services {
  readonly requestId: string;
  /** Address of the caller, for throttling. */
  readonly address: string;
  /** Token of a device that logged in before, unchecked. See `LoginDevices`. */
  readonly device: string | undefined;
  /**
   * Made on demand; aborted when the caller is gone, the server stops, or, with an `AppError`, the credential ends. For
   * waiting, never in the middle of a change.
   */
  readonly signal: () => AbortSignal;
}

export interface Context extends PublicContext {
  readonly caller: Caller;
  readonly accountId: string;
  /**
   * Id to give to what the operation makes, when the request carries an idempotency key: a second run after a crash
   * gets the same one, so that nothing is made twice.
   */
  readonly resourceId: string | undefined;
  /** The file that comes with the call. Only here is its first byte read: who may not send one sends in vain. */
  readonly openContent: () => Promise<Content>;
}

export function defineOperation<I extends TObject, O extends TSchema>(operation: Guarded<I, O>): Guarded<I, O>;
export function defineOperation<I extends TObject, O extends TSchema>(operation: Public<I, O>): Public<I, O>;
export function defineOperation(operation: Operation): Operation {
  return operation;
}

/** One call of an operation, from whichever door. */
export interface Call {
  readonly caller: Caller | undefined;
  readonly input: unknown;
  readonly requestId: string;
  readonly address: string;
  readonly device?: string | undefined;
  readonly signal: () => AbortSignal;
  readonly idempotencyKey?: string | undefined;
  readonly channel: 'rest' | 'mcp';
  /** `traceparent` (W3C Trace Context) that came with the request, whatever it says. */
  readonly trace?: string | undefined;
  /** The secret that the caller has shown, for another node to see. */
  readonly credential?: string | undefined;
  /** Another node has passed it on: it is not passed on again. */
  readonly isForwarded?: boolean;
  /** What the door has taken already, for all calls of its request at once. */
  readonly allowance?: RequestAllowance;
  /** Opens the file that comes with the call, for an operation that takes one. */
  readonly openContent?: () => Promise<Content>;
}

export type Answer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly output: unknown;
      /** The output in one of the operation's other media types; null when it has no such form. */
      readonly represent: (type: string) => Promise<Buffer | null>;
      /** Undefined for an operation that has no preview. */
      readonly preview: () => Promise<Preview | undefined>;
      /** Of a page, the cursor behind each of its entries. */
      readonly cursors?: readonly string[];
      readonly allowance?: RequestAllowance;
      readonly replayed: boolean;
    }
  | {
      readonly ok: false;
      readonly status: number;
      readonly problem: Problem;
      readonly allowance?: RequestAllowance;
      readonly retryAfterSeconds?: number;
    };

export type Invoke = (operation: Operation, call: Call) => Promise<Answer>;

interface Prepared {
  readonly validate: (input: unknown) => Record<string, unknown>;
  readonly project: (output: unknown) => unknown;
  /** Takes the content of messages away. */
  readonly withoutContent: (output: unknown) => unknown;
}

/** The one door: every call of every operation, over REST and MCP, goes through here. It never throws. */
export function createInvoke(services: Services, idempotency: Idempotency): Invoke {
  const prepared = new Map<Operation, Prepared>();
  const { log, metrics, requestLimits } = services;

  function prepare(operation: Operation): Prepared {
    let ready = prepared.get(operation);
    if (ready === undefined) {
      ready = {
        validate: validator(operation.input),
        project: projector(operation.output),
        withoutContent: projector(operation.output, { hidesContent: true }),
      };
      prepared.set(operation, ready);
    }
    return ready;
  }

  return async (operation, received) => {
    const waiting = endingWithCredential(services, operation, received);
    const call = { ...received, signal: waiting.signal };
    const startedAt = performance.now();
    const { requestId, caller } = call;
    let allowance: RequestAllowance | undefined;
    let answer: Answer;
    /** The other node that was asked, if any. */
    let node: string | undefined;
    try {
      const denial = denialOf(operation, caller);
      if (denial !== undefined) throw denial;
      const taken = call.allowance ?? requestLimits.take(call);
      allowance = taken;
      if (!taken.allowed) throw rateLimited(taken);
      const { validate, project, withoutContent } = prepare(operation);
      const input = validate(call.input);
      let cursors: readonly string[] | undefined;
      const runHere = (idempotencyKey = call.idempotencyKey) =>
        runOnce(operation, { ...call, idempotencyKey }, input, async (resourceId) => {
          const result = await run(operation, call, input, resourceId);
          cursors = cursorsOf(result);
          return project(result);
        });
      const { output: found, replayed } = await runHere().catch((error) => {
        if (!(error instanceof ElsewhereError) || call.isForwarded === true) throw error;
        node = error.node.nodeId;
        const soFar = async (key: string) => {
          const output = await readSoFar(operation, call, key);
          return output && project(output);
        };
        return runElsewhere(services, error.node, operation, call, { run: runHere, soFar });
      });
      // Only now: what is kept for an idempotency key is the same for every caller.
      const { messageContent } = operation;
      const isHidden =
        messageContent !== undefined && caller !== undefined && isContentHidden({ caller }, messageContent);
      const output = isHidden ? withoutContent(found) : found;
      // Every operation declares its representations for its own output.
      const represent = async (type: string) =>
        (await operation.representations?.[type]?.(output as never, services)) ?? null;
      const preview = async () => operation.preview?.(output as never, services);
      answer = {
        ok: true,
        status: operation.status ?? 200,
        output,
        represent,
        preview,
        allowance,
        replayed,
        ...(cursors && { cursors }),
      };
    } catch (error) {
      const problem = toProblem(error, requestId);
      const about = { requestId, operation: operation.id };
      if (problem.status === 503)
        log.warn({ ...about, code: problem.code, reason: problem.detail }, 'operation unavailable');
      else if (problem.status >= 500) log.error({ ...about, code: problem.code, err: error }, 'operation failed');
      const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
      answer = {
        ok: false,
        status: problem.status,
        problem,
        ...(allowance && { allowance }),
        ...(retryAfterSeconds && { retryAfterSeconds }),
      };
    } finally {
      waiting.close();
    }
    const ms = performance.now() - startedAt;
    metrics.countOperation(operation.id, call.channel, answer.status, ms / 1000);
    log.info(
      {
        requestId,
        operation: operation.id,
        channel: call.channel,
        account: caller?.accountId,
        credential: caller?.credential.type,
        status: answer.status,
        ...(node !== undefined && { node }),
        ...(!answer.ok && { code: answer.problem.code }),
        ms: Math.round(ms * 10) / 10,
      },
      'operation',
    );
    return answer;
  };

  async function runOnce(
    operation: Operation,
    { caller, idempotencyKey }: Call,
    input: Record<string, unknown>,
    run: (resourceId?: string) => Promise<unknown>,
  ): Promise<Outcome> {
    const key = idempotencyKey ?? input['idempotencyKey'];
    if (!operation.idempotent || typeof key !== 'string' || caller === undefined) {
      return { output: await run(), replayed: false };
    }
    return idempotency.once({ accountId: caller.accountId, key, operationId: operation.id, input }, run);
  }

  function run(operation: Operation, call: Call, input: Record<string, unknown>, resourceId: string | undefined) {
    const { requestId, address, device, signal } = call;
    if (operation.credential === 'none')
      return operation.run({ ...services, requestId, address, device, signal }, input);
    return operation.run(contextOf(call, resourceId), input);
  }

  async function readSoFar(operation: Operation, call: Call, key: string): Promise<unknown> {
    if (operation.credential === 'none' || operation.soFar === undefined || call.caller === undefined) return undefined;
    const resourceId = await idempotency.resourceOf({ accountId: call.caller.accountId, key });
    return resourceId && operation.soFar(contextOf(call, resourceId));
  }

  /** @throws {AppError} `unauthorized` */
  function contextOf(call: Call, resourceId: string | undefined): Context {
    const { requestId, address, device, signal, caller, openContent = noContent } = call;
    if (caller === undefined) throw new AppError('unauthorized');
    const { accountId } = caller;
    return { ...services, requestId, address, device, signal, caller, accountId, resourceId, openContent };
  }
}

/** What `toPage` adds for callers inside, and the projection drops. */
function cursorsOf(result: unknown): readonly string[] | undefined {
  return (result as { cursors?: readonly string[] }).cursors;
}

/** What a call waits by: it ends when the credential does, too. */
function endingWithCredential(
  { authenticator }: Pick<Services, 'authenticator'>,
  operation: Operation,
  { caller, credential, signal }: Call,
): { readonly signal: () => AbortSignal; close(): void } {
  if (caller === undefined || credential === undefined) return { signal, close: () => {} };
  const permission = permissionFor(operation, caller.credential.permissions);
  const watches: Watch[] = [];
  return {
    signal() {
      const watch = authenticator.watch(caller.accountId, credential, permission);
      watches.push(watch);
      return AbortSignal.any([signal(), watch.signal]);
    },
    close: () => {
      for (const watch of watches) watch.close();
    },
  };
}

/** Returns why the caller may not call the operation: `unauthorized`, `jwt_required` or `permission_denied`. */
export function denialOf(operation: Operation, caller: Caller | undefined): AppError | undefined {
  if (operation.credential === 'none') return undefined;
  if (caller === undefined) return new AppError('unauthorized');
  const { credential } = caller;
  if (operation.credential === 'jwt' && credential.type !== 'jwt') return new AppError('jwt_required');
  if (permits(credential.permissions, operation)) return undefined;
  return new AppError('permission_denied', `This requires the permission ${operation.permission}`);
}

async function noContent(): Promise<Content> {
  throw invalidField('body', 'The request has no file; send it as the body', 'required');
}
