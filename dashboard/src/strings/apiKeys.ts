import { counted } from './format.ts';

/** The permissions of a key: resource → action → explanation. A test compares them with those of the server. */
export const permissionWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sessions: { read: 'List sessions and their status changes', write: 'Create, connect, pair and delete sessions' },
  messages: {
    read: 'Read and search messages, including those that strangers wrote',
    metadata: 'List messages without their content',
    send: 'Send, edit, react to and delete messages',
  },
  chats: {
    read: 'List chats with their last messages',
    metadata: 'List chats without the content of their last messages',
    write: 'Mark chats as read, show typing, archive, pin and mute chats',
  },
  contacts: { read: 'List contacts and their profiles, and check numbers', write: 'Block and unblock contacts' },
  groups: {
    read: 'List groups and their participants, and get invite links',
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
};

export const apiKeyWords = {
  title: 'API keys',
  lead: 'For programs that call the API. Give each program a key of its own, with only the permissions it needs.',
  create: 'Create key',
  createTitle: 'Create API key',
  empty: 'No API keys yet',
  emptyHint: 'Create a key, and send it with every request as “Authorization: Bearer …”.',
  created: 'API key created',

  name: 'Name',
  nameHint: 'What the key is for, so that you know later which one to revoke.',
  prefix: 'Prefix',
  permissions: 'Permissions',
  all: 'All permissions',
  allHint: 'Includes permissions that are added later.',
  some: 'Selected permissions',
  someHint: 'Requests that need any other permission are rejected.',
  permissionsOf: (resource: string) => `Permissions on ${resource}`,
  noPermissions: 'Select at least one permission',
  everything: 'all',
  permissionCount: (count: number) => counted(count, 'permission'),
  lastUsed: 'Last used',
  expiry: 'Expires',
  expiries: [
    ['never', 'Never'],
    ['7', 'In 7 days'],
    ['30', 'In 30 days'],
    ['90', 'In 90 days'],
    ['365', 'In 1 year'],
    ['at', 'At a custom time'],
  ],
  expiresAt: 'Expiry time',
  expired: 'Expired',
  menu: 'Actions',
  actions: (name: string) => `Actions for ${name}`,

  secretTitle: 'Save this key now',
  secretDescription: 'The key is shown only once. Store it where your program keeps its secrets.',
  secretLabel: 'API key',
  copySecret: 'Copy key',
  secretSaved: 'I have saved it',

  edit: 'Edit',
  editTitle: 'Edit API key',
  rotate: 'Rotate',
  rotateTitle: (name: string) => `Rotate “${name}”?`,
  rotateHint: 'You get a new key with the same name and permissions. The old key stops working immediately.',
  rotated: 'API key rotated',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke “${name}”?`,
  revokeHint: 'Programs that use this key are rejected from now on. This cannot be undone.',
  revoked: 'API key revoked',
} as const;
