import { pythonName } from '../../dashboard/src/pages/reference/pythonName.ts';
import { eventFields } from '../../sdk/src/events.ts';
import { type Api, type ApiOperation, type Field, isNullable } from './api.ts';
import { docstring, literal, PythonTypes, pascal, wrapped } from './pythonTypes.ts';

/*
 * Writes the generated modules of the Python client: `models.py` (types), `events.py` (events and their checks) and
 * `operations.py` (a class per resource with a method per operation).
 */

const HEAD = '# Generated from openapi.json by `npm run generate`. Do not edit.';
const FOLDER = 'clients/python/src/switchboard_client';
/** Written by hand, on top of these classes. */
const EXTENDED = ['events', 'media'];

export function pythonFiles(api: Api): Record<string, string> {
  const types = new PythonTypes(api.schemas);
  const operations = operationsModule(api, types);
  return {
    [`${FOLDER}/models.py`]: modelsModule(api, types),
    [`${FOLDER}/operations.py`]: operations,
    [`${FOLDER}/events.py`]: eventsModule(api),
  };
}

function modelsModule({ errorCodes }: Api, types: PythonTypes): string {
  return [
    HEAD,
    '"""Inputs and outputs of operations. They are plain dictionaries with the field names of the API."""',
    '',
    'from __future__ import annotations',
    '',
    ...datetimeImport(types.source),
    typingImport(`Literal TypedDict ${types.source}`),
    '',
    `ErrorCode = Literal[\n${errorCodes.map((code) => `    "${code}",\n`).join('')}]`,
    '"""Codes of the errors that the server returns."""',
    '',
    '',
    types.source,
  ].join('\n');
}

function eventsModule({ events, schemas }: Api): string {
  const { session = {}, ...added } = schemas['AddedFields']?.properties ?? {};
  // The only added field with a type of its own, which all events share.
  const types = new PythonTypes({ ...schemas, EventSession: session });
  const addedFields = { ...added, session: { $ref: '#/components/schemas/EventSession' } };
  const names = events.map(({ kind, data, description }) => {
    const name = pascal(kind);
    types.typeOf({ ...data, description, properties: { ...addedFields, ...data.properties } }, `${name}Data`);
    return { kind, name };
  });
  const classes = names.map(({ kind, name }) =>
    [
      `class ${name}(TypedDict):`,
      `    """A delivery of \`${kind}\`."""`,
      '',
      `    event: Literal["${kind}"]`,
      `    data: ${name}Data`,
      '',
      '',
      `class Streamed${name}(TypedDict):`,
      `    """The event \`${kind}\` in a stream."""`,
      '',
      '    id: str',
      `    event: Literal["${kind}"]`,
      `    data: ${name}Data`,
      '',
    ].join('\n'),
  );
  const union = (prefix: string) => names.map(({ name }) => `    ${prefix}${name},\n`).join('');
  return [
    HEAD,
    '"""The events, and the checks of their fields when a delivery is parsed."""',
    '',
    'from __future__ import annotations',
    '',
    typingImport(`Any Literal TypedDict Union ${types.source}`),
    '',
    '',
    types.source,
    '',
    classes.join('\n\n'),
    '',
    `EventKind = Literal[\n${names.map(({ kind }) => `    "${kind}",\n`).join('')}]`,
    '"""All event types."""',
    '',
    `KnownEvent = Union[\n${union('')}]`,
    '"""The event of a delivery, discriminated by `event`."""',
    '',
    `StreamedEvent = Union[\n${union('Streamed')}]`,
    '"""An event of the stream, discriminated by `event`."""',
    '',
    '# The type of each field. A `?` marks a field that may be missing.',
    `EVENT_FIELDS: dict[str, dict[str, Any]] = ${checksOf(eventFields, '')}`,
    '',
  ].join('\n');
}

/** Imports the names of `typing` that the code uses. */
function typingImport(code: string): string {
  const names = ['Any', 'Literal', 'Optional', 'TypedDict', 'Union'];
  return `from typing import ${names.filter((name) => new RegExp(`\\b${name}\\b`).test(code)).join(', ')}`;
}

function datetimeImport(code: string): string[] {
  return /\bdatetime\b/.test(code) ? ['from datetime import datetime'] : [];
}

function checksOf(value: unknown, indent: string): string {
  if (typeof value === 'string') return `"${value}"`;
  if (Array.isArray(value)) return `[${value.map((one) => checksOf(one, indent)).join(', ')}]`;
  const entries = Object.entries(value as object).map(
    ([name, inner]) => `${indent}    "${name}": ${checksOf(inner, `${indent}    `)},\n`,
  );
  return `{\n${entries.join('')}${indent}}`;
}

