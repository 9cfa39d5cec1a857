/** What can be permitted: resource → its actions, each explained for the people who choose. */
export const permissionTable = {
  sessions: { read: 'See sessions and their history', write: 'Create, connect, pair and delete sessions' },
  messages: { read: 'Read messages', send: 'Send, edit, react to and delete messages' },
  chats: { read: 'See chats', write: 'Mark chats read, archive and mute them' },
  contacts: { read: 'See and check contacts', write: 'Block and unblock contacts' },
  groups: { read: 'See groups', write: 'Create, change, join and leave groups' },
  media: { read: 'Download media', write: 'Upload media' },
  webhooks: { read: 'See webhooks and their deliveries', write: 'Set, test, reset and replay webhooks' },
  events: { read: 'Read the event log and stream' },
  account: { read: 'See the account' },
} as const satisfies Record<string, Record<string, string>>;

type Table = typeof permissionTable;

/** What one operation needs, such as `messages:send`. */
export type Permission = { [R in keyof Table]: `${R}:${keyof Table[R] & string}` }[keyof Table];

/** Every permission an operation may need, in the table's order. */
export const permissions: readonly Permission[] = Object.entries(permissionTable).flatMap(([resource, actions]) =>
  // The members of the table are exactly what the type spells out.
  Object.keys(actions).map((action) => `${resource}:${action}` as Permission),
);

/** Whether `text` is `*`, `resource:*` or one of the permissions. */
export function isGrant(text: string): boolean {
  if (text === '*') return true;
  const [resource = '', action = '', more] = text.split(':');
  if (more !== undefined || !Object.hasOwn(permissionTable, resource)) return false;
  return action === '*' || permissions.some((permission) => permission === text);
}

/** Whether the grants of a credential cover what an operation needs. */
export function allows(grants: readonly string[], needed: Permission): boolean {
  return grants.some((grant) => covers(grant, needed));
}

/** The wanted grants that a credential cannot hand on, because it lacks them itself. */
export function notGrantable(grants: readonly string[], wanted: readonly string[]): string[] {
  return wanted.filter((want) => !grants.some((grant) => covers(grant, want)));
}

function covers(grant: string, wanted: string): boolean {
  return grant === '*' || grant === wanted || (grant.endsWith(':*') && wanted.startsWith(grant.slice(0, -1)));
}
