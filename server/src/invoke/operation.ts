import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Caller } from '../auth/authenticate.ts';
import { scopeOf } from '../auth/keyScope.ts';
import { allows, type ContentResource, hidesContent, type Permission } from '../auth/permissions.ts';
import type { RequestAllowance } from '../auth/requestLimits.ts';
import { AppError, type ErrorCode, type Problem } from '../errors.ts';
import type { Content } from '../media/content.ts';
import type { Preview } from '../media/previews.ts';
import type { SessionRef } from '../messages/store.ts';
import type { Confirm } from './confirmations.ts';
import { strictObject } from './input/fields.ts';
import type { OwnerRule } from './owners.ts';
import type { RecipientField } from './recipients.ts';
import type { DeclaredService, ServicesWith } from './services.ts';
import { isOpenToSessions, type SessionScope } from './sessionScope.ts';

/** `write` adds or marks something, `destructive` overwrites or removes user data. Never derived from the method. */
export type Effect = 'read' | 'write' | 'destructive';

interface Declaration<I extends TObject, O extends TSchema, U extends DeclaredService> {
  /** `resource.action`; the MCP tool has the same name with `_` for `.`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`; `{name}` stands for the input field of that name. */
  readonly path: string;
  readonly effect: Effect;
  /** Whether a second call with the same input changes nothing more; by default, unless the effect is `write`. */
  readonly isRepeatable?: boolean;
  /** Whether it stops the messages of a session, before which keys with `confirm` ask as before a destructive call. */
  readonly stopsMessages?: true;
  /** Whether it reaches people for the first time without naming them, before which keys with `confirm` ask as well. */
  readonly reachesStrangers?: true;
  /** Whether it is exposed over MCP. */
  readonly tool?: true;
  /** The services that it uses, apart from the common ones. */
  readonly uses?: readonly U[];
  readonly summary: string;
  readonly description?: string;
  /** HTTP status of success; 200 unless set. */
  readonly status?: number;
  /** One flat object with the fields of the path, the query and the body. */
  readonly input: I;
  readonly output: O;
  /** Whether its output contains third-party text, which an agent must not treat as instructions. */
  readonly thirdPartyText?: boolean;
  /** The resource whose `metadata` permission suffices, and then hides message content in the output. */
  readonly messageContent?: ContentResource | undefined;
  /** The fields of the output that its tool returns; all by default. They contain no third-party text. */
  readonly receipt?: readonly (string & keyof Static<O>)[] | undefined;
  /** A text or list of the output that can be too long for one MCP response, and is read there in parts. */
  readonly longField?: string & keyof Static<O>;
  /** Renders a small picture of the output, for MCP. */
  readonly preview?: (output: Static<O>, services: ServicesWith<NoInfer<U>>, accountId: string) => Promise<Preview>;
  /** In addition to those that every operation can return. */
  readonly errors?: readonly ErrorCode[];
  /** Whether it accepts an `Idempotency-Key`, which makes it safe to repeat. */
  readonly idempotent?: boolean;
  /** The rule that determines its node; by default, every node can run it. */
  readonly owner?: OwnerRule | undefined;
  /** Deadline on another node, in ms; about two minutes by default. */
  readonly deadlineMs?: number;
  /** An example input for the docs. */
  readonly example?: Static<I>;
  /** Whether it begins or ends a login, and so sets or clears the dashboard's cookie. */
  readonly login?: 'begins' | 'ends';
  /** Whether the body is a file, which `openContent` of the context opens. The input is in the query. */
  readonly takesContent?: true;
  /** The output in other media types, by `Accept`; null if this output has no such form. */
  readonly representations?: Readonly<
    Record<string, (output: Static<O>, services: ServicesWith<NoInfer<U>>) => Promise<Buffer | null>>
  >;
}

interface Guarded<
  I extends TObject,
  O extends TSchema,
  U extends DeclaredService = DeclaredService,
  S extends SessionScope = SessionScope,
