import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { scopeOf } from '../../auth/keyScope.ts';
import { type Clock, isoTime } from '../../clock.ts';
import { AppError, toProblem } from '../../errors.ts';
import { canNeedConfirmation } from '../../invoke/confirmationRule.ts';
import type { Confirmation, Confirmations } from '../../invoke/confirmations.ts';
import type { Operation } from '../../invoke/operation.ts';
import { keptArguments } from '../../invoke/toolCallArguments.ts';
import { type CallLog, envelopeOf, isListed } from './callLog.ts';
import type { Principal } from './mount.ts';
import { errorCodeOf, failed } from './results.ts';
import type { Tools } from './tools.ts';

/*
 * Surrounds the tool calls of API keys: asks the user if the key says so, and lists the call. `invoke` decides which
 * calls have to be confirmed; this file only asks.
 */

export interface GuardDeps {
  readonly confirmations: Confirmations;
  readonly calls: CallLog;
  readonly clock: Clock;
}

type Params = { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> | undefined };
type Result = CallToolResult | InputRequiredResult;

/** The field of a tool's input with the token of a question, for clients that cannot ask. */
const TOKEN = 'confirmationToken';
/** Without a description: the error that gives out a token says how to use it. */
const TOKEN_FIELD = { type: 'string' };
/** The name of the question in an input-required result. */
const QUESTION = 'confirm';

export class GuardedTools {
  readonly #tools: Tools;
  readonly #deps: GuardDeps;

  constructor(tools: Tools, deps: GuardDeps) {
    this.#tools = tools;
    this.#deps = deps;
  }

  /** The tools of the caller; those that may ask have a field for the token if the key has `confirm`. */
  list(principal: Principal): Tool[] {
    const tools = this.#tools.list(principal);
    return tools.map((tool) => (this.#takesToken(principal, tool.name) ? withToken(tool) : tool));
  }

  /** Undefined if there is no such tool. */
  async call(principal: Principal, params: Params, context: ServerContext): Promise<Result | undefined> {
    const called = this.#tools.callOf(params.name, params.arguments);
    if (called === undefined) return undefined;
    const { operation } = called;
    if (!isListed(principal)) return this.#tools.call(principal, params.name, params.arguments);
    const { clock, calls } = this.#deps;
    const startedAt = clock.elapsed();
    const { result, outcome = 'ok' } = await this.#ask(principal, params, context);
    const kept = keptArguments(operation, called.input);
    const durationMs = Math.round(clock.elapsed() - startedAt);
    await calls.record(principal, context, {
      tool: params.name,
      operation,
      kept,
      outcome: listedOutcome(operation, result, outcome),
      durationMs,
    });
    return result;
  }

  async #ask(principal: Principal, { name, arguments: input }: Params, context: ServerContext) {
    const { [TOKEN]: token, ...rest } = this.#takesToken(principal, name) ? (input ?? {}) : {};
    const isAbsent = token === null || token === ''; // like every optional field
    const question = new Question(this.#deps.confirmations, principal, context, isAbsent ? undefined : token);
    const given = this.#takesToken(principal, name) ? rest : input;
    const confirm = (confirmation: Confirmation) => question.confirm(confirmation);
    // `invoke` passes the question on.
    const asking: Principal = { ...principal, confirm };
    const result = await this.#tools.call(asking, name, given);
    return { result: question.asked ?? result, outcome: result && outcomeOf(result) };
  }

  #takesToken({ caller }: Principal, name: string): boolean {
    return scopeOf(caller)?.confirm !== undefined && this.#operationsOf(name).some(canNeedConfirmation);
  }

  /** @throws {Error} for a tool without an operation, which would be called without a question */
  #operationsOf(name: string): readonly Operation[] {
    const operations = this.#tools.operationsOf(name);
    if (operations.length === 0) throw new Error(`the tool ${name} has no operation`);
    return operations;
  }
}

/** The outcome of a call whose message waits for a person. */
const WAITS = 'pending_approval';

function outcomeOf(result: CallToolResult): string {
  const { status }: { status?: unknown } = result.structuredContent ?? {};
  return errorCodeOf(result) ?? (status === WAITS ? WAITS : 'ok');
}

