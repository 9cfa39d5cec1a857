import { readFileSync } from 'node:fs';
import { isObject } from './fields.ts';

/** An inbox of Chatwoot for a session. */
export interface InboxSettings {
  readonly sessionId: string;
  /** Name of the inbox in Chatwoot. */
  readonly name: string;
  /** Existing API inbox to use; undefined to create one. */
  readonly inboxId: number | undefined;
  readonly groups: boolean;
  readonly conversations: ConversationRule;
}

/** `reopen`: one conversation per chat. `new`: another one once an agent has resolved it. */
export type ConversationRule = 'reopen' | 'new';

export interface Settings {
  readonly switchboardUrl: string;
  readonly switchboardKey: string;
  readonly chatwootUrl: string;
  readonly chatwootToken: string;
  readonly accountId: number;
  readonly inboxes: readonly InboxSettings[];
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly urlForSwitchboard: string;
  readonly database: string;
  readonly typing: boolean;
  readonly markRead: boolean;
  readonly agentNames: boolean;
  readonly deletions: 'delete' | 'note';
  readonly otherMessages: boolean;
  readonly maxQueue: number;
  readonly maxFileBytes: number;
}

/** A setting is missing or invalid. The message lists all problems, without values of secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Setting {
  /** Key in the file. */
  readonly key: string;
  /** Variable of the environment. */
  readonly variable: string;
  /** Text as in the environment; undefined if the setting is required. */
  readonly standard: string | undefined;
  readonly meaning: string;
}

/** The settings in the order of the documentation, whose table a test compares with this one. */
export const settingsTable: readonly Setting[] = [
  setting('switchboardUrl', 'SWITCHBOARD_URL', 'http://127.0.0.1:8080', 'Address of Switchboard.'),
  setting('switchboardKey', 'SWITCHBOARD_KEY', undefined, 'API key of Switchboard.'),
  setting('chatwootUrl', 'CHATWOOT_URL', undefined, 'Address of Chatwoot.'),
  setting('chatwootToken', 'CHATWOOT_TOKEN', undefined, 'Access token of a Chatwoot administrator.'),
  setting('accountId', 'CHATWOOT_ACCOUNT_ID', undefined, 'Number of the Chatwoot account, as in `/app/accounts/1`.'),
  setting('inboxes', 'CHATWOOT_INBOXES', undefined, 'Sessions, separated by commas, or a JSON list of inboxes.'),
  setting('host', 'CHATWOOT_BRIDGE_HOST', '127.0.0.1', 'Address to listen on.'),
  setting('port', 'CHATWOOT_BRIDGE_PORT', '3100', 'Port to listen on.'),
  setting('url', 'CHATWOOT_BRIDGE_URL', '', 'URL of the bridge for Chatwoot. Defaults to the host and port.'),
  setting(
    'urlForSwitchboard',
    'CHATWOOT_BRIDGE_URL_FOR_SWITCHBOARD',
    '',
    'URL of the bridge for Switchboard. Defaults to the same URL.',
  ),
  setting(
    'database',
    'CHATWOOT_BRIDGE_DATABASE',
    './data/chatwoot.db',
    'File of SQLite, or `postgres://…`. Only one bridge can use it.',
  ),
  setting('groups', 'CHATWOOT_GROUPS', 'off', '`on` brings group chats into the inbox.'),
  setting(
    'conversations',
    'CHATWOOT_CONVERSATIONS',
    'reopen',
    'After a conversation is resolved: `reopen` it, or start a `new` one.',
  ),
  setting('typing', 'CHATWOOT_TYPING', 'on', '`on` shows who is typing, both ways.'),
  setting('markRead', 'CHATWOOT_MARK_READ', 'on', '`on` marks the chat as read when an agent replies.'),
  setting('agentNames', 'CHATWOOT_AGENT_NAMES', 'off', '`on` puts the agent name above each message.'),
  setting(
    'deletions',
    'CHATWOOT_DELETIONS',
    'delete',
    'When a contact deletes a message: `delete` it in Chatwoot too, or add a `note`.',
  ),
  setting(
    'otherMessages',
    'CHATWOOT_OTHER_MESSAGES',
    'on',
    '`on` shows messages that other programs send through Switchboard.',
  ),
  setting('maxQueue', 'CHATWOOT_MAX_QUEUE', '100000', 'Maximum number of waiting jobs per direction.'),
  setting('maxFileBytes', 'CHATWOOT_MAX_FILE_BYTES', '41943040', 'Maximum size of a file, as set in Chatwoot.'),
];

