import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { TObject, TProperties, TSchema } from 'typebox';
import { toProblem } from '../../errors.ts';
import { boolean, integer, object, optional } from '../../invoke/input/fields.ts';
import { PHONE_NUMBER_FORMAT } from '../../invoke/input/phoneNumbers.ts';
import { type Reference, referenceOf } from '../../invoke/input/references.ts';
import { validator } from '../../invoke/input/validate.ts';
import { denialOf, type Invoke, isRepeatable, type Operation } from '../../invoke/operation.ts';
import type { Names } from '../../operations/shared/names.ts';
import { PAGE_ENTRIES, type Schema } from './fit.ts';
import type { Principal } from './mount.ts';
import { failed, type Reading, succeeded } from './results.ts';
import { toolInputReader } from './toolInput.ts';
import { isSelected } from './toolsets.ts';

interface OperationTool {
  readonly operation: Operation;
  /** The operation as the tool shows it. */
  readonly shown: Operation;
  readonly definition: Tool;
  /** Converts an input to the values that the model means. */
  readonly readInput: (input: unknown) => unknown;
  /**
   * Removes the fields from an input that only tools have.
   * @throws {AppError} `validation_failed`
   */
  readonly readReading: (input: Fields) => Reading;
}

type Fields = Readonly<Record<string, unknown>>;

/** The operations that are tools. Everything about a tool derives from its operation, and calls go through `invoke`. */
export class Tools {
  readonly #tools: ReadonlyMap<string, OperationTool>;
  readonly #invoke: Invoke;
  readonly #names: Pick<Names, 'addTo'>;

  constructor(operations: readonly Operation[], invoke: Invoke, names: Pick<Names, 'addTo'>) {
    const exposed = operationsByTool(operations);
    const ids = idsOf(exposed);
    const tools = [...exposed.values()].map((operation) => {
      const shown = withReceipt(operation);
      const reading = readingOf(operation);
      const readInput = toolInputReader(object({ ...operation.input.properties, ...reading }));
      return {
        operation,
        shown,
        definition: definitionOf(shown, ids),
        readInput,
        readReading: validator(object(reading)),
      };
    });
    this.#tools = new Map(tools.map((tool) => [tool.definition.name, tool]));
    this.#invoke = invoke;
    this.#names = names;
  }