function listedOutcome({ effect }: Operation, result: Result | undefined, outcome: string): string {
  if (result === undefined) return 'not_selected'; // the client has hidden the tool from itself
  return outcome === WAITS && effect === 'read' ? 'ok' : outcome;
}

/** The question of one call, and how the client brought its answer. */
class Question {
  /** The result that asks, if the call had to be confirmed and was not. */
  asked: Result | undefined;
  readonly #confirmations: Confirmations;
  readonly #principal: Principal;
  readonly #context: ServerContext;
  readonly #token: unknown;

  constructor(confirmations: Confirmations, principal: Principal, context: ServerContext, token: unknown) {
    this.#confirmations = confirmations;
    this.#principal = principal;
    this.#context = context;
    this.#token = token;
  }

  /** @throws {AppError} `confirmation_required`, `confirmation_declined` */
  async confirm(confirmation: Confirmation): Promise<void> {
    if (canElicit(this.#context)) await this.#elicit(confirmation);
    else await this.#askForToken(confirmation);
  }

  async #elicit(confirmation: Confirmation): Promise<void> {
    const { mcpReq } = this.#context;
    const answer = mcpReq.inputResponses?.[QUESTION];
    const state = mcpReq.requestState<string>();
    if (answer !== undefined) {
      if (!isAccepted(answer)) {
        // A later answer to the same question would contradict this one.
        if (typeof state === 'string') await this.#redeem('elicitation', confirmation, state);
        throw declined(answer);
      }
      if (typeof state === 'string' && (await this.#redeem('elicitation', confirmation, state))) return;
    }
    const { token } = await this.#confirmations.issue('elicitation', confirmation);
    const elicitation = { mode: 'form' as const, message: confirmation.question, requestedSchema: CONSENT };
    this.asked = inputRequired({
      inputRequests: { [QUESTION]: inputRequired.elicit(elicitation) },
      requestState: token,
    });
    throw new AppError('confirmation_required');
  }

  async #askForToken(confirmation: Confirmation): Promise<void> {
    const isPresented = this.#token !== undefined;
    if (typeof this.#token === 'string' && (await this.#redeem('token', confirmation, this.#token))) return;
    const { token, expiresAt } = await this.#confirmations.issue('token', confirmation);
    const required = new AppError('confirmation_required', isPresented ? NOT_VALID : NOT_ASKED);
    const more = { question: confirmation.question, [TOKEN]: token, expiresAt: isoTime(expiresAt) };
    this.asked = failed(toProblem(required, this.#principal.requestId), undefined, more);
    throw required;
  }

  #redeem(askedBy: 'elicitation' | 'token', confirmation: Confirmation, token: string): Promise<boolean> {
    return this.#confirmations.redeem(askedBy, confirmation, this.#principal.caller, token);
  }
}

const NOT_ASKED = 'The user has to agree to this call: show the question to the user';
const NOT_VALID =
  'The confirmationToken has expired, was used, or belongs to another call; show this new question to the user';

/** A form with one switch, so that a client that accepts forms by itself consents to nothing. */
const CONSENT = {
  type: 'object' as const,
  properties: { [QUESTION]: { type: 'boolean' as const, title: 'Yes, do this', default: false } },
  required: [QUESTION],
};

function isAccepted(answer: unknown): boolean {
  const content = acceptedContent({ [QUESTION]: answer }, QUESTION);
  return content?.[QUESTION] === true;
}

function declined(answer: unknown): AppError {
  const { action } = (answer ?? {}) as { action?: unknown };
  return new AppError(
    'confirmation_declined',
    action === 'cancel'
      ? 'The user closed the question without an answer; nothing was done'
      : 'The user declined; nothing was done',
  );
}

/** Clients of older protocol versions declare this only in `initialize`. A bare `elicitation: {}` means forms. */
function canElicit(context: ServerContext): boolean {
  const { elicitation } = envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function withToken(tool: Tool): Tool {
  const { inputSchema } = tool;
  return { ...tool, inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, [TOKEN]: TOKEN_FIELD } } };
}
