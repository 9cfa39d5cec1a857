import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Clock } from '../../clock.ts';
import type { NewId } from '../../ids.ts';
import type { Operation } from '../../invoke/operation.ts';
import type { ToolCalls } from '../../invoke/toolCalls.ts';
import { beginningOf } from './fit.ts';
import type { Principal } from './mount.ts';
import { toolName } from './tools.ts';

export interface CallLogDeps {
  readonly toolCalls: ToolCalls;
  readonly clock: Clock;
  readonly newId: NewId;
}

interface Ended {
  /** Tool name, if its call became another operation. */
  readonly tool?: string;
  readonly operation: Operation;
  /** The arguments as they are listed. */
  readonly kept: object;
  /** `ok`, or the code of an error. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Lists what API keys do over MCP. */
export class CallLog {
  readonly #deps: CallLogDeps;

  constructor(deps: CallLogDeps) {
    this.#deps = deps;
  }

  /**
   * Runs a call of a key, and lists it with its outcome. Other callers, and calls beyond the rate limit, are not
   * listed.
   */
  async run<T>(
    principal: Principal,
    context: ServerContext,
    { operation, kept }: Pick<Ended, 'operation' | 'kept'>,
    { work, outcomeOf }: { work: () => Promise<T>; outcomeOf: (settled: { result?: T; error?: unknown }) => string },
  ): Promise<T> {
    if (!isListed(principal)) return work();
    const startedAt = this.#deps.clock.elapsed();
    const settled: { result?: T; error?: unknown } = {};
    try {
      settled.result = await work();
      return settled.result;
    } catch (error) {
      settled.error = error;
      throw error;
    } finally {
      const durationMs = Math.round(this.#deps.clock.elapsed() - startedAt);
      await this.record(principal, context, { operation, kept, outcome: outcomeOf(settled), durationMs });
    }
  }

  async record(
    { caller, requestId }: Principal,
    context: ServerContext,
    { operation, tool = toolName(operation), kept, outcome, durationMs }: Ended,
  ): Promise<void> {
    const { credential, accountId } = caller;
    if (credential.type !== 'api_key') return;
    const { toolCalls, clock, newId } = this.#deps;
    const client = clientOf(context);
    const call = {
      account_id: accountId,
      call_id: newId('cal'),
      key_id: credential.keyId,
      tool,
      arguments: JSON.stringify(kept),
      outcome,
      duration_ms: durationMs,
      client_name: client.name,
      client_version: client.version,
      request_id: requestId,
      created_at: clock.now(),
    };
    if (operation.effect === 'read') toolCalls.recordRead(call);
    else await toolCalls.recordChange(call);
  }
}

/** Whether the calls of a request are listed. */
export const isListed = ({ caller, allowance }: Principal): boolean =>
  caller.credential.type === 'api_key' && allowance?.allowed === true;

interface Client {
  readonly name: string | null;
  readonly version: string | null;
}

const MAX_CLIENT_LENGTH = 100;

/** The client's name for itself. Older protocol versions have it only in `initialize`, which has no session here. */
function clientOf(context: ServerContext): Client {
  const { name, version } = envelopeOf(context)[CLIENT_INFO_META_KEY] ?? {};
  return { name: briefly(name), version: briefly(version) };
}

const briefly = (text: unknown) =>
  typeof text === 'string' ? beginningOf(text, MAX_CLIENT_LENGTH).toWellFormed().replaceAll('\0', '') : null;

interface Envelope {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name?: unknown; readonly version?: unknown };
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** The library has validated it, but leaves its type empty. */
export const envelopeOf = ({ mcpReq }: ServerContext): Envelope => (mcpReq.envelope ?? {}) as Envelope;
