import { type Permission, permissions } from '../auth/permissions.ts';

/** Every permission is an OAuth scope of the same name. */
export const supportedScopes: readonly string[] = permissions;

/** The scopes of a request that names none: to use chats, without webhooks, the event log and the account. */
export const defaultScopes: readonly Permission[] = [
  'sessions:read',
  'messages:read',
  'messages:send',
  'chats:read',
  'chats:write',
  'contacts:read',
  'groups:read',
  'media:read',
];

/** Leaves out the scopes of other protocols that clients add, such as `openid` and `offline_access`. */
export function knownScopes(scope: string): string[] {
  const wanted = new Set(scope.split(' '));
  return supportedScopes.filter((one) => wanted.has(one));
}
