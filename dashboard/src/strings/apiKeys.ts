import { counted } from './format.ts';

export const apiKeyStrings = {
  title: 'API keys',
  lead: 'For programs that call the API. Give each program a key of its own, with only the permissions it needs. Apps that you connected by OAuth are listed here, too.',
  create: 'Create key',
  createTitle: 'Create API key',
  empty: 'No API keys yet',
  emptyHint: 'Create a key, and send it with every request as “Authorization: Bearer …”.',
  created: 'API key created',

  name: 'Name',
  nameHint: 'Describes its purpose, so that you know later which key to revoke.',
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
  sessions: 'Sessions',
  allSessions: 'All sessions',
  allSessionsHint: 'Otherwise only the selected sessions and what belongs to them.',
  noSessions: 'Select at least one session',
  allowedIps: 'Networks',
  allowedIpsHint:
    'Addresses or networks from which requests are accepted, one per line, such as 203.0.113.0/24. Empty for all.',
  allowedRecipients: 'Recipients',
  allowedRecipientsHint:
    'Phone numbers, first digits such as 49170*, or groups that may get messages, one per line. Empty for all.',
  sendQuota: 'Messages per day',
  sendQuotaHint: 'Counted per day in UTC. Empty for any number.',
  confirm: 'An agent asks its user first',
  confirmHint: 'Over MCP only. Nobody can be asked over REST, so these calls are refused there.',
  confirmKinds: {
    destructive: {
      label: 'Before it changes or deletes something',
      hint: 'Such as deleting a message, leaving a group, or blocking a contact.',
    },
    new_recipients: {
      label: 'Before the first message to someone',
      hint: 'A person or group with which the session has no chat yet.',
    },
  },
  asksBefore: (kinds: readonly ('destructive' | 'new_recipients')[]) =>
    kinds.length === 2
      ? 'Asks before changes and first messages'
      : kinds[0] === 'destructive'
        ? 'Asks before changes'
        : 'Asks before first messages',
  requiresApproval: 'Approve every message',
  requiresApprovalHint: 'Messages of the key wait on the page “Approvals” until somebody approves them.',
  needsApproval: 'Every message needs approval',
  limited: (limits: readonly string[]) => `Limited to ${limits.join(', ')}`,
  sessionCount: (count: number) => counted(count, 'session'),
  networkCount: (count: number) => counted(count, 'network'),
  recipientCount: (count: number) => counted(count, 'recipient'),
  perDay: (count: number) => `${counted(count, 'message')} a day`,
  menu: 'Actions',
  actions: (name: string) => `Actions for ${name}`,

  secretTitle: 'Save this key now',
  secretDescription: 'The key is shown only once. Store it where your program keeps its secrets.',
  secretLabel: 'API key',
  copySecret: 'Copy key',
  secretSaved: 'I have saved it',

  activity: 'Activity',
  edit: 'Edit',
  editTitle: 'Edit API key',
  rotate: 'Rotate',
  rotateTitle: (name: string) => `Rotate “${name}”?`,
  rotateHint: 'You get a new key with the same name, permissions and limits. The old key stops working immediately.',
  rotated: 'API key rotated',
  revoke: 'Revoke',
  removeCreated: 'Also remove what it made',
  removeCreatedHint:
    'Cancels its messages that are scheduled, queued or wait for approval, and removes its webhooks and texts for callers. Otherwise they stay.',
  ofKey: {
    title: (name: string) => `Revoke “${name}”?`,
    confirm: 'Revoke',
    hint: 'Programs that use this key are rejected from now on. This cannot be undone.',
    done: 'API key revoked',
  },

  app: 'Connected app',
  appAt: (host: string) => `Connected app at ${host}`,
  disconnect: 'Disconnect',
  ofApp: {
    title: (name: string) => `Disconnect “${name}”?`,
    confirm: 'Disconnect',
    hint: 'The app is rejected from now on. To use it again, connect it in the app.',
    done: 'App disconnected',
  },
} as const;
