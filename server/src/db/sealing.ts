import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { Seal, SealError } from '../seal.ts';
import type { Commit, Tx } from './commit.ts';
import type { Queryable } from './dialect.ts';

/** `ENCRYPTION_KEY` is missing or is not the key that the database was written with. */
export class WrongKeyError extends OperatorError {}

export interface EncryptionKeys {
  /** Empty for no encryption. */
  readonly encryptionKey: string;
  /** The key to replace; empty if it stays the same. */
  readonly encryptionKeyPrevious: string;
}

const CHECK = 'encryption_check';
/** Marks that secrets were encrypted with a new key and that their former values may still be in the files. */
const REWRITE = 'encryption_rewrite';
const PLAIN = new Seal('');
const FILES_AT_ONCE = 500;

/**
 * Opens the seal for secrets in rows. The first start with a key stores an encrypted check value, by which later starts
 * detect a wrong key before they read or write anything. A start with a changed, first or removed key encrypts
 * everything again in one transaction, so a crash leaves the old state intact. Then the files are rewritten, so that
 * they no longer contain the former values. If a crash prevents that, the next start does it.
 * @param rewrite see `Store.rewrite`
 * @throws {WrongKeyError}
 */
export async function openSeal(
  commit: Commit,
  { encryptionKey, encryptionKeyPrevious }: EncryptionKeys,
  rewrite: () => Promise<void>,
): Promise<Seal> {
  const seal = new Seal(encryptionKey);
  const mustRewrite = await commit(async (tx) => {
    // Before the check, because a node that has joined by now has stored its own check value.
    const others = await liveNodes(tx);
    const check = await readSecret(tx, CHECK);
    const isSameKey = check === undefined ? encryptionKey === '' : encryptionKey !== '' && opens(seal, check);
    if (!isSameKey) {
      const previous = check === undefined ? PLAIN : new Seal(encryptionKeyPrevious);
      if (check !== undefined && (encryptionKeyPrevious === '' || !opens(previous, check)))
        throw wrongKey(encryptionKey);
      requireNoOtherNode(others);
      if (await replaceCheck(tx, check, encryptionKey === '' ? undefined : seal)) await resealAll(tx, previous, seal);
    }
    return others.length === 0 && (await readSecret(tx, REWRITE)) !== undefined;
  });
  if (mustRewrite) {
    await rewrite();
    await commit(({ kysely }) => kysely.deleteFrom('secrets').where('name', '=', REWRITE).execute());
  }
  return seal;
}

/**
 * Checks the key without changing anything.
 * @throws {WrongKeyError} if neither key opens the secrets
 */
export async function requireKey(
  on: Queryable,
  { encryptionKey, encryptionKeyPrevious }: EncryptionKeys,
): Promise<void> {
  const check = await readSecret(on, CHECK);
  const keys = [encryptionKey, encryptionKeyPrevious].filter((key) => key !== '');
  if (check !== undefined && !keys.some((key) => opens(new Seal(key), check))) throw wrongKey(encryptionKey);
}

