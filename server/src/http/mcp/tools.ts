import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { TObject, TProperties, TSchema } from 'typebox';
import { toProblem } from '../../errors.ts';
import { boolean, integer, object, optional } from '../../invoke/input/fields.ts';
import { PHONE_NUMBER_FORMAT } from '../../invoke/input/phoneNumbers.ts';
import { type Reference, referenceOf } from '../../invoke/input/references.ts';
import { validator } from '../../invoke/input/validate.ts';
import { denialOf, type Invoke, isRepeatable, type Operation } from '../../invoke/operation.ts';
import type { Fields } from '../../objects.ts';
import type { Names } from '../../operations/shared/names.ts';
import { inToolTerms } from './branchErrors.ts';
import { PAGE_ENTRIES, type Schema } from './fit.ts';
import type { Principal } from './mount.ts';
import { failed, type Reading, succeeded } from './results.ts';
import { ToolBranches } from './toolBranches.ts';
import { toolInputReader } from './toolInput.ts';
import { isSelected } from './toolsets.ts';

interface OperationTool {
  readonly operation: Operation;
  /** Other operations that a call can become. */
  readonly branches: ToolBranches;
  /** Definitions by the branches that a caller may take. */
  readonly definitions: Map<string, Tool>;
  /** Converts an input to the values that the model means. */
  readonly readInput: (input: unknown) => unknown;
  /**
   * Removes the fields from an input that only tools have.
   * @throws {AppError} `validation_failed`
   */
  readonly readReading: (input: Fields) => Reading;
}

/** The operations that are tools. Everything about a tool derives from its operation, and calls go through `invoke`. */
export class Tools {
  readonly #tools: ReadonlyMap<string, OperationTool>;
  /** Ids of the operations that are tools. */
  readonly #ids: ReadonlySet<string>;
  readonly #invoke: Invoke;
  readonly #names: Pick<Names, 'addTo'>;

  constructor(operations: readonly Operation[], invoke: Invoke, names: Pick<Names, 'addTo'>) {
    const exposed = operationsByTool(operations);
    this.#ids = idsOf(exposed);
    const tools = [...exposed].map(([name, operation]): [string, OperationTool] => {
      const branches = new ToolBranches(operation.id, operations);
      const reading = readingOf(operation);
      const fields = {
        ...branches.fields(),
        ...operation.input.properties,
        ...reading,
        ...branches.widened(operation.input.properties),
      };
      return [
        name,
        {
          operation,
          branches,
          definitions: new Map(),
          readInput: toolInputReader(object(fields)),
          readReading: validator(object(reading)),
        },
      ];
    });
    this.#tools = new Map(tools);
    this.#invoke = invoke;
    this.#names = names;
  }

