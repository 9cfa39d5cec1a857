import type { Session } from '@switchboard/sdk/api';
import { counted } from './format.ts';

export const sessionStrings = {
  title: 'Sessions',
  lead: 'Each session is one phone number on one network.',
  empty: 'No sessions yet',
  emptyHint:
    'A session connects one phone number to one network. Start with the sandbox: it connects immediately and needs no phone.',
  create: 'Create session',
  createTitle: 'Create session',
  createAndConnect: 'Create and connect',
  created: 'Session created',
  notFound: 'Session not found',
  back: 'All sessions',
  name: 'Name',
  nameHint: 'Only you can see it.',
  unnamed: 'Unnamed session',
  network: 'Network',
  networks: {
    sandbox: 'Sandbox',
    whatsapp: 'WhatsApp (linked device)',
    'whatsapp-cloud': 'WhatsApp Cloud API',
  } as Readonly<Record<string, string>>,
  networkHints: {
    sandbox: 'A test network inside this server, where the phone simulator plays the other side.',
    whatsapp: 'A phone links this server as one of its devices, by QR code or pairing code.',
    'whatsapp-cloud':
      'A business number at Meta. Once the session is created, enter its callback URL in your Meta app.',
  } as Readonly<Record<string, string>>,
  phoneNumber: 'Phone number',
  phoneNumberHint: 'In international format. Leave it empty to let the network report the number.',
  noNumber: 'not known yet',
  status: 'Status',
  lastEvent: 'Last event',
  connectedAt: 'Connected since',
  phoneHistory: 'History of the phone',
  historyProgress: ({ state, progress, messages, chats, error }: NonNullable<Session['history']>) => {
    const imported = `${counted(messages, 'message')} in ${counted(chats, 'new chat')}`;
    if (state === 'waiting') return 'Waiting for the phone';
    if (state === 'importing') return `Importing, ${progress} %: ${imported}`;
    return state === 'failed' ? `${imported}. A part is missing: ${error ?? 'the reason is unknown'}` : imported;
  },
  createdAt: 'Created',
  sessionId: 'Session ID',
  callbackUrl: 'Callback URL',
  labels: 'Metadata',

  connection: 'Connection',
  explain: {
    created: 'Connect the session to start using it.',
    connecting: 'Connecting to the network. Retries are automatic.',
    awaiting_pairing: 'Pair a phone to continue.',
    connected: 'The session sends and receives messages.',
    disconnected: 'No messages are sent or received until you connect again. The credentials are kept.',
    logged_out: 'The device was unlinked. Connect to pair it again.',
    failed: 'The session cannot connect. Check its settings, then connect again.',
  } satisfies Record<Session['status'], string>,
  connect: 'Connect',
  disconnect: 'Disconnect',
  disconnected: 'Session disconnected',
  restart: 'Restart',
  restarted: 'Session restarted',
  logOut: 'Log out',
  logOutTitle: 'Log this session out?',
  logOutHint:
    'The device is unlinked from the network, and has to be paired again before it can be used. Messages are kept.',
  loggedOut: 'Session logged out',
  remove: 'Delete session',
  removeTitle: 'Delete this session?',
  removeHint: 'Its chats and messages are deleted too. Past events stay in the delivery log.',
  removed: 'Session deleted',
  openChats: 'Open chats',
  openSimulator: 'Open phone simulator',

  pairing: 'Device pairing',
  qr: 'Pairing QR code',
  scan: 'In WhatsApp on the phone, open Settings, Linked devices, Link a device, and scan this code.',
  scanSandbox: 'The phone simulator is the phone of a sandbox number. Scan this code there.',
  nextCode: (time: string) => `New code in ${time}`,
  noQr: 'Waiting for the next code.',
  byCode: 'Pairing by code',
  byCodeHint: 'For a phone that cannot scan: enter its number, then type the code into the phone.',
  pairingNumber: 'Number of the phone',
  getCode: 'Get code',
  pairingCode: 'Pairing code',
  codeExpires: (time: string) => `Valid for ${time}`,
  codeExpired: 'The code has expired. Get a new one.',

  settings: 'Settings',
  optionsHint: 'A connected session connects again with new options, unless they say otherwise.',

  statusChanges: 'Status changes',
  noHistory: 'The session has never been connected.',
  when: 'Time',
  statusAndReason: 'Status and reason',
} as const;