async function readSecret({ kysely }: Queryable, name: string): Promise<string | undefined> {
  const row = await kysely.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

async function liveNodes({ kysely, dialect }: Tx): Promise<string[]> {
  const rows = await kysely.selectFrom('nodes').select('node_id').where('expires_at', '>', dialect.now).execute();
  return rows.map(({ node_id }) => node_id);
}

/** @throws {WrongKeyError} because running nodes with another key could not read what this one encrypts */
function requireNoOtherNode(nodes: readonly string[]): void {
  if (nodes.length === 0) return;
  throw new WrongKeyError(
    `ENCRYPTION_KEY differs from that of the running nodes. To change it, first stop them: ${nodes.join(', ')}.`,
  );
}

function wrongKey(encryptionKey: string): WrongKeyError {
  return new WrongKeyError(
    encryptionKey === ''
      ? 'The database contains encrypted secrets. Set ENCRYPTION_KEY to the key that encrypted them.'
      : 'ENCRYPTION_KEY is not the key that encrypted the secrets in this database. To change the key, set ENCRYPTION_KEY_PREVIOUS to the previous key for one start.',
  );
}

function opens(seal: Seal, check: string): boolean {
  try {
    return seal.open(check, aboutSecret(CHECK)) === CHECK;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

/**
 * Replaces the check value; undefined for none.
 * @returns whether this transaction did. Of several nodes that start at once only one does, and the others wait at the
 * row until that node has encrypted everything
 */
async function replaceCheck({ kysely }: Tx, from: string | undefined, to: Seal | undefined): Promise<boolean> {
  const value = to?.close(CHECK, aboutSecret(CHECK));
  const isStored = sql`name = ${CHECK} and value = ${from}`;
  const change =
    from === undefined
      ? sql`insert into secrets (name, value) values (${CHECK}, ${value}) on conflict do nothing`
      : value === undefined
        ? sql`delete from secrets where ${isStored}`
        : sql`update secrets set value = ${value} where ${isStored}`;
  const { numAffectedRows } = await change.execute(kysely);
  return numAffectedRows === 1n;
}

async function resealAll(tx: Tx, from: Seal, to: Seal): Promise<void> {
  const { kysely } = tx;
  const resealed = (text: string, about: string) => to.close(from.open(text, about), about);
  const secrets = kysely.selectFrom('secrets').selectAll().where('name', 'not in', [CHECK, REWRITE]);
  for (const { name, value } of await secrets.execute())
    await sql`update secrets set value = ${resealed(value, aboutSecret(name))} where name = ${name}`.execute(kysely);
  const webhooks = kysely
    .selectFrom('webhooks')
    .select(['webhook_id', 'secret', 'previous_secret', 'headers', 'credentials']);
  for (const { webhook_id: id, ...columns } of await webhooks.execute()) {
    const { secret, previous_secret: previous, headers, credentials } = columns;
    const sealed = [secret, previous, headers, credentials].map((text) => text && resealed(text, aboutWebhook(id)));
    const [newSecret, newPrevious, newHeaders, newCredentials] = sealed;
    await sql`update webhooks set secret = ${newSecret}, previous_secret = ${newPrevious}, headers = ${newHeaders},
      credentials = ${newCredentials}
      where webhook_id = ${id}`.execute(kysely);
  }
  const sessions = kysely.selectFrom('sessions').select(['session_id', 'options']);
  for (const { session_id: id, options } of await sessions.execute())
    await sql`update sessions set options = ${resealed(options, aboutOptions(id))} where session_id = ${id}`.execute(
      kysely,
    );
  for (const { session_id: id, key, value } of await kysely.selectFrom('session_store').selectAll().execute())
    await sql`update session_store set value = ${resealed(value, aboutStored(id, key))}
      where session_id = ${id} and key = ${key}`.execute(kysely);
  await resealFiles(tx, resealed);
  await sql`insert into secrets (name, value) values (${REWRITE}, '') on conflict do nothing`.execute(kysely);
}

/** Page by page: a history may have a file for each of a million messages. */
async function resealFiles({ kysely }: Tx, resealed: (text: string, about: string) => string): Promise<void> {
  for (let after = -1; ; ) {
    const page = await kysely
      .selectFrom('messages')
      .select(['seq', 'session_id', 'network_id', 'file_reference'])
      .where('file_reference', 'is not', null)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(FILES_AT_ONCE)
      .execute();
    for (const { seq, session_id: id, network_id: networkId, file_reference: file } of page)
      await sql`update messages set file_reference = ${file && resealed(file, aboutFile(id, networkId))}
        where seq = ${seq}`.execute(kysely);
    const last = page.at(-1);
    if (last === undefined || page.length < FILES_AT_ONCE) return;
    after = last.seq;
  }
}

/* The context that a secret's encryption is bound to. */
export const aboutSecret = (name: string) => `secrets/${name}`;
export const aboutWebhook = (webhookId: string) => `webhooks/${webhookId}/secret`;
export const aboutStored = (sessionId: string, key: string) => `session_store/${sessionId}/${key}`;
export const aboutOptions = (sessionId: string) => `sessions/${sessionId}/options`;
export const aboutFile = (sessionId: string, networkId: string) => `messages/${sessionId}/${networkId}/file`;