  /** The tools that the caller's key permits, of those that the client has asked for. */
  list({ caller, selection }: Principal): Tool[] {
    return [...this.#tools.values()]
      .filter(({ operation }) => denialOf(operation, caller) === undefined && isSelected(selection, operation))
      .map(({ definition }) => definition);
  }

  /** Returns the input of a tool with the values that the model means. */
  readInput(name: string, input: unknown): unknown {
    return this.#tools.get(name)?.readInput(input ?? {}) ?? input;
  }

  /** Undefined if there is no such tool. */
  async call(principal: Principal, name: string, input: unknown): Promise<CallToolResult | undefined> {
    const tool = this.#tools.get(name);
    if (tool === undefined || !isSelected(principal.selection, tool.operation)) return undefined;
    const { operation, shown, readInput, readReading } = tool;
    const { own, rest } = splitInput(readInput(input ?? {}), readingOf(operation));
    let reading: Reading;
    try {
      reading = readReading(own);
    } catch (error) {
      return failed(toProblem(error, principal.requestId));
    }
    const call = { ...principal, input: withPageSize(operation, rest), channel: 'mcp' as const };
    const answer = await this.#invoke(operation, call);
    if (!answer.ok) return failed(answer.problem, answer.retryAfterSeconds);
    const output = picked(answer.output, operation.receipt);
    // A receipt contains nothing that third parties wrote.
    const named = shown.thirdPartyText ? await this.#names.addTo(principal.caller.accountId, output) : output;
    return succeeded(shown, { ...answer, output: named }, reading);
  }
}

/** The definitions of all tools, for the documentation. */
export function toolDefinitions(operations: readonly Operation[]): readonly Tool[] {
  const exposed = operationsByTool(operations);
  return [...exposed.values()].map((operation) => definitionOf(withReceipt(operation), idsOf(exposed)));
}

const idsOf = (exposed: ReadonlyMap<string, Operation>) => new Set([...exposed.values()].map(({ id }) => id));

/** Leaves only the fields of the receipt in the output of an operation. */
function withReceipt(operation: Operation): Operation {
  if (operation.receipt === undefined) return operation;
  const output = operation.output as TObject;
  return {
    ...operation,
    output: { ...output, properties: picked(output.properties, operation.receipt) } as TObject,
    thirdPartyText: false,
  };
}

function picked<T>(fields: T, names: readonly string[] | undefined): T {
  if (names === undefined) return fields;
  // Fields of an object, so what is left is of the same type.
  return Object.fromEntries(Object.entries(fields as object).filter(([name]) => names.includes(name))) as T;
}

/** The operations that are tools, by the name of the tool. */
export function operationsByTool(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const exposed = operations.filter(({ tool }) => tool);
  return new Map(exposed.map((operation) => [toolName(operation), operation]));
}

export function toolName({ id }: Pick<Operation, 'id'>): string {
  return id.replaceAll('.', '_');
}

/** Marks tools that read third-party text. The server's instructions and each result say how to treat it. */
const WARNING = 'Third-party text.';

const isPaged = ({ input }: Operation) => Object.hasOwn(input.properties, 'limit');

/** The default page size for agents is smaller than for programs. */
export function withPageSize(operation: Operation, input: unknown): unknown {
  if (!isPaged(operation) || typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  return { limit: PAGE_ENTRIES, ...input };
}

/** The input fields that a tool adds to its operation: how much of the result to show. */
function readingOf({ longField, preview }: Operation): TProperties {
  return {
    ...(longField !== undefined && {
      offset: optional(integer(`Reads on in \`${longField}\`: pass \`nextOffset\`.`, { minimum: 0 })),
    }),
    ...(preview !== undefined && {
      picture: optional(boolean('true also shows an image, scaled down.')),
    }),
  };
}

function splitInput(input: unknown, reading: TProperties): { own: Fields; rest: unknown } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { own: {}, rest: input };
  const isOwn = ([name]: [string, unknown]) => Object.hasOwn(reading, name);
  const fields = Object.entries(input);
  return {
    own: Object.fromEntries(fields.filter(isOwn)),
    rest: Object.fromEntries(fields.filter((field) => !isOwn(field))),
  };
}

/** Brief descriptions of parameters that many tools share: the list of tools must fit into a model's context. */
const BRIEF: Readonly<Record<string, string>> = {
  sendAt: 'Such as 2026-07-01T14:00:00+02:00.',
  idempotencyKey: 'Unique; makes repeats safe.',
  events: 'Types such as `message.incoming`, or patterns such as `message.*`.',
  mentions: 'Phone numbers of people to mention.',
  metadata: 'Your own data: texts by key.',
  cursor: 'The last `nextCursor`.',
  limit: `Up to 200; ${PAGE_ENTRIES} by default.`,
};

/** The same for parameters that refer to something. */
const BRIEF_REFERENCES: Partial<Record<Reference, string>> = {
  session: 'If several exist.',
  recipient: 'Phone number (491701234567) or group id (`grp_…`).',
  chat: 'Phone number or group id (`grp_…`).',
  message: 'Id (`msg_…`).',
  group: 'Id (`grp_…`).',
  file: 'Id of a file (`med_…`).',
  delivery: 'Id (`dlv_…`).',
  webhook: 'The default one if left out.',
};

interface ShownSchema extends TSchema {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly anyOf?: unknown;
  readonly 'x-not-for-agents'?: true;
}

type Parts = Readonly<Record<string, ShownSchema>>;

function inputOf({ input, ...operation }: Operation): TObject {
  const isRequired = (name: string) => input.required?.includes(name) === true;
  const shown = Object.entries(input.properties as Parts);
  const properties = shown
    .filter(([, { deprecated, ...schema }]) => deprecated !== true && schema['x-not-for-agents'] === undefined)
    .map(([name, schema]) => {
      const { description = '' } = schema;
      const to = schema.anyOf === undefined ? referenceOf(input, [name]) : undefined;
      const brief =
        to === 'session' && isRequired(name) ? 'Id (`ses_…`).' : (BRIEF[name] ?? (to && BRIEF_REFERENCES[to]));
      // The description of a filter says what it selects, so it stays.
      const isBrief = brief !== undefined && !description.startsWith('Only');
      return [name, isBrief ? { ...schema, description: brief } : withBriefFormat(schema)];
    });
  return { ...input, properties: { ...Object.fromEntries(properties), ...readingOf({ input, ...operation }) } };
}

/** Replaces the format of phone numbers with an example, and leaves out parts that are not for agents. */
function withBriefFormat({ ...schema }: TSchema): TSchema {
  const { description, items, properties }: ShownSchema & { items?: TSchema; properties?: Parts } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).filter(([, part]) => !part['x-not-for-agents'])),
    }),
    ...(description !== undefined && {
      description: description.replace(`. ${PHONE_NUMBER_FORMAT}`, ', such as 491701234567.'),
    }),
    ...(items !== undefined && { items: withBriefFormat(items) }),
  };
}