  /** The tools that the caller's key permits, of those that the client has asked for. */
  list({ caller, selection }: Principal): Tool[] {
    const isPermitted = permissionsOf(caller);
    return [...this.#tools.values()]
      .filter(({ operation, branches }) => isPermitted(operation) || branches.becoming(isPermitted).length > 0)
      .filter(({ operation }) => isSelected(selection, operation))
      .map((tool) => this.#definition(tool, isPermitted));
  }

  #definition({ operation, branches, definitions }: OperationTool, isPermitted: (one: Operation) => boolean): Tool {
    const isOwnPermitted = isPermitted(operation);
    const permitted = isOwnPermitted ? branches.operations.filter(isPermitted) : branches.becoming(isPermitted);
    const key = [isOwnPermitted, ...permitted.map(({ id }) => id)].join();
    const known = definitions.get(key);
    if (known !== undefined) return known;
    const definition = definitionOf(withReceipt(operation), this.#ids, { branches, permitted, isOwnPermitted });
    definitions.set(key, definition);
    return definition;
  }

  /** The operation that a call runs, and its input. Undefined if there is no such tool. */
  callOf(name: string, input: unknown): { readonly operation: Operation; readonly input: unknown } | undefined {
    const tool = this.#tools.get(name);
    if (tool === undefined) return undefined;
    const given = tool.branches.withoutUnused(tool.readInput(input ?? {}));
    return tool.branches.take(given) ?? { operation: tool.operation, input: given };
  }

  /** Every operation that calls of a tool can run. */
  operationsOf(name: string): readonly Operation[] {
    const tool = this.#tools.get(name);
    return tool === undefined ? [] : [tool.operation, ...tool.branches.operations];
  }

  /** Undefined if there is no such tool. */
  async call(principal: Principal, name: string, input: unknown): Promise<CallToolResult | undefined> {
    const tool = this.#tools.get(name);
    if (tool === undefined || !isSelected(principal.selection, tool.operation)) return undefined;
    const { readInput, readReading, branches } = tool;
    const { own, rest } = splitInput(readInput(input ?? {}), readingOf(tool.operation));
    const { include, rest: stated } = splitInclude(rest, branches);
    const given = branches.withoutUnused(stated);
    const taken = branches.take(given);
    const { operation, input: becoming } = taken ?? { operation: tool.operation, input: given };
    let reading: Reading;
    try {
      reading = readReading(own);
      branches.requireExtras(include);
      if (taken !== undefined) branches.validate(taken.branch, given as Fields);
    } catch (error) {
      return failed(toProblem(error, principal.requestId));
    }
    const answer = await this.#run(principal, operation, becoming);
    if (!answer.ok) {
      const isPermitted = permissionsOf(principal.caller);
      const fields = Object.keys(this.#definition(tool, isPermitted).inputSchema.properties ?? {});
      const terms = { branches, branch: taken?.branch, fields, isPermitted };
      return failed(inToolTerms(answer.problem, terms), answer.retryAfterSeconds);
    }
    const added: Record<string, unknown> = {};
    for (const [part, reads, extra] of branches.extrasOf(include)) {
      const found = await this.#run(principal, reads, extra.inputOf(given as Fields));
      if (!found.ok) return failed(found.problem, found.retryAfterSeconds);
      const output = found.output as Fields;
      added[part] = extra.pick === undefined ? output['data'] : extra.pick(output, answer.output as Fields);
    }
    const shown = withReceipt(operation);
    const output = { ...(picked(answer.output, operation.receipt) as Fields), ...added };
    // A receipt contains nothing that third parties wrote.
    const named = shown.thirdPartyText ? await this.#names.addTo(principal.caller.accountId, output) : output;
    return succeeded(shown, { ...answer, output: named }, reading);
  }

  #run(principal: Principal, operation: Operation, input: unknown) {
    return this.#invoke(operation, { ...principal, input: withPageSize(operation, input), channel: 'mcp' as const });
  }
}

const permissionsOf = (caller: Principal['caller']) => (operation: Operation) =>
  denialOf(operation, caller) === undefined;

/** Splits `include` off, unless the operation has a field of this name. */
function splitInclude(input: unknown, branches: ToolBranches): { include: unknown; rest: unknown } {
  if (!branches.hasExtras || typeof input !== 'object' || input === null) return { include: undefined, rest: input };
  const { include, ...rest } = input as Record<string, unknown>;
  return { include, rest };
}

/** The definitions of all tools, for the documentation. */
export function toolDefinitions(operations: readonly Operation[]): readonly Tool[] {
  const exposed = operationsByTool(operations);
  return [...exposed.values()].map((operation) => {
    const branches = new ToolBranches(operation.id, operations);
    return definitionOf(withReceipt(operation), idsOf(exposed), {
      branches,
      permitted: branches.operations,
      isOwnPermitted: true,
    });
  });
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

/**
 * Brief descriptions of parameters that many tools share: the list of tools must fit into a model's context. Empty for
 * parameters that need none besides their name and format.
 */
const BRIEF: Readonly<Record<string, string>> = {
  sendAt: '',
  idempotencyKey: '',
  events: 'Types such as `message.incoming`, or patterns such as `message.*`.',
  mentions: 'Phone numbers to mention.',
  mentionAll: 'Mention everyone in a group.',
  metadata: 'Your own data: texts by key.',
  url: 'https URL of the file.',
  cursor: 'The last `nextCursor`.',
  limit: `Up to 200; ${PAGE_ENTRIES} by default.`,
};

/** The same for parameters that refer to something. */
const BRIEF_REFERENCES: Partial<Record<Reference, string>> = {
  session: 'If several exist.',
  recipient: 'Phone number or group id (`grp_…`).',
  chat: 'Phone number or group id (`grp_…`).',
  message: 'Id (`msg_…`).',
  group: 'Id (`grp_…`).',
  file: 'Id of a file (`med_…`).',
  delivery: 'Id (`dlv_…`).',
  webhook: 'If not the default one.',
};

interface ShownSchema extends TSchema {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly anyOf?: unknown;
  readonly enum?: readonly string[];
  readonly 'x-not-for-agents'?: true;
}

type Parts = Readonly<Record<string, ShownSchema>>;

function inputOf({ input, ...operation }: Operation, { branches, permitted, isOwnPermitted }: Shown): TObject {
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
      return [name, isBrief ? described(schema, brief) : withBriefFormat(schema)];
    });
  const isPermitted = (one: Operation) => permitted.includes(one);
  const own = Object.fromEntries(properties);
  const added = { ...branches.fields(isPermitted), ...branches.widened(own, isPermitted) };
  const { required = [], ...rest }: { readonly required?: readonly string[] } = input;
  if (!isOwnPermitted) return { ...rest, ...branches.reduced({ ...own, ...added }, isPermitted) } as TObject;
  const needed = permitted.length === 0 ? required : required.filter((name) => !branches.replaced.includes(name));
  return {
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    properties: { ...own, ...added, ...readingOf({ input, ...operation }) },
  } as TObject;
}

function described({ description: _, ...schema }: ShownSchema, brief: string): TSchema {
  return brief === '' ? schema : { ...schema, description: brief };
}

/** An example that the format of the field repeats. */
const TIME_EXAMPLE = ', such as 2026-07-01T12:00:00Z';

/** Leaves out the formats of phone numbers and times, which the server reads in any form, and parts not for agents. */
function withBriefFormat({ ...schema }: TSchema): TSchema {
  const { description, items, properties }: ShownSchema & { items?: TSchema; properties?: Parts } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).filter(([, part]) => !part['x-not-for-agents'])),
    }),
    ...(description !== undefined && {
      description: description
        .replace(`. ${PHONE_NUMBER_FORMAT}`, '.')
        .replace(TIME_EXAMPLE, '')
        .replace(/; up to 30\.$/, '.'),
    }),
    ...(items !== undefined && { items: withBriefFormat(items) }),
  };
}

