import type { Watch } from '../auth/credentialWatches.ts';
import { addressDenialOf } from '../auth/keyScope.ts';
import { type RequestAllowance, rateLimited } from '../auth/requestLimits.ts';
import { AppError, asAppError, type ErrorCode, invalidField, toProblem } from '../errors.ts';
import type { Content } from '../media/content.ts';
import type { ConfirmationRule } from './confirmationRule.ts';
import type { DerivedSessions } from './derivedSession.ts';
import type { Filters } from './filters.ts';
import { forwardCall, type Outcome } from './forwardCall.ts';
import type { EarlierRun, Idempotency } from './idempotency.ts';
import { withDigits } from './input/canonicalNumbers.ts';
import { isStorable, validator } from './input/validate.ts';
import type { Key } from './keyReleases.ts';
import type { NetworkIds } from './networkIds.ts';
import {
  type Answer,
  type Call,
  type Context,
  denialOf,
  isContentHidden,
  type Operation,
  type PublicContext,
  permissionFor,
  sessionsOf,
} from './operation.ts';
import { type Owners, runAtOwner } from './owners.ts';
import { projector } from './project.ts';
import { requireRecipients } from './recipients.ts';
import { withSession } from './resources.ts';
import { type DeclaredService, type Services, type ServicesWith, servicesFor } from './services.ts';
import { isWithin, type SessionScopes } from './sessionScope.ts';
import type { TypedNumbers } from './typedNumbers.ts';

type Input = Record<string, unknown>;

/** Errors of the limits of a key that can also mean that what the input names is gone. */
const GONE: readonly ErrorCode[] = ['not_found', 'session_required'];

/** Errors that stand although the same request succeeded before: the caller is no longer allowed to make it. */
const DENIALS: readonly ErrorCode[] = ['unauthorized', 'permission_denied'];

interface Parts {
  readonly services: Services;
  readonly owners: Owners;
  readonly typedNumbers: TypedNumbers;
  readonly networkIds: NetworkIds;
  readonly derivedSessions: DerivedSessions;
  readonly filters: Filters;
  readonly sessionScopes: SessionScopes;
  readonly confirmationRule: ConfirmationRule;
  readonly idempotency: Idempotency;
}

interface Prepared {
  readonly operation: Operation;
  /**
   * The common services and those that the operation declares. Typed as all, because the type of `operation` does not
   * state its own: pass them to it only.
   */
  readonly services: ServicesWith<DeclaredService>;
  readonly validate: (input: unknown) => Input;
  readonly project: (output: unknown) => unknown;
  /** Also removes message content. */
  readonly withoutContent: (output: unknown) => unknown;
}

/** The one entry point: every call of every operation, over REST and MCP, goes through it. */
export class Invoker {
  readonly #parts: Parts;
  readonly #prepared = new Map<Operation, Prepared>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Never rejects: an error becomes the answer. */
  invoke(operation: Operation, call: Call): Promise<Answer> {
    return new Invocation(this.#parts, this.#prepare(operation), call).answer();
  }

  #prepare(operation: Operation): Prepared {
    let prepared = this.#prepared.get(operation);
    if (prepared === undefined) {
      prepared = {
        operation,
        services: servicesFor(this.#parts.services, operation.uses),
        validate: validator(operation.input),
        project: projector(operation.output),
        withoutContent: projector(operation.output, { hidesContent: true }),
      };
      this.#prepared.set(operation, prepared);
    }
    return prepared;
  }
}

/** One call: authorized, counted, validated, run once by its owner, projected and logged. */
class Invocation {
  readonly #parts: Parts;
  readonly #prepared: Prepared;
  readonly #operation: Operation;
  readonly #call: Call;
  /** Watches of the credential, for as long as the call waits. */
  readonly #watches: Watch[] = [];
  #allowance: RequestAllowance | undefined;
  #forwardedTo: string | undefined;
  #cursors: readonly string[] | undefined;
  /** The input, as far as it has been read. */
  #input: Input = {};

  constructor(parts: Parts, prepared: Prepared, call: Call) {
    this.#parts = parts;
    this.#prepared = prepared;
    this.#operation = prepared.operation;
    this.#call = call;
  }