/** @param ids of the operations that are tools */
function definitionOf(operation: Operation, ids: ReadonlySet<string>): Tool {
  const { summary, description, output, effect, errors } = operation;
  const isRead = effect === 'read';
  return {
    name: toolName(operation),
    title: summary,
    description: [withToolNames(description ?? `${summary}.`, ids), isRead && operation.thirdPartyText && WARNING]
      .filter(Boolean)
      .join(' '),
    inputSchema: without(inputOf(operation), RULES) as Tool['inputSchema'],
    outputSchema: outline(output as Schema) as Tool['outputSchema'],
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: effect === 'destructive',
      idempotentHint: isRepeatable(operation),
      // Operations that send, or that need a connection, reach people beyond this server.
      openWorldHint: !isRead || errors?.includes('session_not_connected') === true,
    },
  };
}

/** Replaces operation ids in a text with tool names. */
function withToolNames(text: string, ids: ReadonlySet<string>): string {
  return text.replace(/`([a-z_.]+)`/g, (word, id: string) => (ids.has(id) ? `\`${toolName({ id })}\`` : word));
}

/** A schema as plain JSON, without some keywords. A property that is named like a keyword stays. */
function without(schema: unknown, keywords: readonly string[], isProperties = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => without(item, keywords));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => isProperties || !keywords.includes(name))
      .map(([name, value]) => [name, without(value, keywords, !isProperties && name === 'properties')]),
  );
}

/** Left out of inputs: descriptions have examples, errors state the rules, and models do not count characters. */
const RULES = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'maxProperties',
  'default',
  'additionalProperties',
  'format',
  'contentEncoding',
];

/**
 * An outline of an output's schema: its fields, and those of the entries of a page. A model needs no validation rules
 * for an output and sees values and optional fields when they are there, so these are left out: the list of all tools
 * must fit into its context.
 */
function outline({ properties = {}, required }: Schema): Schema {
  const members = Object.entries(properties as Record<string, Schema>)
    .filter(([name, member]) => Array.isArray(required) && required.includes(name) && !member['x-not-for-agents'])
    .map(([name, member]) => [name, name === 'data' ? outlineOfPage(member) : outlineOfField(member)]);
  return { type: 'object', properties: Object.fromEntries(members) };
}

function outlineOfPage({ type, items }: Schema): Schema {
  return { type, ...(items !== undefined && { items: outline(items as Schema) }) };
}

/** A union of types instead of a list of them, which fewer clients understand. */
function outlineOfField({ type = 'string', anyOf }: Schema): Schema {
  return Array.isArray(anyOf) ? { anyOf: anyOf.map((one: Schema) => outlineOfField(one)) } : { type };
}
