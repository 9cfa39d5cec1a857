import { counted } from './format.ts';

export const referenceStrings = {
  title: 'API reference',
  lead: 'Every operation of this server, generated from openapi.json.',
  document: 'openapi.json',
  interactive: 'Open Swagger UI',
  errors: 'All errors',
  search: 'Search operations',
  searchHint: 'By name, path or summary.',
  none: 'No operations match',
  noneHint: 'Search for another word.',
  count: (count: number, all: number) =>
    count === all ? counted(all, 'operation') : `${count} of ${counted(all, 'operation')}`,
  events: 'Webhook events',
  eventsHint: 'Requests that your webhooks receive.',

  example: 'Example',
  examples: 'Example request',
  parameters: 'Parameters',
  body: 'Body',
  responses: 'Responses',
  response: (status: string) => `Response ${status}`,
  exampleOf: (what: string) => `Example: ${what}`,
  errorResponses: 'Errors',
  required: 'required',
  places: { path: 'in path', query: 'in query', header: 'header' } as Readonly<Record<string, string>>,
  fields: 'Fields',
  range: (minimum: number | undefined, maximum: number | undefined) =>
    minimum === undefined ? `up to ${maximum}` : maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`,
  length: (range: string) => `${range} characters`,
  items: (range: string) => `${range} items`,
  byDefault: (value: string) => `default ${value}`,
} as const;