function setting(key: string, variable: string, standard: string | undefined, meaning: string): Setting {
  return { key, variable, standard, meaning };
}

const SECRETS = new Set(['switchboardKey', 'chatwootToken']);
/** The Chatwoot variable for the config file itself. */
const CONFIG_FILE = 'CHATWOOT_CONFIG';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the file, if there is one, and the environment, which takes precedence. @throws {ConfigError} */
export function readSettings(environment: Environment, file = environment[CONFIG_FILE] || undefined): Settings {
  const problems: string[] = [];
  const given = file === undefined ? {} : readFile(file, problems);
  const known = new Set(settingsTable.map(({ key }) => key));
  for (const key of Object.keys(given)) if (!known.has(key)) problems.push(`${file}: unknown setting \`${key}\``);
  const variables = new Set([CONFIG_FILE, ...settingsTable.map(({ variable }) => variable)]);
  for (const name of Object.keys(environment))
    if (name.startsWith('CHATWOOT_') && !variables.has(name)) problems.push(`Unknown variable ${name}`);
  const reader = new Reader(given, environment, problems);
  const settings = reader.settings();
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return settings;
}

function readFile(file: string, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isObject(content)) return content;
    problems.push(`${file} must contain a JSON object`);
  } catch (error) {
    // A parse error quotes the file, which has secrets.
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    problems.push(error instanceof SyntaxError ? `${file} is not JSON` : `Cannot read ${file}${code}`);
  }
  return {};
}

/** Reads each setting as text, and collects what is wrong with it. */
class Reader {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #environment: Environment;
  readonly #problems: string[];

  constructor(given: Readonly<Record<string, unknown>>, environment: Environment, problems: string[]) {
    this.#given = given;
    this.#environment = environment;
    this.#problems = problems;
  }

  settings(): Settings {
    const host = this.#text('host');
    const port = this.#integer('port', 0, 65_535);
    const url = this.#url('url', `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
    return {
      switchboardUrl: this.#url('switchboardUrl'),
      switchboardKey: this.#text('switchboardKey'),
      chatwootUrl: this.#url('chatwootUrl'),
      chatwootToken: this.#text('chatwootToken'),
      accountId: this.#integer('accountId', 1, Number.MAX_SAFE_INTEGER),
      inboxes: this.#inboxes(),
      host,
      port,
      url,
      urlForSwitchboard: this.#url('urlForSwitchboard', url),
      database: this.#text('database'),
      typing: this.#choice('typing', ['on', 'off']) === 'on',
      markRead: this.#choice('markRead', ['on', 'off']) === 'on',
      agentNames: this.#choice('agentNames', ['on', 'off']) === 'on',
      deletions: this.#choice('deletions', ['delete', 'note']),
      otherMessages: this.#choice('otherMessages', ['on', 'off']) === 'on',
      maxQueue: this.#integer('maxQueue', 1, 10_000_000),
      maxFileBytes: this.#integer('maxFileBytes', 1, 1_073_741_824),
    };
  }

  #raw(key: string): unknown {
    const entry = settingsTable.find((each) => each.key === key);
    const variable = entry && this.#environment[entry.variable];
    return variable || (this.#given[key] ?? entry?.standard);
  }

