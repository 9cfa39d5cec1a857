import { type Client, type ClientOptions, createClient } from '../../../sdk/src/client.ts';
import { PermissionError } from '../../../sdk/src/errors.ts';
import { isLoopback } from '../egress/target.ts';
import { CliError } from './failure.ts';
import { type Io, Output } from './io.ts';
import { DEFAULT_PROFILE, Profiles } from './profiles.ts';
import { ask, isInteractive, readSecretLine } from './prompt.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** The options of every command. */
export interface Globals {
  readonly profile?: string;
  readonly url?: string;
  readonly json?: boolean;
}

/** The common parts of all commands: input and output, the profile, and the client of its server. */
export class Context {
  readonly io: Io;
  readonly out: Output;
  readonly profiles: Profiles;
  readonly profileName: string;
  readonly #globals: Globals;

  constructor(io: Io, globals: Globals) {
    this.io = io;
    this.out = new Output(io, globals.json === true);
    this.profiles = new Profiles(io);
    this.profileName = globals.profile ?? (io.env['SWITCHBOARD_PROFILE'] || DEFAULT_PROFILE);
    this.#globals = globals;
  }

  /** The address that was named for this command. */
  get givenUrl(): string | undefined {
    const url = this.#globals.url ?? this.#variable('SWITCHBOARD_URL');
    return url === undefined ? undefined : acceptedUrl(url);
  }

  /**
   * Returns a client with the key of the environment, or else that of the profile.
   * @throws {CliError} `unauthenticated` without a key for this server
   */
  async client(options: Pick<ClientOptions, 'fetch'> = {}): Promise<Client> {
    const { baseUrl, credential } = await this.#access();
    return createClient({ ...options, baseUrl, credential, headers: { 'user-agent': 'switchboard-cli' } });
  }

  /**
   * Logs in for one command, because API keys cannot do everything. The token is not stored.
   * @param given the server and the account; by default those of the profile
   */
  async login(given: { url?: string; email?: string | undefined } = {}): Promise<{ client: Client; email: string }> {
    const profile = await this.profiles.get(this.profileName);
    const baseUrl = given.url ?? this.givenUrl ?? profile?.url ?? DEFAULT_URL;
    this.#warnOfPlainText(baseUrl);
    const known = given.email ?? (profile?.url === baseUrl ? profile.email : undefined);
    if (known === undefined && !isInteractive(this.io))
      throw new CliError('usage', 'Name the account with --email. Its password is read from standard input.');
    const account = known ?? (await ask(this.io, { text: 'Email address' }));
    const password = await this.#password(account);
    const { token } = await createClient({ baseUrl }).auth.login({ email: account, password });
    return { client: createClient({ baseUrl, credential: token }), email: account };
  }

  async #password(email: string): Promise<string> {
    const { SWITCHBOARD_PASSWORD: password } = this.io.env;
    if (password) return password;
    if (isInteractive(this.io)) return ask(this.io, { text: `Password of ${email}`, isSecret: true });
    return readSecretLine(this.io, 'password');
  }

  async #access(): Promise<{ baseUrl: string; credential: string }> {
    const profile = await this.profiles.get(this.profileName);
    const url = this.givenUrl;
    const key = this.#variable('SWITCHBOARD_KEY');
    if (key !== undefined) return { baseUrl: url ?? profile?.url ?? DEFAULT_URL, credential: key };
    if (profile === undefined)
      throw new CliError(
        'unauthenticated',
        `You are not logged in${this.profileName === DEFAULT_PROFILE ? '' : ` with the profile "${this.profileName}"`}. Run switchboard login, or set SWITCHBOARD_KEY.`,
      );
    // The key of one server must not reach another.
    if (url !== undefined && url !== profile.url)
      throw new CliError(
        'unauthenticated',
        `The profile "${this.profileName}" is for ${profile.url}. Log in to ${url} with another --profile, or set SWITCHBOARD_KEY.`,
      );
    return { baseUrl: profile.url, credential: profile.key };
  }

  /** A variable of the environment, which `--profile` overrules. */
  #variable(name: 'SWITCHBOARD_URL' | 'SWITCHBOARD_KEY'): string | undefined {
    return this.#globals.profile === undefined ? this.io.env[name] || undefined : undefined;
  }

  #warnOfPlainText(url: string): void {
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !isLoopback(hostname))
      this.out.note('Warning: the password is sent unencrypted, because the address begins with http://.');
  }
}

/**
 * Checks that a session exists, because its events would never come. Skips the check if the key cannot read sessions.
 * @throws {NotFoundError}
 */
export async function requireSession(client: Client, sessionId: string | undefined): Promise<void> {
  if (sessionId === undefined) return;
  await client.sessions.get({ sessionId }).catch((error) => {
    if (!(error instanceof PermissionError)) throw error;
  });
}

/**
 * @param option the option that it comes from
 * @throws {CliError} `usage`
 */
export function acceptedUrl(text: string, option = 'The address of a server'): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '')
    throw new CliError('usage', `${option} is like ${DEFAULT_URL}, without a login or a query.`);
  return `${url.origin}${url.pathname}`.replace(/(\/api\/v1)?\/*$/, '');
}
