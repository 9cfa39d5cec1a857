import { type Permission, permissions } from '../auth/permissions.ts';

/** No tool needs these, and apps have tokens only for the MCP endpoint. */
const OF_NO_TOOL: readonly Permission[] = ['messages:approve', 'chats:delete', 'media:write', 'account:read'];

/** Every permission that has an effect over MCP is an OAuth scope of the same name. */
export const supportedScopes: readonly string[] = permissions.filter((one) => !OF_NO_TOOL.includes(one));

/** The scopes of a request that names none: to use chats, without webhooks and the event log. */
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