  async answer(): Promise<Answer> {
    const startedAt = performance.now();
    let answer: Answer;
    try {
      answer = await this.#answerOrThrow();
    } catch (error) {
      answer = this.#fail(error);
    } finally {
      for (const watch of this.#watches) watch.close();
    }
    this.#record(answer, performance.now() - startedAt);
    return answer;
  }

  async #answerOrThrow(): Promise<Answer> {
    const { services } = this.#parts;
    const operation = this.#operation;
    const { caller } = this.#call;
    const denial = denialOf(operation, caller) ?? this.#addressDenial();
    if (denial !== undefined) throw denial;
    const allowance = this.#call.allowance ?? services.requestLimits.take(this.#call);
    this.#allowance = allowance;
    if (!allowance.allowed) throw rateLimited(allowance);
    const outcome = await this.#outcome();
    // Applied last, because the stored answer of an idempotency key is the same for every caller.
    const { messageContent } = operation;
    const isHidden =
      messageContent !== undefined && caller !== undefined && isContentHidden({ caller }, messageContent);
    const output = isHidden ? this.#prepared.withoutContent(outcome.output) : outcome.output;
    return {
      ok: true,
      status: operation.status ?? 200,
      output,
      // The cast is safe: `represent` and `preview` take the output of this operation.
      represent: async (type) =>
        (await operation.representations?.[type]?.(output as never, this.#prepared.services)) ?? null,
      preview: async () => operation.preview?.(output as never, this.#prepared.services, caller?.accountId ?? ''),
      allowance,
      replayed: outcome.replayed,
      ...(this.#cursors && { cursors: this.#cursors }),
    };
  }

  /**
   * Runs the operation. A request whose input is refused by now returns the outcome of its earlier run: a chat that it
   * names may be gone, or the time that it names past. The limits of the key apply to that outcome too.
   */
  async #outcome(): Promise<Outcome> {
    try {
      await this.#readInput();
    } catch (error) {
      const earlier = await this.#earlierRun(error);
      await this.#limitInput().catch(unlessGone);
      return this.#earlierOutcome(earlier, error);
    }
    try {
      await this.#limitInput();
    } catch (error) {
      unlessGone(error);
      return this.#earlierOutcome(await this.#earlierRun(error), error);
    }
    const outcome = await this.#runOrForward(this.#input);
    // The key may have been moved to other sessions since, and the request names none.
    if (outcome.replayed && !this.#mayRead(outcome.output)) throw new AppError('idempotency_mismatch');
    return outcome;
  }

  /**
   * Returns what is known of an earlier run of the same request.
   * @throws `error` if there is none
   */
  async #earlierRun(error: unknown): Promise<EarlierRun> {
    const { idempotencyKey: own, ...sent } = (this.#call.input ?? {}) as Input;
    const key = this.#keyOf(this.#call.idempotencyKey ?? own);
    if (key === undefined || !(error instanceof AppError) || DENIALS.includes(error.code)) throw error;
    const earlier = await this.#parts.idempotency.earlier({ ...key, operationId: this.#operation.id, sent });
    if (earlier === undefined) throw error;
    return earlier;
  }

  /** @throws `error` if the run has stored nothing, or something outside the sessions of the caller's key */
  async #earlierOutcome({ resourceId, answer }: EarlierRun, error: unknown): Promise<Outcome> {
    // Without an answer, the run was interrupted or has not ended.
    const output = answer ?? (await this.#storedUnder(resourceId, this.#input));
    if (output === undefined || !this.#mayRead(output)) throw error;
    return { output, replayed: answer !== undefined };
  }

  /** Whether a stored output belongs to the sessions of the caller's key. */
  #mayRead(output: unknown): boolean {
    const { caller } = this.#call;
    const sessionIds = caller && sessionsOf({ caller });
    return sessionIds === undefined || isWithin(sessionIds, this.#input, output);
  }

  /** The input as the caller gave it. */
  get #given(): Input {
    return (this.#call.input ?? {}) as Input;
  }

  /** Returns the idempotency key of the call; undefined if it has none, or the operation ignores it. */
  #keyOf(key: unknown): Key | undefined {
    const { caller } = this.#call;
    if (!this.#operation.idempotent || typeof key !== 'string' || caller === undefined) return undefined;
    // The key of an input that was refused may be the reason.
    if (!isStorable(key)) return undefined;
    const { accountId, credential } = caller;
    return { accountId, credential: credential.type === 'api_key' ? credential.keyId : 'login', key };
  }

  /** The node that forwarded a call has checked the address of its caller. */
  #addressDenial(): AppError | undefined {
    const { caller, address, isForwarded } = this.#call;
    return caller === undefined || isForwarded === true ? undefined : addressDenialOf(caller, address);
  }

  /** Validates the input, and replaces what it names by what the account knows. */
  async #readInput(): Promise<void> {
    const { caller } = this.#call;
    const operation = this.#operation;
    this.#input = this.#given;
    this.#input = this.#prepared.validate(this.#call.input);
    if (operation.credential === 'none' || caller === undefined) return;
    const { typedNumbers, networkIds, derivedSessions, filters } = this.#parts;
    this.#input = await typedNumbers.check(operation, caller, this.#input);
    this.#input = await networkIds.replace(operation, caller, this.#input);
    this.#input = await derivedSessions.derive(operation, this.#call, this.#input);
    this.#input = await filters.check(operation, caller, this.#input);
    this.#input = withDigits(operation, this.#input);
  }

  /** Checks that the caller's key may reach what the input names, and asks its user if it has to. */
  async #limitInput(): Promise<void> {
    const { caller } = this.#call;
    const operation = this.#operation;
    if (operation.credential === 'none' || caller === undefined) return;
    const { services, sessionScopes, confirmationRule } = this.#parts;
    const { recipients, input } = operation;
    const sessionIds = sessionsOf({ caller });
    if (sessionIds !== undefined) this.#input = await sessionScopes.limit(operation, caller, sessionIds, this.#input);
    if (recipients !== undefined)
      await requireRecipients({ recipients, input }, caller, this.#input, this.#given, services);
    this.#input = await confirmationRule.require(operation, this.#call, this.#input);
  }

  #fail(error: unknown): Answer {
    const { log } = this.#parts.services;
    const { requestId } = this.#call;
    const known = asAppError(error);
    const problem = toProblem(known, requestId);
    const about = { requestId, operation: this.#operation.id, code: problem.code };
    const cause = known.cause instanceof Error ? known.cause.message : undefined;
    if (problem.status === 503) log.warn({ ...about, reason: problem.detail, cause }, 'operation unavailable');
    else if (problem.status >= 500) log.error({ ...about, err: error }, 'operation failed');
    const { retryAfterSeconds } = known;
    return {
      ok: false,
      status: problem.status,
      problem,
      ...(this.#allowance && { allowance: this.#allowance }),
      ...(retryAfterSeconds && { retryAfterSeconds }),
    };
  }

  #record(answer: Answer, ms: number): void {
    const { log, metrics } = this.#parts.services;
    const { requestId, channel, caller } = this.#call;
    metrics.operationSeconds.observe({ operation: this.#operation.id, channel, status: answer.status }, ms / 1000);
    log.info(
      {
        requestId,
        operation: this.#operation.id,
        channel,
        account: caller?.accountId,
        credential: caller?.credential.type,
        status: answer.status,
        ...(this.#forwardedTo !== undefined && { node: this.#forwardedTo }),
        ...(!answer.ok && { code: answer.problem.code }),
        ms: Math.round(ms * 10) / 10,
      },
      'operation',
    );
  }

  /** Runs the operation here, or forwards the call. A call that was forwarded already is not forwarded again. */
  #runOrForward(input: Input): Promise<Outcome> {
    const { services, owners } = this.#parts;
    const { owner } = this.#operation;
    const { caller, isForwarded, idempotencyKey } = this.#call;
    if (owner === undefined || caller === undefined || isForwarded === true)
      return this.#runOnce(input, idempotencyKey);
    return runAtOwner(
      () => owners.find({ owner, input: this.#operation.input }, caller.accountId, input),
      () => this.#runOnce(input, idempotencyKey),
      (node) => {
        this.#forwardedTo = node.nodeId;
        const run = (key: string) => this.#runOnce(input, key);
        const readStored = (key: string) => this.#readStored(key, input);
        return forwardCall(services, node, this.#operation, this.#forwarded(input), { run, readStored });
      },
    );
  }

  /** The call as the owner gets it. Its input stays as it was sent, because idempotency keys are compared by it. */
  #forwarded({ sessionId }: Input): Call {
    const isDerived = this.#call.channel === 'mcp' && typeof sessionId === 'string';
    return isDerived ? { ...this.#call, derivedSessionId: sessionId } : this.#call;
  }

  async #runOnce(input: Input, idempotencyKey: string | undefined): Promise<Outcome> {
    const key = this.#keyOf(idempotencyKey ?? input['idempotencyKey']);
    if (key === undefined) return { output: await this.#run(input, undefined), replayed: false };
    const request = { ...key, operationId: this.#operation.id, sent: this.#call.input as Input, input };
    return this.#parts.idempotency.once(request, (resourceId, isResumed) =>
      isResumed ? this.#resume(input, resourceId) : this.#run(input, resourceId),
    );
  }

  /**
   * Continues a run that did not end. If it is refused for what has changed since, and has stored something before,
   * that is its outcome: the time of a scheduled message may have passed.
   */
  async #resume(input: Input, resourceId: string): Promise<unknown> {
    const before = await this.#storedUnder(resourceId, input);
    try {
      return await this.#run(input, resourceId);
    } catch (error) {
      if (before === undefined || !(error instanceof AppError) || DENIALS.includes(error.code)) throw error;
      const now = await this.#storedUnder(resourceId, input);
      if (now === undefined || (hasFailed(now) && !hasFailed(before))) throw error; // the run itself has failed
      return now;
    }
  }

  async #run(input: Input, resourceId: string | undefined): Promise<unknown> {
    const operation = this.#operation;
    const result =
      operation.credential === 'none'
        ? await operation.run(this.#publicContext(), input)
        : await operation.run(await this.#contextFor(operation, resourceId, input), input);
    this.#cursors = cursorsOf(result);
    const output = this.#prepared.project(result);
    // Only the owner of a session asks its network. Everything else was shown when it was stored.
    const { caller } = this.#call;
    if (operation.owner !== undefined && caller !== undefined)
      await this.#parts.typedNumbers.noteOutput(caller.accountId, output);
    return output;
  }

  /** The context of a run, in whose session the network knows the people of the input. */
  async #contextFor(operation: Operation, resourceId: string | undefined, input: Input) {
    const context = await withSession(operation, this.#context(resourceId), input);
    await this.#parts.networkIds.name(operation, context, this.#given);
    return context;
  }

  async #readStored(idempotencyKey: string, input: Input): Promise<unknown> {
    const key = this.#keyOf(idempotencyKey);
    const resourceId = key && (await this.#parts.idempotency.resourceOf(key));
    return resourceId && this.#storedUnder(resourceId, input);
  }

  async #storedUnder(resourceId: string, input: Input): Promise<unknown> {
    const operation = this.#operation;
    if (operation.credential === 'none' || operation.readStored === undefined) return undefined;
    const output = await operation.readStored(this.#context(resourceId), input);
    return output && this.#prepared.project(output);
  }

  #publicContext(): PublicContext<DeclaredService> {
    const { requestId, address, device } = this.#call;
    return { ...this.#prepared.services, requestId, address, device, signal: () => this.#signal() };
  }

  /** @throws {AppError} `unauthorized` */
  #context(resourceId: string | undefined): Context<DeclaredService> {
    const { caller, openContent = noContent } = this.#call;
    if (caller === undefined) throw new AppError('unauthorized');
    return { ...this.#publicContext(), caller, accountId: caller.accountId, resourceId, openContent };
  }

  /** Returns a signal that also aborts when the credential ends. */
  #signal(): AbortSignal {
    const { caller, credential, signal } = this.#call;
    if (caller === undefined || credential === undefined) return signal();
    const permission = permissionFor(this.#operation, caller.credential.permissions);
    const watch = this.#parts.services.authenticator.watch(caller, credential, permission);
    this.#watches.push(watch);
    return AbortSignal.any([signal(), watch.signal]);
  }
}

/** Returns the cursors that `toPage` adds for callers inside the process; the projection drops them. */
function cursorsOf(result: unknown): readonly string[] | undefined {
  return (result as { cursors?: readonly string[] }).cursors;
}

/** @throws `error` unless it can mean that what the input names is gone */
function unlessGone(error: unknown): void {
  if (!(error instanceof AppError) || !GONE.includes(error.code)) throw error;
}

/** Whether a stored message, status or post has failed. */
function hasFailed(output: unknown): boolean {
  const { status, state } = output as { readonly status?: unknown; readonly state?: unknown };
  return status === 'failed' || state === 'failed';
}

async function noContent(): Promise<Content> {
  throw invalidField('body', 'The request has no file; send it as the body', 'required');
}
