import { type Client, createClient } from '../../../../sdk/src/client.ts';
import { NotFoundError } from '../../../../sdk/src/errors.ts';
import { acceptedUrl, type Context, DEFAULT_URL } from '../context.ts';
import { CliError } from '../failure.ts';
import type { Profile } from '../profiles.ts';
import { ask, isInteractive, readSecretLine } from '../prompt.ts';

export interface LoginOptions {
  readonly email?: string;
  /** An existing key; `-` for standard input. */
  readonly key?: string;
}

/** Stores a key in the profile: a new one for this machine, or one that exists. */
export async function login(context: Context, options: LoginOptions): Promise<void> {
  context.profiles.requireName(context.profileName);
  const key = await givenKey(context, options);
  const url = await askForUrl(context);
  const { email, keyId } =
    key === undefined ? await storeNewKey(context, url, options.email) : await storeExistingKey(context, url, key);
  context.out.result({ profile: context.profileName, url, email, keyId, path: context.profiles.path }, () => {
    context.out.line(`Logged in to ${url} as ${email}.`);
    context.out.note(`The key ${keyId} is stored in ${context.profiles.path}.`);
  });
}

export interface LogoutOptions {
  readonly revoke?: boolean;
}

/** Removes the profile. Revoking its key needs the password, because a key cannot revoke itself. */
export async function logout(context: Context, { revoke = false }: LogoutOptions): Promise<void> {
  const { out, profiles, profileName } = context;
  const profile = await profiles.get(profileName);
  if (profile === undefined) throw new CliError('unauthenticated', `There is no profile "${profileName}".`);
  const { keyId, email } = profile;
  if (revoke) await revokeKey((await context.login()).client, keyId);
  await profiles.delete(profileName);
  out.result({ profile: profileName, keyId, revoked: revoke }, () => {
    out.line(`Logged out ${email}.`);
    if (!revoke)
      out.note(
        `The key ${keyId} is no longer stored here, but works until you revoke it: switchboard keys revoke ${keyId}`,
      );
  });
}

/** A key that is revoked already is no error. */
async function revokeKey(client: Client, keyId: string): Promise<void> {
  await client.apiKeys.revoke({ keyId }).catch((error) => {
    if (!(error instanceof NotFoundError)) throw error;
  });
}

async function givenKey({ io }: Context, { key, email }: LoginOptions): Promise<string | undefined> {
  if (key === '-') return readSecretLine(io, 'key');
  if (key !== undefined) return key;
  // Somebody who names an account wants a new key.
  return email === undefined ? io.env['SWITCHBOARD_KEY'] || undefined : undefined;
}

async function askForUrl(context: Context): Promise<string> {
  if (context.givenUrl !== undefined) return context.givenUrl;
  const profile = await context.profiles.get(context.profileName);
  const byDefault = profile?.url ?? DEFAULT_URL;
  if (!isInteractive(context.io)) return byDefault;
  return acceptedUrl(await ask(context.io, { text: 'Address of the server', byDefault }));
}

/** Makes a key for this machine, in place of the one that an earlier login to this profile has made. */
async function storeNewKey(context: Context, url: string, given: string | undefined): Promise<Profile> {
  const { profiles, profileName, out } = context;
  const previous = await profiles.get(profileName);
  const isSameServer = previous?.url === url;
  const asked = async () =>
    ask(context.io, { text: 'Email address', byDefault: isSameServer ? previous.email : undefined });
  const wanted = given ?? (isInteractive(context.io) ? await asked() : undefined);
  const { client, email } = await context.login({ url, email: wanted });
  const { key, keyId } = await client.apiKeys.create({ name: `switchboard on ${context.io.hostName}`.slice(0, 100) });
  const profile = { url, key, email, keyId, isOwnKey: true };
  await profiles.set(profileName, profile).catch(async (error) => {
    await revokeKey(client, keyId).catch(() => {}); // nobody has it
    throw error;
  });
  if (isSameServer && previous.email === email && previous.isOwnKey)
    await revokeKey(client, previous.keyId).catch((error) =>
      out.note(
        `The earlier key still works (${error.message}). Revoke it with: switchboard keys revoke ${previous.keyId}`,
      ),
    );
  return profile;
}

/** Checks the key before it is stored. */
async function storeExistingKey({ profiles, profileName }: Context, url: string, key: string): Promise<Profile> {
  const { account, credential } = await createClient({ baseUrl: url, credential: key }).auth.me();
  if (credential.keyId === undefined)
    throw new CliError('usage', 'This is a login token, which expires. Pass an API key, or log in with the password.');
  const profile = { url, key, email: account.email, keyId: credential.keyId, isOwnKey: false };
  await profiles.set(profileName, profile);
  return profile;
}
