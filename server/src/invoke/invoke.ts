import type { Watch } from '../auth/credentialWatches.ts';
import { addressDenialOf } from '../auth/keyScope.ts';
import { type RequestAllowance, rateLimited } from '../auth/requestLimits.ts';
import { AppError, invalidField, toProblem } from '../errors.ts';
import type { Content } from '../media/content.ts';
import type { ConfirmationRule } from './confirmationRule.ts';
import type { Services } from './context.ts';
import type { Filters } from './filters.ts';
import { underGivenNames, underPresentNames } from './formerNames.ts';
import { forwardCall, type Outcome } from './forwardCall.ts';
import type { Idempotency } from './idempotency.ts';
import type { NetworkIds } from './networkIds.ts';
import {
  type Answer,
  type Call,
  type Context,
  denialOf,
  isContentHidden,
  type Operation,
  permissionFor,
  sessionsOf,
} from './operation.ts';
import { type Owners, runAtOwner } from './owners.ts';
import { projector } from './project.ts';
import { requireRecipients } from './recipients.ts';
import type { SessionScopes } from './sessionScope.ts';
import { validator } from './validate.ts';

type Input = Record<string, unknown>;

interface Parts {
  readonly services: Services;
  readonly owners: Owners;
  readonly networkIds: NetworkIds;
  readonly filters: Filters;
  readonly sessionScopes: SessionScopes;
  readonly confirmationRule: ConfirmationRule;
  readonly idempotency: Idempotency;
}

interface Prepared {
  readonly operation: Operation;
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
      answer = this.#fail(underGivenNames(this.#operation, this.#call.input, error));
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
    const outcome = await this.#runOrForward(await this.#readInput());
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
      represent: async (type) => (await operation.representations?.[type]?.(output as never, services)) ?? null,
      preview: async () => operation.preview?.(output as never, services),
      allowance,
      replayed: outcome.replayed,
      ...(this.#cursors && { cursors: this.#cursors }),
    };
  }

  /** The node that forwarded a call has checked the address of its caller. */
  #addressDenial(): AppError | undefined {
    const { caller, address, isForwarded } = this.#call;
    return caller === undefined || isForwarded === true ? undefined : addressDenialOf(caller, address);
  }

  /** The validated input, which names nothing that the caller's key may not reach. */
  async #readInput(): Promise<Input> {
    const { caller } = this.#call;
    const operation = this.#operation;
    const given = underPresentNames(operation, this.#prepared.validate(this.#call.input));
    if (operation.credential === 'none' || caller === undefined) return given;
    const { services, networkIds, filters, sessionScopes, confirmationRule } = this.#parts;
    const input = await filters.check(operation, caller, await networkIds.replace(operation, caller, given));
    const { scope, recipients } = operation;
    const sessionIds = sessionsOf({ caller });
    const limited = sessionIds === undefined ? input : await sessionScopes.limit(scope, caller, sessionIds, input);
    if (recipients !== undefined) await requireRecipients(recipients, caller, limited, services.database.reader);
    return confirmationRule.require(operation, this.#call, limited);
  }

  #fail(error: unknown): Answer {
    const { log } = this.#parts.services;
    const { requestId } = this.#call;
    const problem = toProblem(error, requestId);
    const about = { requestId, operation: this.#operation.id, code: problem.code };
    if (problem.status === 503) log.warn({ ...about, reason: problem.detail }, 'operation unavailable');
    else if (problem.status >= 500) log.error({ ...about, err: error }, 'operation failed');
    const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
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
      () => owners.find(owner, caller.accountId, input),
      () => this.#runOnce(input, idempotencyKey),
      (node) => {
        this.#forwardedTo = node.nodeId;
        const run = (key: string) => this.#runOnce(input, key);
        const readStored = (key: string) => this.#readStored(key);
        return forwardCall(services, node, this.#operation, this.#call, { run, readStored });
      },
    );
  }

  async #runOnce(input: Input, idempotencyKey: string | undefined): Promise<Outcome> {
    const { caller } = this.#call;
    const key = idempotencyKey ?? input['idempotencyKey'];
    if (!this.#operation.idempotent || typeof key !== 'string' || caller === undefined)
      return { output: await this.#run(input, undefined), replayed: false };
    const request = { accountId: caller.accountId, key, operationId: this.#operation.id, input };
    return this.#parts.idempotency.once(request, (resourceId) => this.#run(input, resourceId));
  }

  async #run(input: Input, resourceId: string | undefined): Promise<unknown> {
    const operation = this.#operation;
    const result =
      operation.credential === 'none'
        ? await operation.run(this.#publicContext(), input)
        : await operation.run(this.#context(resourceId), input);
    this.#cursors = cursorsOf(result);
    return this.#prepared.project(result);
  }

  async #readStored(key: string): Promise<unknown> {
    const operation = this.#operation;
    const { caller } = this.#call;
    if (operation.credential === 'none' || operation.readStored === undefined || caller === undefined) return undefined;
    const resourceId = await this.#parts.idempotency.resourceOf({ accountId: caller.accountId, key });
    const output = resourceId && (await operation.readStored(this.#context(resourceId)));
    return output && this.#prepared.project(output);
  }

  #publicContext() {
    const { requestId, address, device } = this.#call;
    return { ...this.#parts.services, requestId, address, device, signal: () => this.#signal() };
  }

  /** @throws {AppError} `unauthorized` */
  #context(resourceId: string | undefined): Context {
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

async function noContent(): Promise<Content> {
  throw invalidField('body', 'The request has no file; send it as the body', 'required');
}
