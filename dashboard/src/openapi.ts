import { queryOptions } from '@tanstack/react-query';
import { apiFetch } from './api.ts';
import type { Schema } from './schema.ts';

/** As much of OpenAPI 3.1 as `openapi.json` of the server uses. */
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  /** Empty where no credential is needed. */
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Response>>;
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

/** One operation of the API, with where it is. */
export interface Operation extends Described {
  readonly method: string;
  readonly path: string;
  /** Of these a key needs one; empty where none is needed, or where no key will do. */
  readonly permissions: readonly string[];
}

export interface Reference {
  readonly tags: Document['tags'];
  readonly operations: readonly Operation[];
  /** What is sent to webhooks; their paths are the kinds of events. */
  readonly events: readonly Operation[];
  readonly components: Document['components'];
}

/** The description of the API that the server itself gives. */
export const referenceQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async (): Promise<Reference> => {
    const { tags, paths, webhooks, components } = (await (await apiFetch('/openapi.json')).json()) as Document; // our server's own, of this version
    return { tags, operations: operationsOf(paths), events: operationsOf(webhooks), components };
  },
  staleTime: Number.POSITIVE_INFINITY,
});

function operationsOf(paths: Document['paths']): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
      permissions: [described['x-permission'], described['x-permission-without-content']].filter(
        (permission) => permission !== undefined,
      ),
    })),
  );
}
