import { OperatorError } from '../errors.ts';
import { createSeal, type Seal, SealError } from '../seal.ts';
import type { Commit, Tx } from './commit.ts';

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
const PLAIN = createSeal('');

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
  const seal = createSeal(encryptionKey);
  const mustRewrite = await commit(async (tx) => {
    // Before the check, because a node that has joined by now has stored its own check value.
    const others = await liveNodes(tx);
    const check = await readCheck(tx);
    if (check === undefined) {
      if (encryptionKey === '') return isNoted(tx);
      requireAlone(others);
      if (await addCheck(tx, seal)) await resealAll(tx, PLAIN, seal);
      return isNoted(tx);
    }
    if (encryptionKey !== '' && opens(seal, check)) return others.length === 0 && isNoted(tx);
    const previous = createSeal(encryptionKeyPrevious);
    if (encryptionKeyPrevious === '' || !opens(previous, check)) throw wrongKey(encryptionKey);
    requireAlone(others);
    if (await replaceCheck(tx, check, encryptionKey === '' ? undefined : seal)) await resealAll(tx, previous, seal);
    return isNoted(tx);
  });
  if (mustRewrite) {
    await rewrite();
    await commit(({ kysely }) => kysely.deleteFrom('secrets').where('name', '=', REWRITE).execute());
  }
  return seal;
}

async function isNoted({ kysely }: Tx): Promise<boolean> {
  const row = await kysely.selectFrom('secrets').select('name').where('name', '=', REWRITE).executeTakeFirst();
  return row !== undefined;
}

/**
 * Running nodes with another key could not read what this one encrypts.
 * @throws {WrongKeyError}
 */
function requireAlone(nodes: readonly string[]): void {
  if (nodes.length === 0) return;
  throw new WrongKeyError(
    `ENCRYPTION_KEY differs from that of the running nodes. To change it, first stop them: ${nodes.join(', ')}.`,
  );
}

async function liveNodes({ kysely, dialect }: Tx): Promise<string[]> {
  const rows = await kysely.selectFrom('nodes').select('node_id').where('expires_at', '>', dialect.now).execute();
  return rows.map(({ node_id }) => node_id);
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

async function readCheck({ kysely }: Tx): Promise<string | undefined> {
  const row = await kysely.selectFrom('secrets').select('value').where('name', '=', CHECK).executeTakeFirst();
  return row?.value;
}

/*
 * Each returns whether this transaction changed the row. Of several nodes that start at once only one changes it, and
 * the others wait at the row until that node has encrypted everything.
 */

async function addCheck({ kysely }: Tx, seal: Seal): Promise<boolean> {
  const inserted = await kysely
    .insertInto('secrets')
    .values({ name: CHECK, value: seal.close(CHECK, aboutSecret(CHECK)) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .execute();
  return inserted.length === 1;
}

/** @param seal undefined removes the check value */
async function replaceCheck({ kysely }: Tx, check: string, seal: Seal | undefined): Promise<boolean> {
  const changed =
    seal === undefined
      ? await kysely
          .deleteFrom('secrets')
          .where('name', '=', CHECK)
          .where('value', '=', check)
          .returning('name')
          .execute()
      : await kysely
          .updateTable('secrets')
          .set({ value: seal.close(CHECK, aboutSecret(CHECK)) })
          .where('name', '=', CHECK)
          .where('value', '=', check)
          .returning('name')
          .execute();
  return changed.length === 1;
}

async function resealAll({ kysely }: Tx, from: Seal, to: Seal): Promise<void> {
  const anew = (text: string, about: string) => to.close(from.open(text, about), about);
  const secrets = kysely.selectFrom('secrets').selectAll().where('name', 'not in', [CHECK, REWRITE]);
  for (const { name, value } of await secrets.execute()) {
    await kysely
      .updateTable('secrets')
      .set({ value: anew(value, aboutSecret(name)) })
      .where('name', '=', name)
      .execute();
  }
  for (const row of await kysely.selectFrom('webhooks').select(['webhook_id', 'secret', 'previous_secret']).execute()) {
    const about = aboutWebhook(row.webhook_id);
    await kysely
      .updateTable('webhooks')
      .set({
        secret: row.secret && anew(row.secret, about),
        previous_secret: row.previous_secret && anew(row.previous_secret, about),
      })
      .where('webhook_id', '=', row.webhook_id)
      .execute();
  }
  for (const { session_id: id, options } of await kysely
    .selectFrom('sessions')
    .select(['session_id', 'options'])
    .execute()) {
    await kysely
      .updateTable('sessions')
      .set({ options: anew(options, aboutOptions(id)) })
      .where('session_id', '=', id)
      .execute();
  }
  for (const { session_id: id, key, value } of await kysely.selectFrom('session_store').selectAll().execute()) {
    await kysely
      .updateTable('session_store')
      .set({ value: anew(value, aboutStored(id, key)) })
      .where('session_id', '=', id)
      .where('key', '=', key)
      .execute();
  }
  await kysely
    .insertInto('secrets')
    .values({ name: REWRITE, value: '' })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/* The context that a secret's encryption is bound to. */
export const aboutSecret = (name: string) => `secrets/${name}`;
export const aboutWebhook = (webhookId: string) => `webhooks/${webhookId}/secret`;
export const aboutStored = (sessionId: string, key: string) => `session_store/${sessionId}/${key}`;
export const aboutOptions = (sessionId: string) => `sessions/${sessionId}/options`;
