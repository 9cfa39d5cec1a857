import { createHash } from 'node:crypto';
import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeParameterResourceLocator,
  type NodeApiError,
  NodeOperationError,
} from 'n8n-workflow';
import { type ApiRequest, callApi, foreignResponse, listAll, type Page, readPage } from './transport.ts';
import { booleanOf, choiceOf, numberOf, textOf } from './values.ts';

/** One run of an operation for one item: its parameters, and calls of the API on its behalf. */
export class ItemCall {
  readonly execution: IExecuteFunctions;
  readonly itemIndex: number;

  constructor(execution: IExecuteFunctions, itemIndex: number) {
    this.execution = execution;
    this.itemIndex = itemIndex;
  }

  /** A parameter, as the description of the node types it. */
  param<T>(name: string, fallback?: T): T {
    return this.execution.getNodeParameter(name, this.itemIndex, fallback) as T;
  }

  /** Returns the trimmed text of a parameter, or undefined if it is empty. */
  text(name: string): string | undefined {
    const text = textOf(this.param<unknown>(name, '')).trim();
    return text === '' ? undefined : text;
  }

  /** Returns the message text as it was entered. @throws {NodeOperationError} if it is empty */
  message(): string {
    const text = textOf(this.param<unknown>('message', ''));
    if (text === '') throw this.error('"Text" is required');
    return text;
  }

  /** Returns a boolean, or undefined for an empty value. @throws {NodeOperationError} for anything else */
  boolean(value: unknown, label: string): boolean | undefined {
    const boolean = booleanOf(value);
    if (boolean === null) throw this.error(`"${label}" must be true or false`);
    return boolean;
  }

  /** Returns a number, or undefined for an empty value. @throws {NodeOperationError} for anything else */
  number(value: unknown, label: string): number | undefined {
    const number = numberOf(value);
    if (number === null) throw this.error(`"${label}" must be a number`);
    return number;
  }

  /**
   * Returns the chosen option of a parameter. The first is the default of one that is not shown.
   * @throws {NodeOperationError} for any other value, which an expression can return
   */
  choice<T extends string>(name: string, label: string, choices: readonly [T, ...T[]]): T {
    const choice = choiceOf(this.param<unknown>(name, choices[0]), choices);
    if (choice === null) throw this.error(`"${label}" must be one of: ${choices.join(', ')}`);
    return choice;
  }

  /** Returns the value of a resource locator, or undefined if none is chosen. */
  locator(name: string): string | undefined {
    const chosen = this.param<INodeParameterResourceLocator | string | null>(name, '');
    const value = textOf(
      typeof chosen === 'object' && chosen !== null && 'value' in chosen ? chosen.value : chosen,
    ).trim();
    return value === '' ? undefined : value;
  }

  /** @throws {NodeOperationError} if none is chosen */
  required(name: string, label: string): string {
    const value = this.locator(name);
    if (value === undefined) throw this.error(`"${label}" is required`);
    return value;
  }

  /** Returns the entries of a parameter that is a list, or a text with commas or line breaks. */
  list(name: string): string[] {
    return entriesOf(this.param<unknown>(name, []));
  }

  get session(): IDataObject {
    const sessionId = this.locator('sessionId');
    return sessionId === undefined ? {} : { sessionId };
  }

  call<T = IDataObject>(request: ApiRequest): Promise<T> {
    return callApi<T>(this.execution, { ...request, itemIndex: this.itemIndex });
  }

  page<T>(request: ApiRequest): Promise<Page<T>> {
    return readPage<T>(this.execution, { ...request, itemIndex: this.itemIndex });
  }

  listAll(path: string, query: IDataObject): Promise<IDataObject[]> {
    const isUnlimited = this.boolean(this.param('returnAll', false), 'Return All') ?? false;
    const limit = isUnlimited ? MAX_ENTRIES : (this.number(this.param('limit', 50), 'Limit') ?? 50);
    return listAll(this.execution, path, query, limit, this.itemIndex).then((entries) => {
      if (isUnlimited && entries.length === MAX_ENTRIES) {
        throw this.error(`The list has more than ${MAX_ENTRIES} entries. Narrow it with filters, or set a limit.`);
      }
      return entries;
    });
  }

  /**
   * Returns a key that lets the server recognize a repeated request, as a node with "Retry On Fail" sends it. A loop
   * runs a node several times in an execution, so the key includes the run. Calls by an agent can share a run, so there
   * it includes the request.
   */
  idempotencyKey(request: unknown): string {
    const { execution } = this;
    const run = String(execution.evaluateExpression('{{ $runIndex }}', this.itemIndex) ?? 0);
    const parts = [execution.getInstanceId(), execution.getExecutionId(), execution.getNode().id, run, this.itemIndex];
    if (execution.isToolExecution?.() === true) parts.push(JSON.stringify(request));
    return `n8n-${createHash('sha256').update(parts.join('\n')).digest('hex')}`;
  }

  foreignResponse(): NodeApiError {
    return foreignResponse(this.execution.getNode(), this.itemIndex);
  }

  error(message: string, description?: string): NodeOperationError {
    return new NodeOperationError(this.execution.getNode(), message, {
      itemIndex: this.itemIndex,
      ...(description !== undefined && { description }),
    });
  }
}

/** Bounds "Return All", because n8n keeps all items of an execution in memory. */
const MAX_ENTRIES = 10_000;

export function entriesOf(value: unknown): string[] {
  const entries = Array.isArray(value) ? value : textOf(value).split(/[,\n]/);
  return entries.map((entry) => textOf(entry).trim()).filter((entry) => entry !== '');
}

/** Drops fields without a value, which the API would reject. */
export function present(fields: IDataObject): IDataObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** The result of an operation for one item. */
export type Output = IDataObject | IDataObject[] | INodeExecutionData;

export type Operation = (item: ItemCall) => Promise<Output>;