interface Shown {
  readonly branches: ToolBranches;
  /** The operations of branches that the caller may use. */
  readonly permitted: readonly Operation[];
  /** Whether the caller may use the tool's own operation. */
  readonly isOwnPermitted: boolean;
}

/** @param ids of the operations that are tools */
function definitionOf(operation: Operation, ids: ReadonlySet<string>, shown: Shown): Tool {
  const { summary, description, output } = operation;
  const all = shown.isOwnPermitted ? [operation, ...shown.permitted] : shown.permitted;
  const isRead = all.every(({ effect }) => effect === 'read');
  return {
    name: toolName(operation),
    title: summary,
    description: [
      shown.isOwnPermitted
        ? withToolNames(description ?? `${summary}.`, ids)
        : `Only: ${shown.permitted.map((one) => one.summary).join('; ')}.`,
      shown.isOwnPermitted && shown.permitted.length > 0 && shown.branches.about,
      isRead && operation.thirdPartyText && WARNING,
    ]
      .filter(Boolean)
      .join(' '),
    inputSchema: portable({ ...inputOf(operation, shown) }) as Tool['inputSchema'],
    outputSchema: outline(output as Schema) as Tool['outputSchema'],
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: all.some(({ effect }) => effect === 'destructive'),
      idempotentHint: all.every(isRepeatable),
      // Operations that send, or that need a connection, reach people beyond this server.
      openWorldHint: !isRead || operation.errors?.includes('session_not_connected') === true,
    },
  };
}

/** Replaces operation ids in a text with tool names. */
function withToolNames(text: string, ids: ReadonlySet<string>): string {
  return text.replace(/`([a-z_.]+)`/g, (word, id: string) => (ids.has(id) ? `\`${toolName({ id })}\`` : word));
}

/**
 * A schema as plain JSON, in the part of JSON Schema that models of OpenAI and Gemini take in strict mode: an enum has
 * a type, and an object has named properties. A map or an object of any shape is shown as JSON text, which the reader
 * of inputs parses. Without the rules, except the hints that change what a model writes.
 *
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas and
 * https://ai.google.dev/api/caching#Schema
 */
function portable({ properties, items, anyOf, ...schema }: Schema, name?: string): Schema {
  const kept = Object.entries(schema).filter(([key, value]) => !RULES.includes(key) || isHint(name, key, value));
  const plain: Schema = Object.fromEntries(kept);
  if (schema['type'] === 'object' && Object.keys((properties as object) ?? {}).length === 0 && name !== undefined)
    return { type: 'string', description: `${plain['description'] ?? ''} As JSON.`.trim() };
  return {
    ...(Array.isArray(plain['enum']) && { type: typeof plain['enum'][0] }),
    ...plain,
    ...(properties !== undefined && { properties: portableFields(properties as Record<string, Schema>) }),
    ...(items !== undefined && { items: portable(items as Schema, name) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((one: Schema) => portable(one, name)) }),
  };
}

const portableFields = (fields: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, portable(schema, name)]));

/** The form of a time, and the longest wait. */
const isHint = (name: string | undefined, key: string, value: unknown): boolean =>
  (key === 'format' && value === 'date-time') || (key === 'maximum' && name === 'wait');

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
  'patternProperties',
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