interface Resource {
  readonly name: string;
  readonly operations: ApiOperation[];
  readonly children: Map<string, Resource>;
}

function operationsModule(api: Api, types: PythonTypes): string {
  const root: Resource = { name: '', operations: [], children: new Map() };
  for (const operation of api.operations) {
    const resource = operation.id.split('.').slice(0, -1).reduce(childOf, root);
    if (!operation.takesContent) resource.operations.push(operation);
    else types.typeOf(operation.output, `${pascal(operation.id)}Result`);
  }
  const about = (name: string) => api.tags.find((tag) => tag.name === name)?.description;
  const classes = [...root.children.values()].flatMap((resource) => resourceClasses(resource, types, about));
  const own = [...root.children.values()].filter(({ name }) => !EXTENDED.includes(name));
  const source = classes.join('\n\n');
  const imported = types.names.filter((name) => new RegExp(`\\b${name}\\b`).test(source)).sort();
  return [
    HEAD,
    '"""The operations of the API, with a class for each resource."""',
    '',
    'from __future__ import annotations',
    '',
    'from collections.abc import Iterator, Mapping, Sequence',
    ...datetimeImport(source),
    typingImport(source),
    '',
    'from ._transport import UNSET, Transport, Unset, quote',
    `from .models import (\n${imported.map((name) => `    ${name},\n`).join('')})`,
    '',
    '',
    source,
    '',
    'class Resources:',
    '    """The resources of the API."""',
    '',
    '    def __init__(self, transport: Transport) -> None:',
    ...own.map(({ name }) => `        self.${pythonName(name)} = ${pascal(name)}Resource(transport)`),
    '',
  ].join('\n');
}

function childOf(parent: Resource, name: string): Resource {
  const known = parent.children.get(name);
  if (known !== undefined) return known;
  const child = { name: parent.name === '' ? name : `${parent.name}.${name}`, operations: [], children: new Map() };
  parent.children.set(name, child);
  return child;
}

function resourceClasses(
  resource: Resource,
  types: PythonTypes,
  about: (name: string) => string | undefined,
): string[] {
  const { name, operations, children } = resource;
  const inner = [...children.values()];
  return [
    ...inner.flatMap((child) => resourceClasses(child, types, about)),
    [
      `class ${pascal(name)}Resource:`,
      docstring(about(name) ?? `Operations of \`${name}\`.`, '    '),
      '',
      '    def __init__(self, transport: Transport) -> None:',
      '        self._transport = transport',
      ...inner.map(
        (child) =>
          `        self.${pythonName(child.name.split('.').at(-1) ?? '')} = ${pascal(child.name)}Resource(transport)`,
      ),
      '',
      operations.map((operation) => methods(operation, types)).join('\n'),
    ].join('\n'),
  ];
}

function methods(operation: ApiOperation, types: PythonTypes): string {
  const name = pythonName(operation.id.split('.').at(-1) ?? '');
  const parameters = parametersOf(operation, types);
  const result = types.typeOf(operation.output, `${pascal(operation.id)}Result`);
  const isPaged = operation.inQuery.some((field) => field.name === 'cursor');
  return [
    method(name, parameters, result, docOf(operation, parameters), callOf(operation, result, parameters)),
    ...(isPaged ? [pagesMethod(operation, name, parameters, types)] : []),
  ].join('\n');
}

/** Iterates over all pages of a list. */
function pagesMethod(operation: ApiOperation, name: string, all: readonly Parameter[], types: PythonTypes): string {
  const parameters = all.filter(({ field }) => field !== 'cursor');
  const item = types.typeOf(operation.output.properties?.['data']?.items ?? {}, `${pascal(operation.id)}ResultData`);
  const given = parameters.map(({ python, isInPath }) => (isInPath ? python : `${python}=${python}`));
  const body = [
    '        cursor: Optional[str] = None',
    '        while True:',
    `            page = self.${name}(${[...given, 'cursor=cursor'].join(', ')})`,
    '            yield from page["data"]',
    '            cursor = page["nextCursor"]',
    '            if cursor is None:',
    '                return',
    '',
  ];
  const about = docstring(`Iterate over all pages of \`${name}\`, and request each when it is needed.`, '        ');
  return method(`${name}_all`, parameters, `Iterator[${item}]`, about, body);
}

interface Parameter {
  /** Its name in the API. */
  readonly field: string;
  readonly python: string;
  /** With its type and default. */
  readonly declaration: string;
  readonly isInPath: boolean;
  readonly about: string | undefined;
}

