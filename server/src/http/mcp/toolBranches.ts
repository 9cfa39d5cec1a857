import type { TProperties, TSchema } from 'typebox';
import { invalidField } from '../../errors.ts';
import { list, object, oneOf, optional } from '../../invoke/input/fields.ts';
import { validator } from '../../invoke/input/validate.ts';
import type { Operation } from '../../invoke/operation.ts';
import { type Fields, isFields } from '../../objects.ts';
import { additions, type Branch, type Extra, isEmpty, isFalse, without } from './branchTable.ts';

export interface Taken {
  readonly branch: Branch;
  readonly operation: Operation;
  readonly input: Fields;
}

type IsPermitted = (operation: Operation) => boolean;

/** Field of the tool that takes a branch. */
export const selectorOf = ({ by, fields }: Branch): string => by ?? Object.keys(fields)[0] ?? '';

/** The operations of a tool apart from its own. */
export class ToolBranches {
  readonly #branches: readonly { readonly branch: Branch; readonly operation: Operation }[];
  readonly #extras: ReadonlyMap<string, { readonly extra: Extra; readonly operation: Operation }>;
  /** Required fields that a branch replaces. */
  readonly replaced: readonly string[];
  /** Added to the description of the tool; empty for none. */
  readonly about: string;

  constructor(id: string, operations: readonly Operation[]) {
    const { branches = [], replaced = [], about = '', extras = {} } = additions[id] ?? {};
    const named = (wanted: string) => {
      const operation = operations.find((one) => one.id === wanted);
      if (operation === undefined) throw new Error(`The tool of ${id} has a branch to ${wanted}, which does not exist`);
      return operation;
    };
    this.#branches = branches.map((branch) => ({ branch, operation: named(branch.becomes) }));
    this.#extras = new Map(
      Object.entries(extras).map(([name, extra]) => [name, { extra, operation: named(extra.reads) }]),
    );
    this.replaced = replaced;
    this.about = about;
  }

  get operations(): readonly Operation[] {
    return [...this.#branches, ...this.#extras.values()].map(({ operation }) => operation);
  }

  /** The permitted operations that calls can become. */
  becoming(isPermitted: IsPermitted): readonly Operation[] {
    return this.#permitted(isPermitted).map(({ operation }) => operation);
  }

  /** The fields of the branches, of those that are permitted. */
  fields(isPermitted: IsPermitted = () => true): TProperties {
    const names = [...this.#extras].filter(([, { operation }]) => isPermitted(operation)).map(([name]) => name);
    return {
      ...Object.assign({}, ...this.#permitted(isPermitted).map(({ branch }) => branch.fields)),
      ...(names.length > 0 && { include: optional(list(oneOf(names), 'Adds these to the result.')) }),
    };
  }

  /** Fields of the tool's operation, with the values that take a permitted branch. */
  widened(properties: TProperties, isPermitted: IsPermitted = () => true): TProperties {
    const wider: Record<string, Widened> = {};
    for (const { branch } of this.#permitted(isPermitted)) {
      const name = selectorOf(branch);
      const field: Widened | undefined = wider[name] ?? properties[name];
      if (field === undefined || typeof branch.value !== 'string') continue;
      wider[name] = {
        ...field,
        ...(field.enum !== undefined && { enum: [...field.enum, branch.value] }),
        ...(branch.hint !== undefined && { description: `${field.description ?? ''} ${branch.hint}`.trim() }),
      };
    }
    return wider;
  }

  /**
   * Reduces the input of the tool to permitted branches, for a caller who may not use the tool's own operation.
   * @param properties of the whole tool
   */
  reduced(properties: Readonly<Record<string, TSchema>>, isPermitted: IsPermitted) {
    const shown = this.#permitted(isPermitted);
    const ways = shown.map(({ branch, operation: { input } }) => {
      const toolName = (name: string) => (branch.names?.[name] ?? name).split('.')[0] ?? name;
      const required: readonly string[] = input.required ?? [];
      return {
        names: [selectorOf(branch), ...Object.keys(branch.fields), ...Object.keys(input.properties).map(toolName)],
        required: [...required.map(toolName), ...(Object.keys(branch.fields).length > 1 ? [] : [selectorOf(branch)])],
      };
    });
    const isShown = (name: string) => ways.some(({ names }) => names.includes(name));
    const values = Map.groupBy(shown, ({ branch }) => selectorOf(branch));
    const fields = Object.entries(properties).filter(([name]) => isShown(name));
    return {
      required: Object.keys(properties).filter((name) => ways.every(({ required }) => required.includes(name))),
      properties: Object.fromEntries(
        fields.map(([name, field]) => {
          const branches = values.get(name)?.map(({ branch }) => branch) ?? [];
          // The field of a branch has its values already.
          if (branches.length === 0 || branches.some(({ fields }) => name in fields)) return [name, field];
          return [name, { type: 'string', enum: branches.map(({ value }) => value) }];
        }),
      ),
    };
  }

  get hasExtras(): boolean {
    return this.#extras.size > 0;
  }

  /** The operation that a call becomes, and its input. Undefined if it stays the tool's own. */
  take(input: unknown): Taken | undefined {
    if (!isFields(input)) return undefined;
    const used = this.withoutUnused(input);
    for (const { branch, operation } of this.#branches)
      if (takes(branch, used))
        return { branch, operation, input: withoutIdle(inputOf(branch, used, operation), operation) };
    return undefined;
  }

  /**
   * Validates the fields of a branch that its operation sees in another form.
   * @throws {AppError} `validation_failed` in the tool's terms
   */
  validate({ fields, names, inputOf }: Branch, input: Fields): void {
    if (names === undefined && inputOf === undefined) return;
    const own = Object.entries(input).filter(([name]) => name in fields);
    validator(object(fields))(Object.fromEntries(own.map(([name, value]) => [name, withoutNulls(value)])));
  }

  /** Fields that take a permitted branch, each once. */
  selectors(isPermitted: IsPermitted): readonly string[] {
    return [
      ...new Set(this.#permitted(isPermitted).flatMap(({ branch: { by, fields } }) => by ?? Object.keys(fields))),
    ];
  }

  /** Values of a field that take a branch. */
  valuesOf(name: string): readonly (string | boolean)[] {
    return this.#branches.flatMap(({ branch }) =>
      selectorOf(branch) === name && branch.value !== undefined ? [branch.value] : [],
    );
  }

  /** Removes fields of branches whose value selects nothing. */
  withoutUnused<Input>(input: Input): Input {
    if (!isFields(input)) return input;
    const unused = this.#branches.flatMap(({ branch: { fields, ignores } }) =>
      Object.keys(fields).filter((name) => input[name] === null || ignores?.(input[name], input)),
    );
    return unused.length === 0 ? input : (without(input, ...unused) as Input);
  }

  /** @throws {AppError} `validation_failed` for a name that this tool cannot add */
  requireExtras(include: unknown): void {
    if (include === undefined) return;
    const names = Array.isArray(include) ? include : [include];
    if (names.every((name) => this.#extras.has(String(name)))) return;
    throw invalidField('include', `must be some of ${[...this.#extras.keys()].join(', ')}`, 'enum');
  }

  /** Additions to the output of a call, by name. */
  extrasOf(include: unknown): (readonly [name: string, operation: Operation, extra: Extra])[] {
    if (!Array.isArray(include)) return [];
    return [...this.#extras]
      .filter(([name]) => include.includes(name))
      .map(([name, { operation, extra }]) => [name, operation, extra] as const);
  }

  #permitted(isPermitted: IsPermitted) {
    return this.#branches.filter(({ operation }) => isPermitted(operation));
  }
}

interface Widened extends TSchema {
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

function takes(branch: Branch, input: Fields): boolean {
  if (branch.value !== undefined) return input[selectorOf(branch)] === branch.value;
  return Object.keys(branch.fields).some((name) => input[name] !== undefined);
}

function inputOf(branch: Branch, given: Fields, { input: { properties } }: Operation): Fields {
  if (branch.inputOf !== undefined) return branch.inputOf(given);
  const selector = selectorOf(branch);
  const isSelecting = branch.value !== undefined && !(selector in properties);
  const input: Record<string, unknown> = { ...(isSelecting ? without(given, selector) : given) };
  for (const [to, from] of Object.entries(branch.names ?? {})) {
    if (input[from] === undefined) continue;
    input[to] = input[from];
    delete input[from];
  }
  return input;
}

/** Removes fields of an object that a model fills in with null, known or not. */
function withoutNulls(value: unknown): unknown {
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** Removes fields that the operation lacks and that would change nothing. */
function withoutIdle(input: Fields, { input: { properties } }: Operation): Fields {
  const isIdle = (value: unknown) => value === null || isFalse(value) || isEmpty(value);
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => name in properties || !isIdle(value)));
}
