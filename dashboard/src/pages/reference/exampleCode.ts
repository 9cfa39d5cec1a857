import { routes } from '@switchboard/sdk/api';
import type { Operation } from '../../openapi.ts';
import { shellQuote } from '../../shellQuote.ts';

/** Builds an example request that runs as it is: with curl, and with the SDK if it has a method for it. */
export function exampleCode(
  operation: Operation,
  origin: string,
): readonly { readonly name: string; readonly code: string }[] {
  const sdk = sdkCode(operation);
  return [
    { name: 'curl', code: curlCode(operation, origin) },
    ...(sdk === undefined ? [] : [{ name: 'TypeScript', code: sdk }]),
  ];
}

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
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${shellQuote(url)}`,
    ...(needsNoCredential(operation) ? [] : ['-H "Authorization: Bearer $SWITCHBOARD_KEY"']),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${shellQuote(JSON.stringify(body.example ?? {}))}`]),
    ...(isFile ? ['--data-binary @picture.png'] : []),
  ].join(' \\\n  ');
}

/** The SDK takes path, query and body in one object. */
function sdkCode({ operationId, parameters = [], requestBody }: Operation): string | undefined {
  const route = Object.entries(routes).find(([id]) => id === operationId)?.[1];
  if (route === undefined || route.takesContent) return undefined;
  const input = {
    ...Object.fromEntries(
      parameters
        .filter((one) => one.in === 'path' || (one.in === 'query' && one.required))
        .map((one) => [one.name, one.example]),
    ),
    ...(requestBody?.content['application/json']?.example as object | undefined), // every body is an object
  };
  const name = operationId.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `await sb.${name}(${Object.keys(input).length > 0 ? literal(input) : ''});`;
}

const needsNoCredential = ({ security }: Operation) => security?.length === 0;

/** Formats an object as TypeScript, without needless quotes. */
const literal = (value: object) => JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
