import { randomBytes } from 'node:crypto';
import type { WebhookTable } from '../../db/schema.ts';
import { aboutWebhook } from '../../db/sealing.ts';
import type { Seal } from '../../seal.ts';

/*
 * Secrets that the server makes for callers who must not see them, such as agents. A person reads one with a login, for
 * a week. A secret that a caller passed is never returned. The text of a secret says that the server made it, and when,
 * because its text is all that a webhook stores.
 */

const READABLE_MS = 7 * 24 * 3600 * 1000;
/** How far the clock of the node that made a secret may be ahead. */
const SKEW_MS = 60 * 1000;

const FORM = /^made_([0-9a-z]{9})_[\w-]{43}$/;

/** A new secret of 256 random bits. */
export function makeSecret(now: number): string {
  return `made_${now.toString(36).padStart(9, '0')}_${randomBytes(32).toString('base64url')}`;
}

/** Whether a secret looks as if the server had made it. Callers may not pass one, because it could be read. */
export function hasMadeForm(secret: string): boolean {
  return FORM.test(secret);
}

interface MadeSecret {
  readonly secret: string;
  readonly readableUntil: number;
}

type Row = Pick<WebhookTable, 'webhook_id' | 'secret'>;

/** Returns the secret of a webhook if the server made it and it can still be read. */
export function readableSecret(
  { webhook_id: webhookId, secret }: Row,
  seal: Seal,
  now: number,
): MadeSecret | undefined {
  const text = secret === null ? '' : seal.open(secret, aboutWebhook(webhookId));
  const madeAt = madeAtOf(text);
  if (madeAt === undefined || madeAt > now + SKEW_MS || now - madeAt > READABLE_MS) return undefined;
  return { secret: text, readableUntil: madeAt + READABLE_MS };
}

function madeAtOf(secret: string): number | undefined {
  const [, time] = FORM.exec(secret) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}
