import type { Operation, Reference } from '../../openapi.ts';
import type { Schema } from '../../schema.ts';
import { referenceStrings } from './strings.ts';

/** A part of the reference that has an address of its own. */
export type Entry =
  | { readonly kind: 'operation' | 'event'; readonly operation: Operation }
  | { readonly kind: 'schema'; readonly name: string; readonly schema: Schema };

/** Entries under a heading of the navigation. */
export interface Section {
  /** Its address on the first page. */
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly entries: readonly Entry[];
}

/** The sections of the navigation: the operations of each tag, the events and the schemas. */
export function sectionsOf({ tags, operations, events, components }: Reference): readonly Section[] {
  return [
    ...tags.map(({ name, description }) => ({
      id: name,
      title: titleOf(name),
      hint: description,
      entries: operations
        .filter((operation) => operation.tags[0] === name)
        .map((operation): Entry => ({ kind: 'operation', operation })),
    })),
    {
      id: 'webhook',
      title: referenceStrings.events,
      hint: referenceStrings.eventsHint,
      entries: events.map((operation): Entry => ({ kind: 'event', operation })),
    },
    {
      id: 'schemas',
      title: referenceStrings.schemas,
      hint: referenceStrings.schemasHint,
      entries: Object.entries(components.schemas).map(([name, schema]): Entry => ({ kind: 'schema', name, schema })),
    },
  ];
}

/** The address of an entry, without the `#`. */
export function idOf(entry: Entry): string {
  return entry.kind === 'schema' ? `schemas.${entry.name}` : entry.operation.operationId;
}

/** The name of an entry in the navigation. */
export function nameOf(entry: Entry): string {
  if (entry.kind === 'schema') return entry.name;
  return entry.kind === 'event' ? entry.operation.path : entry.operation.summary;
}

/** Finds the entries that contain every word of the search, and leaves out sections without any. */
export function filterSections(sections: readonly Section[], search: string): readonly Section[] {
  const wanted = search.toLowerCase().split(/\s+/);
  return sections
    .map((section) => ({
      ...section,
      entries: section.entries.filter((entry) => wanted.every((word) => textOf(entry).includes(word))),
    }))
    .filter(({ entries }) => entries.length > 0);
}

function textOf(entry: Entry): string {
  if (entry.kind === 'schema') return entry.name.toLowerCase();
  const { operationId, method, path, summary } = entry.operation;
  return `${operationId} ${method} ${path} ${summary}`.toLowerCase();
}

/** Turns a tag into a heading: `api_keys` is "API keys". */
function titleOf(tag: string): string {
  const title = tag.replaceAll('_', ' ').replace(/^(api|mcp)\b/, (word) => word.toUpperCase());
  return title.charAt(0).toUpperCase() + title.slice(1);
}
