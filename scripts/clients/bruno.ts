import type { Api, ApiOperation, Field } from './api.ts';

/*
 * Writes a collection for Bruno (https://www.usebruno.com): a folder per tag and a file per operation, with the
 * examples of the API. Bruno and other clients import it. The files contain no position (`seq`), so a new operation
 * adds one file and changes no other. Bruno then lists requests as it reads the files.
 */

const FOLDER = 'clients/bruno';

export function brunoFiles(api: Api): Record<string, string> {
  const tags = api.tags.filter(({ name }) => api.operations.some(({ tag }) => tag === name));
  return {
    [`${FOLDER}/bruno.json`]: `${JSON.stringify({ version: '1', name: 'Switchboard', type: 'collection' }, null, 2)}\n`,
    [`${FOLDER}/collection.bru`]: collection,
    [`${FOLDER}/hello.txt`]: 'Hello\n',
    ...Object.fromEntries(
      tags.map(({ name, description }) => [`${FOLDER}/${name}/folder.bru`, folder(name, description)]),
    ),
    ...Object.fromEntries(api.operations.map(requestFile)),
  };
}

/** Environments, which people change. */
export const brunoEnvironments = (): Record<string, string> => ({ [`${FOLDER}/environments/local.bru`]: environment });

const block = (name: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `${name} {\n${lines.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('')}}\n`;

const join = (blocks: readonly string[]) => blocks.filter((text) => text !== '').join('\n');

const collection = join([
  block('auth', ['mode: bearer']),
  block('auth:bearer', ['token: {{credential}}']),
  block('docs', [
    'Choose the environment `local`, and set `credential` to an API key. Or run `auth/register` or `auth/login`: both set it to a login token.',
  ]),
]);

const environment = join([block('vars', ['baseUrl: http://127.0.0.1:8080']), 'vars:secret [\n  credential\n]\n']);

function folder(name: string, description: string): string {
  return join([block('meta', [`name: ${name}`]), block('auth', ['mode: inherit']), block('docs', [description])]);
}

function requestFile(operation: ApiOperation): [string, string] {
  const { id, tag, summary, description, method, path, inPath, inQuery, bodyExample, takesContent } = operation;
  const query = inQuery.filter(({ isRequired }) => isRequired).map(({ name, example }) => `${name}=${text(example)}`);
  const url = `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const body = takesContent ? 'multipartForm' : bodyExample === undefined ? 'none' : 'json';
  const isLogin = operation.output.$ref === '#/components/schemas/Login';
  return [
    `${FOLDER}/${tag}/${id.slice(tag.length + 1).replaceAll(/[._]/g, '-')}.bru`,
    join([
      block('meta', [`name: ${summary.replace(/\.$/, '')}`, 'type: http']),
      block(method.toLowerCase(), [
        `url: ${url}`,
        `body: ${body}`,
        `auth: ${operation.needsCredential ? 'inherit' : 'none'}`,
      ]),
      block(
        'params:query',
        inQuery.map((field) => `${field.isRequired ? '' : '~'}${field.name}: ${text(field.example)}`),
      ),
      block('params:path', inPath.map(parameter)),
      block('body:json', body === 'json' ? JSON.stringify(bodyExample, null, 2).split('\n') : []),
      block('body:multipart-form', body === 'multipartForm' ? ['file: @file(hello.txt)'] : []),
      block('vars:post-response', isLogin ? ['credential: res.body.token'] : []),
      block('docs', description.split('\n')),
    ]),
  ];
}

const parameter = ({ name, example }: Field) => `${name}: ${text(example)}`;

const text = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));
