import type { Context } from '../context.ts';
import { styled } from '../io.ts';
import { type ListOptions, showPage } from './lists.ts';

export interface KeyOptions {
  readonly email?: string;
  readonly permissions?: readonly string[];
  readonly expiresAt?: string;
  readonly sessions?: readonly string[];
  readonly ips?: readonly string[];
  readonly recipients?: readonly string[];
  readonly quota?: number;
  /** Checked when the command line was read. */
  readonly confirm?: readonly ('destructive' | 'new_recipients')[];
  readonly requiresApproval?: boolean;
}

/** Creates a key. It needs the password, because a key cannot create keys. */
export async function createKey(context: Context, name: string, options: KeyOptions): Promise<void> {
  const { permissions, expiresAt, sessions, ips, recipients, quota, confirm, requiresApproval } = options;
  const { client } = await context.login({ email: options.email });
  const created = await client.apiKeys.create({
    name,
    ...(permissions && { permissions: [...permissions] }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(sessions && { sessionIds: [...sessions] }),
    ...(ips && { allowedIps: [...ips] }),
    ...(recipients && { allowedRecipients: [...recipients] }),
    ...(quota !== undefined && { sendQuota: quota }),
    ...(confirm && { confirm: [...confirm] }),
    ...(requiresApproval && { requiresApproval }),
  });
  context.out.result(created, () => {
    context.out.line(created.key);
    context.out.note(`This is the key ${created.keyId}. It is shown only now.`);
  });
}

export async function listKeys(context: Context, options: ListOptions): Promise<void> {
  const page = await (await context.client()).apiKeys.list(options);
  showPage(context, page, {
    none: 'There are no API keys.',
    heads: ['KEY', 'NAME', 'PERMISSIONS', 'LAST USED', 'EXPIRES'],
    row: ({ keyId, name, permissions, lastUsedAt, expiresAt }) => [
      keyId,
      name,
      permissions.join(','),
      lastUsedAt ?? styled('dim', 'never'),
      expiresAt ?? styled('dim', 'never'),
    ],
  });
}

export async function revokeKey(context: Context, keyId: string, { email }: { email?: string }): Promise<void> {
  const { client } = await context.login({ email });
  const revoked = await client.apiKeys.revoke({ keyId });
  context.out.result(revoked, () => context.out.line(`Revoked ${keyId}.`));
}
