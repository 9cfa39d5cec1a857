/* The dashboard uses this file too, so it imports nothing. */

/** Resource → action → explanation for users who choose permissions. */
export const permissionTable = {
  sessions: {
    read: 'List sessions and their status changes',
    write: 'Create, connect, pair and delete sessions',
  },
  messages: {
    read: 'Read and search messages, including those that strangers wrote',
    metadata: 'List messages without their content',
    send: 'Send, edit, react to and delete messages',
    approve: 'Approve or reject messages of keys that need approval',
    edit: 'Edit messages that were sent',
    delete: 'Delete messages that were sent',
  },
  chats: {
    read: 'List chats with their last messages',
    metadata: 'List chats without the content of their last messages',
    write: 'Mark chats as read, show typing, archive, pin, mute and label chats, star messages',
    delete: 'Delete chats and received messages for the session',
  },
  contacts: {
    read: 'List contacts and their profiles, and check numbers',
    check: 'Check which numbers are on the network',
    write: 'Block and unblock contacts',
  },
  groups: {
    read: 'List groups and their participants, and get invite links',
    invite: 'Get invite links of groups',
    write: 'Create, change, join and leave groups',
  },
  media: { read: 'Download files', write: 'Upload files' },
  webhooks: {
    read: 'See webhooks and their deliveries, including what was sent',
    metadata: 'See webhooks and their deliveries without the content of messages',
    write: 'Set, remove, test, reset and replay webhooks; the receiver gets every message',
    operate: 'Test, reset and replay webhooks without changing them',
  },
  events: {
    read: 'Read and stream the event log',
    metadata: 'Read and stream the event log without the content of messages',
  },
  account: { read: 'List API keys, without the keys themselves' },
} as const satisfies Record<string, Record<string, string>>;

type Table = typeof permissionTable;

/** A permission, such as `messages:send`. */
export type Permission = { [R in keyof Table]: `${R}:${keyof Table[R] & string}` }[keyof Table];

/** Every permission that an operation may require, in the table's order. */
export const permissions: readonly Permission[] = Object.entries(permissionTable).flatMap(([resource, actions]) =>
  // `Object.entries` loses the literal types of the table.
  Object.keys(actions).map((action) => `${resource}:${action}` as Permission),
);

/** A resource that shows message content with `read`, and everything but the content with `metadata`. */
export type ContentResource = 'messages' | 'chats' | 'events' | 'webhooks';

/** Permission → the permissions that it includes. None of these includes others. */
const included: Readonly<Partial<Record<string, readonly Permission[]>>> = {
  'messages:read': ['messages:metadata'],
  'messages:send': ['messages:edit', 'messages:delete'],
  'chats:read': ['chats:metadata'],
  'contacts:read': ['contacts:check'],
  'groups:read': ['groups:invite'],
  'events:read': ['events:metadata'],
  'webhooks:read': ['webhooks:metadata'],
  'webhooks:write': ['webhooks:operate'],
};

/** The permission to read every resource, with what each of these permissions includes. */
const EVERY_READ = '*:read';

/** Whether `text` is `*`, `*:read`, `resource:*` or one of the permissions. */
export function isGrant(text: string): boolean {
  if (text === '*' || text === EVERY_READ) return true;
  const [resource = '', action = '', more] = text.split(':');
  if (more !== undefined || !Object.hasOwn(permissionTable, resource)) return false;
  return action === '*' || permissions.some((permission) => permission === text);
}

/** Whether the grants of a credential cover the permission that an operation requires. */
export function allows(grants: readonly string[], needed: Permission): boolean {
  return grants.some((grant) => covers(grant, needed));
}

/** Whether the grants show a resource without message content. */
export function hidesContent(grants: readonly string[], resource: ContentResource): boolean {
  return allows(grants, `${resource}:metadata`) && !allows(grants, `${resource}:read`);
}

/** The wanted grants that a credential cannot pass on, because it lacks them itself. */
export function notGrantable(grants: readonly string[], wanted: readonly string[]): string[] {
  return wanted.filter((want) => !grants.some((grant) => covers(grant, want)));
}

/** Whether a grant includes a permission or another grant. */
export function covers(grant: string, wanted: string): boolean {
  if (grant === '*' || grant === wanted || includes(grant, wanted)) return true;
  if (grant === EVERY_READ)
    return permissions.some((one) => one.endsWith(':read') && (one === wanted || includes(one, wanted)));
  return grant.endsWith(':*') && wanted.startsWith(grant.slice(0, -1));
}

/** Whether a permission includes another one. */
export function includes(permission: string, other: string): boolean {
  return included[permission]?.some((one) => one === other) ?? false;
}
