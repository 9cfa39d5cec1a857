import { routes } from '@switchboard/sdk/api';
import type { Operation } from '../../openapi.ts';
import { shellQuote } from '../../shellQuote.ts';
import { pythonName } from './pythonName.ts';

/** Builds an example request that runs as it is: with curl, and with the clients if they have a method for it. */
export function exampleCode(
  operation: Operation,
  origin: string,
): readonly { readonly name: string; readonly code: string }[] {
  const curl = { name: 'curl', code: curlCode(operation, origin) };
  const input = clientInput(operation);
  if (input === undefined) return [curl];
  return [
    curl,
    { name: 'TypeScript', code: typeScriptCode(operation, input, origin) },
    { name: 'Python', code: pythonCode(operation, input, origin) },
  ];
}

/** Longer lines are hidden in part beside the details of an operation. */
const MAX_LINE = 45;

function curlCode(operation: Operation, origin: string): string {
  const { method, path, parameters = [], requestBody, responses } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters.find((one) => one.name === name)?.example ?? name)),
  );
  const query = new URLSearchParams(
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map((one): [string, string] => [one.name, String(one.example)]),
  );
  const server = responses['101'] === undefined ? origin : origin.replace(/^http/, 'ws');
  const url = `${server}${filled}${query.size > 0 ? `?${query}` : ''}`;
  const body = requestBody?.content['application/json'];
  const isFile = requestBody !== undefined && body === undefined;
  const [start, address] = [`curl${method === 'GET' ? '' : ` -X ${method}`}`, shellQuote(url)];
  return [
    ...(start.length + address.length > MAX_LINE ? [start, address] : [`${start} ${address}`]),
    ...(needsNoCredential(operation) ? [] : ['-H "Authorization: Bearer $SWITCHBOARD_KEY"']),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${shellQuote(JSON.stringify(body.example ?? {}))}`]),
    ...(isFile ? ['--data-binary @picture.png'] : []),
  ].join(' \\\n  ');
}

type Input = Readonly<Record<string, unknown>>;

/** The fields of the path, the query and the body: the clients take them together. */
function clientInput({ operationId, parameters = [], requestBody }: Operation): Input | undefined {
  const route = Object.entries(routes).find(([id]) => id === operationId)?.[1];
  if (route === undefined || route.takesContent) return undefined;
  return {
    ...Object.fromEntries(
      parameters
        .filter((one) => one.in === 'path' || (one.in === 'query' && one.required))
        .map((one) => [one.name, one.example]),
    ),
    ...(requestBody?.content['application/json']?.example as object | undefined), // every body is an object
  };
}

function typeScriptCode(operation: Operation, input: Input, origin: string): string {
  const name = operation.operationId.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fields = Object.keys(input).length > 0 ? JSON.stringify(input, null, 2) : '';
  const credential = needsNoCredential(operation) ? '' : ', credential: process.env.SWITCHBOARD_KEY';
  return `import { createClient } from '@switchboard/sdk';

const sb = createClient({ baseUrl: '${origin}'${credential} });
console.log(await sb.${name}(${withoutNeedlessQuotes(fields)}));`;
}

function pythonCode(operation: Operation, input: Input, origin: string): string {
  const fields = Object.entries(input).map(
    ([name, value]) => `        ${pythonName(name)}=${pythonValue(value, 2)},\n`,
  );
  const credential = needsNoCredential(operation) ? '' : ', os.environ["SWITCHBOARD_KEY"]';
  const method = operation.operationId.split('.').map(pythonName).join('.');
  const call = `client.${method}(${fields.length > 0 ? `\n${fields.join('')}    ` : ''})`;
  return `${credential && 'import os\n'}from switchboard_client import Client

with Client("${origin}"${credential}) as client:
    result = ${call}
    print(result)`;
}

/** Formats a value as Python. JSON strings and numbers are also those of Python. */
function pythonValue(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inside = '    '.repeat(depth + 1);
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([name, entry]) => `${inside}${isList ? '' : `${JSON.stringify(name)}: `}${pythonValue(entry, depth + 1)},\n`,
  );
  const [open, shut] = isList ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? open + shut : `${open}\n${lines.join('')}${'    '.repeat(depth)}${shut}`;
}

const needsNoCredential = ({ security }: Operation) => security?.length === 0;

/** Formats JSON as TypeScript, without the quotes of names. */
const withoutNeedlessQuotes = (json: string) => json.replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