function parametersOf(operation: ApiOperation, types: PythonTypes): Parameter[] {
  const { inPath, inQuery, inBody, idempotent, id } = operation;
  // The header does the same for every operation, so the field of some is left out.
  const rest = [...inQuery, ...inBody].filter(({ name }) => !(idempotent && name === 'idempotencyKey'));
  const named = [...rest.filter(({ isRequired }) => isRequired), ...rest.filter(({ isRequired }) => !isRequired)];
  return [
    ...inPath.map((field) => parameterOf(field, id, types, true)),
    ...named.map((field) => parameterOf(field, id, types, false)),
    ...(idempotent
      ? [
          {
            field: 'Idempotency-Key',
            python: 'idempotency_key',
            declaration: 'idempotency_key: Optional[str] = None',
            isInPath: false,
            about: 'Replaces the key that the client generates.',
          },
        ]
      : []),
  ];
}

function parameterOf(
  { name, schema, isRequired }: Field,
  id: string,
  types: PythonTypes,
  isInPath: boolean,
): Parameter {
  const python = pythonName(name);
  const type = inputType(types.inputOf(schema, `${pascal(id)}${pascal(name)}`));
  const nullable = isNullable(schema);
  const declared = isRequired
    ? `${python}: ${type}`
    : nullable
      ? `${python}: Union[${type}, Unset] = UNSET`
      : `${python}: Optional[${type}] = None`;
  const { description, deprecated = false } = schema;
  const about = deprecated ? `Deprecated. ${description ?? ''}` : description;
  return { field: name, python, declaration: declared, isInPath, about };
}

/** Accepts any sequence and mapping. Inside a class, `list` would be its method. */
function inputType(type: string): string {
  return type.replaceAll(/\blist\[/g, 'Sequence[').replaceAll(/\bdict\[/g, 'Mapping[');
}

function method(
  name: string,
  parameters: readonly Parameter[],
  result: string,
  about: string,
  body: readonly string[],
): string {
  const inPath = parameters.filter(({ isInPath }) => isInPath);
  const named = parameters.filter(({ isInPath }) => !isInPath);
  const lines = [...inPath, ...(named.length > 0 ? [undefined] : []), ...named].map(
    (parameter) => `        ${parameter?.declaration ?? '*'},\n`,
  );
  const head =
    lines.length === 0
      ? `    def ${name}(self) -> ${result}:`
      : `    def ${name}(\n        self,\n${lines.join('')}    ) -> ${result}:`;
  return [head, about, ...body].join('\n');
}

function docOf({ summary, description }: ApiOperation, parameters: readonly Parameter[]): string {
  const documented = parameters.flatMap(({ python, about }) => {
    if (about === undefined) return [];
    const [first = '', ...rest] = wrapped(`:param ${python}: ${about.replaceAll('\n', ' ')}`, 84);
    return [first, ...rest.map((line) => `\u00a0   ${line}`)];
  });
  const sentence = /[.!?]$/.test(summary) ? summary : `${summary}.`;
  const paragraphs = [sentence, description].filter((text) => text !== '');
  const text = [paragraphs.join('\n\n'), documented.join('\n')].filter((part) => part !== '').join('\n\n');
  return docstring(text, '        ').replaceAll('\u00a0', ' ');
}

function callOf(operation: ApiOperation, result: string, parameters: readonly Parameter[]): string[] {
  const { method, path, inPath, inQuery, inBody, isRead, idempotent } = operation;
  const names = new Set(parameters.map(({ field }) => field));
  const filled = inPath.reduce(
    (text, { name }) => text.replace(`{${name}}`, `{quote(${pythonName(name)})}`),
    path.replace('/api/v1', ''),
  );
  const dict = (fields: readonly Field[]) =>
    fields
      .filter(({ name }) => names.has(name))
      .map((field) => {
        const value = pythonName(field.name);
        // None leaves an optional field out, and sets one that can be null.
        const given = field.isRequired || isNullable(field.schema) ? value : `UNSET if ${value} is None else ${value}`;
        return `                "${field.name}": ${given},\n`;
      })
      .join('');
  const part = (name: string, fields: readonly Field[]) =>
    fields.length === 0 ? [] : [`            ${name}={\n${dict(fields)}            },`];
  const isSent = method !== 'GET' && method !== 'DELETE';
  return [
    `        result: ${result} = self._transport.call(`,
    `            ${literal(method)},`,
    `            ${inPath.length > 0 ? 'f' : ''}${literal(filled)},`,
    ...part('query', inQuery),
    ...(inBody.length > 0 ? part('body', inBody) : isSent ? ['            body={},'] : []),
    ...(idempotent ? ['            idempotent=True,', '            idempotency_key=idempotency_key,'] : []),
    ...(isRead ? ['            repeatable=True,'] : []),
    '        )',
    '        return result',
    '',
  ];
}