> extends Declaration<I, O, U> {
  /** `jwt` requires a login token. By default, an API key is accepted as well. */
  readonly credential?: 'jwt';
  /** Null if every credential may call it, because it concerns only the credential itself. */
  readonly permission: Permission | null;
  /** The part of it that a key with `sessionIds` can use, and what its context has looked up. */
  readonly scope: S;
  /** Whether it looks its session up itself, because that may be one that is being deleted. */
  readonly findsItself?: true;
  /** The people or groups whom it reaches, for keys with `allowedRecipients`. */
  readonly recipients?: RecipientField | undefined;
  /**
   * Whether keys with `requiresApproval` can call it although it is not a read. `held`: what it sends waits for
   * approval. `free`: nobody else gets anything that the caller wrote or chose. `checked`: the handler refuses the part
   * that is not free. By default, it is refused.
   */
  readonly approval?: 'held' | 'free' | 'checked' | undefined;
  run(ctx: ContextOf<S, NoInfer<U>>, input: Static<I>): Promise<Static<O>>;
  /**
   * Returns what an earlier run of the same request has stored under `ctx.resourceId`: on another node, which does not
   * answer, or here, if the request is refused by now.
   */
  readStored?(ctx: Context<NoInfer<U>>, input: Static<I>): Promise<Static<O> | undefined>;
}

interface Public<I extends TObject, O extends TSchema, U extends DeclaredService = DeclaredService>
  extends Declaration<I, O, U> {
  readonly credential: 'none';
  readonly permission: null;
  run(ctx: PublicContext<NoInfer<U>>, input: Static<I>): Promise<Static<O>>;
}

export type Operation<I extends TObject = TObject, O extends TSchema = TSchema> = Guarded<I, O> | Public<I, O>;

export function isRepeatable({ effect, isRepeatable }: Pick<Operation, 'effect' | 'isRepeatable'>): boolean {
  return isRepeatable ?? effect !== 'write';
}

export function permissionFor(
  { permission, messageContent }: Pick<Operation, 'permission' | 'messageContent'>,
  grants: readonly string[],
): Permission | null {
  if (messageContent === undefined || !hidesContent(grants, messageContent)) return permission;
  return permission === `${messageContent}:read` ? `${messageContent}:metadata` : permission;
}

function permits(grants: readonly string[], operation: Pick<Operation, 'permission' | 'messageContent'>): boolean {
  const needed = permissionFor(operation, grants);
  return needed === null || allows(grants, needed);
}

export function isContentHidden({ caller }: Pick<Context, 'caller'>, resource: ContentResource): boolean {
  return hidesContent(caller.credential.permissions, resource);
}

/** Returns the sessions to which the caller's key is limited; undefined for all. */
export function sessionsOf({ caller }: Pick<Context, 'caller'>): readonly string[] | undefined {
  return scopeOf(caller)?.sessionIds;
}

/** Returns whether what the caller's key sends waits for approval. */
export function needsApproval({ caller }: Pick<Context, 'caller'>): boolean {
  return scopeOf(caller)?.requiresApproval === true;
}

/** @throws {AppError} `permission_denied` for a key with `requiresApproval` */
export function requireNoApproval(ctx: Pick<Context, 'caller'>, what: string): void {
  if (needsApproval(ctx)) throw cannotWait(what);
}

const cannotWait = (what: string) =>
  new AppError('permission_denied', `“${what}” cannot wait for approval, which this API key requires`);

/** @throws {AppError} `permission_denied` if message content is hidden from the caller */
export function requireContent(ctx: Pick<Context, 'caller'>, resource: ContentResource): void {
  if (isContentHidden(ctx, resource))
    throw new AppError('permission_denied', `This requires the permission ${resource}:read`);
}

/** Whether a call only reads, even if it stores what it computed for the next call. */
export function isRead({ method, ...operation }: Pick<Operation, 'method' | 'effect' | 'isRepeatable'>): boolean {
  return method === 'GET' && isRepeatable(operation);
}

/** The facts of every call. They contain no HTTP. */
interface CallFacts {
  readonly requestId: string;
  /** Address of the caller, for throttling. */
  readonly address: string;
  /** Unverified token of a device that logged in before. See `LoginDevices`. */
  readonly device: string | undefined;
  /**
   * Returns a signal that aborts when the caller hangs up, the server stops or, with an `AppError`, the credential
   * ends. Only for waiting, never in the middle of a change.
   */
  readonly signal: () => AbortSignal;
}

interface CallerFacts {
  readonly caller: Caller;
  readonly accountId: string;
  /** Id of the resource to create, if there is an idempotency key: a second run after a crash must use the same. */
  readonly resourceId: string | undefined;
  /** Opens the file of the call. It has not been read before. */
  readonly openContent: () => Promise<Content>;
}

/** The context of operations without a caller, with the services that they use. */
export type PublicContext<U extends DeclaredService = never> = CallFacts & ServicesWith<U>;

/** The context of operations, with the services that they use. */
export type Context<U extends DeclaredService = never> = PublicContext<U> & CallerFacts;