  #text(key: string): string {
    const value = this.#raw(key);
    if (value === undefined || value === '') this.#complain(key, 'is required');
    else if (typeof value === 'boolean') return value ? 'on' : 'off';
    else if (typeof value === 'string' || typeof value === 'number') return String(value);
    else this.#complain(key, 'must be a text');
    return '';
  }

  #integer(key: string, min: number, max: number): number {
    const text = this.#text(key);
    const value = Number(text);
    if (text !== '' && !(Number.isInteger(value) && value >= min && value <= max))
      this.#complain(key, `must be an integer from ${min} to ${max}`);
    return value;
  }

  #url(key: string, standard?: string): string {
    const value = this.#raw(key);
    if (standard !== undefined && (value === '' || value === undefined)) return standard;
    const text = this.#text(key);
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '')
      return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
    if (text !== '') this.#complain(key, 'must be an http or https URL without a login or a query');
    return 'http://invalid';
  }

  #choice<T extends string>(key: string, choices: readonly T[]): T {
    const text = this.#text(key);
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) this.#complain(key, `must be ${choices.map((choice) => `\`${choice}\``).join(' or ')}`);
    return chosen ?? (choices[0] as T);
  }

  #inboxes(): readonly InboxSettings[] {
    const groups = this.#choice('groups', ['on', 'off']) === 'on';
    const conversations = this.#choice('conversations', ['reopen', 'new']);
    const list = this.#inboxList();
    const inboxes = list.map((entry, index) => this.#inbox(entry, `inboxes[${index}]`, { groups, conversations }));
    if (inboxes.length > 100) this.#problems.push('`inboxes` can have up to 100 entries');
    const ids = inboxes.map(({ sessionId }) => sessionId);
    if (new Set(ids).size < ids.length) this.#problems.push('`inboxes` lists a session twice');
    const inboxIds = inboxes.map(({ inboxId }) => inboxId).filter((inboxId) => inboxId !== undefined);
    if (new Set(inboxIds).size < inboxIds.length)
      this.#problems.push('`inboxes` lists an `inboxId` twice; each session needs its own inbox');
    return inboxes;
  }

  #inboxList(): readonly unknown[] {
    const value = this.#raw('inboxes');
    if (Array.isArray(value) && value.length > 0) return value;
    if (typeof value !== 'string' || value === '') {
      this.#complain('inboxes', 'is required');
      return [];
    }
    if (!value.trimStart().startsWith('['))
      return value.split(',').map((sessionId) => ({ sessionId: sessionId.trim() }));
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list) && list.length > 0) return list;
      this.#complain('inboxes', 'is required');
      return [];
    } catch {
      this.#complain('inboxes', 'is not JSON');
      return [];
    }
  }

  #inbox(entry: unknown, place: string, common: Pick<InboxSettings, 'groups' | 'conversations'>): InboxSettings {
    const fields = isObject(entry) ? entry : {};
    for (const key of Object.keys(fields))
      if (!['sessionId', 'name', 'inboxId', 'groups', 'conversations'].includes(key))
        this.#problems.push(`${place}: unknown setting \`${key}\``);
    const { sessionId, name, inboxId, groups = common.groups, conversations = common.conversations } = fields;
    if (typeof sessionId !== 'string' || !/^ses_\w+$/.test(sessionId))
      this.#problems.push(`${place}: \`sessionId\` must be the id of a session (ses_…)`);
    if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > 100))
      this.#problems.push(`${place}: \`name\` must be a text of up to 100 characters`);
    if (inboxId !== undefined && !Number.isInteger(inboxId))
      this.#problems.push(`${place}: \`inboxId\` must be the number of an API inbox`);
    if (![true, false, 'on', 'off'].includes(groups as boolean | string))
      this.#problems.push(`${place}: \`groups\` must be \`on\` or \`off\``);
    if (conversations !== 'reopen' && conversations !== 'new')
      this.#problems.push(`${place}: \`conversations\` must be \`reopen\` or \`new\``);
    return {
      sessionId: String(sessionId),
      name: typeof name === 'string' ? name : 'WhatsApp',
      inboxId: typeof inboxId === 'number' ? inboxId : undefined,
      groups: groups === true || groups === 'on',
      conversations: conversations === 'new' ? 'new' : 'reopen',
    };
  }

  #complain(key: string, problem: string): void {
    const { variable } = settingsTable.find((each) => each.key === key) ?? {};
    const where = SECRETS.has(key) ? `${variable} (or \`${key}\` in the file)` : `\`${key}\` (${variable})`;
    const line = `${where} ${problem}`;
    if (!this.#problems.includes(line)) this.#problems.push(line);
  }
}
