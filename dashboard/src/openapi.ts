import { queryOptions } from '@tanstack/react-query';
import { apiFetch } from './api.ts';
import type { Schema } from './schema.ts';

type Paths = Readonly<Record<string, Readonly<Record<string, Described<Response | Shared>>>>>;

/** The part of OpenAPI 3.1 that `openapi.json` uses. */
interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly webhooks: Paths;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

/** The document itself refers to the responses that operations share. */
interface Shared {
  readonly $ref: string;
}

interface Described<R = Response> {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  /** Empty if the operation needs no credential. */
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, R>>;
  /** `destructive` overwrites or removes data. Paths that are not operations have none. */
  readonly 'x-effect'?: 'read' | 'write' | 'destructive';
  readonly 'x-permission'?: string;
  readonly 'x-permission-without-content'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

/** An operation of the API with its method and path. */
export interface Operation extends Described {
  readonly method: string;
  readonly path: string;
  /** A key needs one of these. Empty if none is needed, or if keys are not accepted. */
  readonly permissions: readonly string[];
}

export interface Reference {
  readonly info: Document['info'];
  readonly tags: Document['tags'];
  readonly operations: readonly Operation[];
  /** The requests that webhooks receive. Their paths are the event types. */
  readonly events: readonly Operation[];
  readonly components: Document['components'];
}

/** The server's own description of its API. */
export const referenceQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async (): Promise<Reference> => {
    const { info, tags, paths, webhooks, components } = (await (await apiFetch('/openapi.json')).json()) as Document; // served by this version of the server
    const operationsIn = (part: Paths) => operationsOf(part, components);
    return { info, tags, operations: operationsIn(paths), events: operationsIn(webhooks), components };
  },
  staleTime: Number.POSITIVE_INFINITY,
});

function operationsOf(paths: Paths, { responses }: Document['components']): readonly Operation[] {
  const resolve = (response: Response | Shared): Response =>
    '$ref' in response ? (responses[response.$ref.split('/').at(-1) ?? ''] ?? { description: '' }) : response;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
      responses: Object.fromEntries(
        Object.entries(described.responses).map(([status, response]) => [status, resolve(response)]),
      ),
      permissions: [described['x-permission'], described['x-permission-without-content']].filter(
        (permission) => permission !== undefined,
      ),
    })),
  );
}