/** The context of operations that are about a session. */
export type SessionContext<U extends DeclaredService = never> = Context<U> & {
  /** The one that the input names, or the only one of the account. It exists. */
  readonly session: SessionRef;
};

/**
 * The session of an operation is looked up before it runs. Messages, groups and others are not, because a handler reads
 * them in their turn, after what came before has changed them.
 */
type ContextOf<S extends SessionScope, U extends DeclaredService> = S extends 'sessionId'
  ? SessionContext<U>
  : Context<U>;

/** Method and path, such as `GET /messages/{messageId}`. */
export type Route = `${Operation['method']} /${string}`;

/** An operation as its file declares it: with the fields of its input, which refuses all others. */
type Declared<D, P> = Omit<D, 'method' | 'path' | 'input'> & { readonly route: Route; readonly input: P };

/**
 * A handler is a property here: of a method, TypeScript would accept one that needs more services than `uses` lists.
 */
interface Handlers<I extends TObject, O extends TSchema, C, R> {
  readonly run: (ctx: C, input: Static<I>) => Promise<Static<O>>;
  readonly readStored?: (ctx: R, input: Static<I>) => Promise<Static<O> | undefined>;
}

export function defineOperation<
  P extends TProperties,
  O extends TSchema,
  S extends SessionScope,
  U extends DeclaredService = never,
>(
  operation: Declared<Omit<Guarded<TObject<P>, O, U, S>, 'run' | 'readStored'>, P> &
    Handlers<TObject<P>, O, ContextOf<S, NoInfer<U>>, Context<NoInfer<U>>>,
): Guarded<TObject<P>, O, U, S>;
export function defineOperation<P extends TProperties, O extends TSchema, U extends DeclaredService = never>(
  operation: Declared<Omit<Public<TObject<P>, O, U>, 'run'>, P> &
    Pick<Handlers<TObject<P>, O, PublicContext<NoInfer<U>>, never>, 'run'>,
): Public<TObject<P>, O, U>;
export function defineOperation({
  route,
  input,
  ...operation
}: Declared<Guarded<TObject, TSchema>, TProperties> | Declared<Public<TObject, TSchema>, TProperties>): Operation {
  // The type of `route` guarantees both.
  const [method, path] = route.split(' ') as [Operation['method'], string];
  return { ...operation, method, path, input: strictObject(input) };
}

export interface Call {
  readonly caller: Caller | undefined;
  readonly input: unknown;
  readonly requestId: string;
  readonly address: string;
  readonly device?: string | undefined;
  readonly signal: () => AbortSignal;
  readonly idempotencyKey?: string | undefined;
  readonly channel: 'rest' | 'mcp';
  /** `traceparent` (W3C Trace Context) of the request, unchecked. */
  readonly trace?: string | undefined;
  /** The secret of the credential, to forward it to another node. */
  readonly credential?: string | undefined;
  /** Whether another node forwarded it: then it is not forwarded again. */
  readonly isForwarded?: boolean;
  /** The session that the forwarding node has derived from the input. Our ids are the same on all nodes. */
  readonly derivedSessionId?: string;
  /** Set if the channel has already counted the call, together with the others of its request. */
  readonly allowance?: RequestAllowance;
  readonly openContent?: () => Promise<Content>;
  /** Asks the user of the key; undefined if the channel cannot. */
  readonly confirm?: Confirm | undefined;
}

export type Answer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly output: unknown;
      /** The output in one of the operation's other media types; null if it has no such form. */
      readonly represent: (type: string) => Promise<Buffer | null>;
      /** Undefined if the operation has no preview. */
      readonly preview: () => Promise<Preview | undefined>;
      /** For a page, the cursor after each entry. */
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

/** Returns `unauthorized`, `jwt_required` or `permission_denied` if the caller may not make the call. */
export function denialOf(operation: Operation, caller: Caller | undefined): AppError | undefined {
  if (operation.credential === 'none') return undefined;
  if (caller === undefined) return new AppError('unauthorized');
  const { credential } = caller;
  if (operation.credential === 'jwt' && credential.type !== 'jwt') return new AppError('jwt_required');
  if (!permits(credential.permissions, operation))
    return new AppError('permission_denied', `This requires the permission ${operation.permission}`);
  if (needsApproval({ caller }) && operation.effect !== 'read' && operation.approval === undefined)
    return cannotWait(operation.summary);
  if (sessionsOf({ caller }) === undefined || isOpenToSessions(operation.scope)) return undefined;
  return new AppError('permission_denied', 'This concerns the whole account, but the API key is limited to sessions');
}
