/* The settings that a person enters in the desktop client. */

export interface BridgeSettings {
  /** The MCP endpoint. */
  readonly url: URL;
  readonly key: string;
}

/** Of a key that is masked. A shorter one cannot be a key, and may be part of other texts. */
const MIN_MASKED_LENGTH = 8;
const MASK = '[API key]';

/** Returns a JSON value with the key masked in its texts, because a server may repeat the headers that it got. */
export function withoutKey<T>(value: T, { key }: Pick<BridgeSettings, 'key'>): T {
  if (key.length < MIN_MASKED_LENGTH) return value;
  const json = JSON.stringify(value);
  const written = JSON.stringify(key).slice(1, -1);
  return json?.includes(written) ? JSON.parse(json.replaceAll(written, MASK)) : value;
}

/** Says what is wrong with a setting, and where to change it. */
export class SettingsError extends Error {}

const ENDPOINT = '/api/v1/mcp';

/** @throws {SettingsError} */
export function readSettings(env: Readonly<Record<string, string | undefined>>): BridgeSettings {
  const url = textOf(env['SWITCHBOARD_URL']);
  if (url === undefined)
    throw new SettingsError('The URL of the server is missing. Enter it in the settings of the extension.');
  const key = textOf(env['SWITCHBOARD_KEY'])?.replace(/^Bearer\s+/i, '');
  if (key === undefined)
    throw new SettingsError(
      'The API key is missing. Create one in the dashboard of the server, under API keys, and enter it in the settings of the extension.',
    );
  if (!/^[\x21-\x7e]{1,1000}$/.test(key))
    throw new SettingsError(
      'The API key has characters that no key has. Copy it again from the dashboard of the server.',
    );
  return { url: endpointOf(url), key };
}

/** A client leaves the placeholder of a setting that is not set. */
function textOf(value = ''): string | undefined {
  const text = value.trim();
  return text === '' || text.startsWith('${') ? undefined : text;
}

/**
 * Accepts the address of the server as well as that of its endpoint, and keeps the query, which can select toolsets.
 */
function endpointOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new SettingsError(
      `The URL "${text.slice(0, 200)}" is not an address such as https://switchboard.example.com. Correct it in the settings of the extension.`,
    );
  if (url.username !== '' || url.password !== '')
    throw new SettingsError(
      'The URL contains a user name or password. Remove it, and enter the API key in its own field.',
    );
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith(ENDPOINT)) url.pathname = path.endsWith('/api/v1') ? `${path}/mcp` : `${path}${ENDPOINT}`;
  else url.pathname = path;
  url.hash = '';
  return url;
}
