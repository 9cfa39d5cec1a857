import assert from 'node:assert/strict';
import { operations } from '../../../src/operations/index.ts';

/** The REST request that calls an operation with this input. */
export function requestOf(id: string, input: Record<string, unknown>) {
  const operation = operations.find((one) => one.id === id);
  assert.ok(operation, id);
  const rest = new Map(Object.entries(input));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const fields = Object.fromEntries(rest);
  const isQuery = operation.method === 'GET' || operation.method === 'DELETE';
  const pairs = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
  const query = isQuery ? new URLSearchParams(pairs) : '';
  return {
    method: operation.method,
    path: `${path}${String(query) && `?${query}`}`,
    body: isQuery ? undefined : fields,
  };
}
