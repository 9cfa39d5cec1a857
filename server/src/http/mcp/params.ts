import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { TProperties } from 'typebox';
import { AppError, invalidField } from '../../errors.ts';
import { integer, object, oneOf, openObject, optional, orNull, record, string } from '../../invoke/input/fields.ts';
import { validator } from '../../invoke/input/validate.ts';
import { beginningOf, MAX_NAME_LENGTH } from './fit.ts';

/** The protocol library reports wrong params as an internal error, in the words of its schemas. */
const paramsOf = (properties: TProperties = {}) =>
  validator(object({ _meta: optional(openObject('Metadata.')), ...properties }));

const page = { cursor: optional(string('Cursor of the previous page.')) };
const list = paramsOf(page);

const eventName = { name: string('Event type.'), arguments: optional(openObject('Its arguments.')) };
const eventSource = {
  ...eventName,
  cursor: optional(orNull(string('Position in the event log.'))),
  maxAgeMs: optional(integer('Skips events that are older.', { minimum: 0 })),
};

const methods: ReadonlyMap<string, ReturnType<typeof paramsOf>> = new Map([
  [
    'initialize',
    paramsOf({
      protocolVersion: string('Protocol version.'),
      capabilities: openObject('Capabilities of the client.'),
      clientInfo: object({ name: string('Name of the client.'), version: string('Its version.') }),
    }),
  ],
  ['ping', paramsOf()],
  ['tools/list', list],
  ['tools/call', paramsOf({ name: string('Name of the tool.'), arguments: optional(openObject('Its input.')) })],
  ['resources/list', list],
  ['resources/templates/list', list],
  ['resources/read', paramsOf({ uri: string('URI of the resource.') })],
  ['events/list', paramsOf(page)], // the only list with more than one page
  ['events/poll', paramsOf({ ...eventSource, maxEvents: optional(integer('Number of events.', { minimum: 1 })) })],
  ['events/stream', paramsOf(eventSource)],
  [
    'events/subscribe',
    paramsOf({
      ...eventSource,
      delivery: object({
        mode: optional(string('How events are delivered.')),
        url: string('Callback.'),
        secret: string('Secret that signs deliveries.'),
      }),
      ttlMs: optional(orNull(integer('Suggested lifetime.'))),
    }),
  ],
  ['events/unsubscribe', paramsOf({ ...eventName, delivery: object({ url: string('Callback.') }) })],
  ['prompts/list', list],
  [
    'prompts/get',
    paramsOf({
      name: string('Name of the prompt.'),
      arguments: optional(record(string('Value of an argument.'), 'Its arguments.')),
    }),
  ],
  [
    'completion/complete',
    paramsOf({
      ref: object({
        type: oneOf(['ref/prompt', 'ref/resource'], 'Kind of the reference.'),
        name: optional(string('Name of the prompt.')),
        uri: optional(string('URI template of the resource.')),
      }),
      argument: object({ name: string('Name of the argument.'), value: string('Text typed so far.') }),
      context: optional(
        object({ arguments: optional(record(string('Value of an argument.'), 'Arguments that are filled in.')) }),
      ),
    }),
  ],
]);

export const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** @throws {ProtocolError} `InvalidParams`, which names each wrong member */
export function requireParams(method: string, params: Readonly<Record<string, unknown>> = {}): void {
  try {
    const validate = methods.get(method);
    validate?.(method === 'tools/call' ? withoutMembers(params) : params);
    // These lists are one page, so no cursor was ever returned.
    if (validate === list && params['cursor'] !== undefined)
      throw invalidField('cursor', 'is not a cursor of this list, which has one page; leave it out');
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidParams(`The params of ${method} are invalid: ${error.message}`);
  }
}

/**
 * The library reports what it finds wrong besides as an error whose message is a dump of all problems. Returns the
 * first one as a `ProtocolError`, and any other error unchanged.
 */
export function readableProblem(method: string, error: unknown): unknown {
  const dump = error instanceof Error && /^(?:Invalid tools\/call request: )?(\[.*\])$/s.exec(error.message)?.[1];
  if (!dump) return error;
  const problem = firstProblem(dump);
  if (problem === undefined) return error;
  const member = problem.path.filter((step, at) => at > 0 || step !== 'params').join('.');
  const text = `The params of ${method} are invalid: ${beginningOf(member, MAX_NAME_LENGTH)} is not what the protocol defines (${problem.message})`;
  return invalidParams(text);
}

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns undefined if the text is not a dump of problems. */
function firstProblem(dump: string): Problem | undefined {
  try {
    const [first] = JSON.parse(dump) as Partial<Problem>[];
    return Array.isArray(first?.path) && typeof first.message === 'string' ? (first as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** The input of a tool is validated by its operation, whose answer is a tool result. */
function withoutMembers({ arguments: input, ...params }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (input === undefined) return params;
  return { ...params, arguments: typeof input === 'object' && input !== null && !Array.isArray(input) ? {} : input };
}
