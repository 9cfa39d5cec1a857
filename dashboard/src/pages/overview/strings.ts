import { attemptsSummary, counted, milliseconds } from '../../strings/format.ts';

export const overviewStrings = {
  title: 'Overview',
  lead: 'System status at a glance.',

  attention: 'Needs attention',
  attentionCount: (count: number) => counted(count, 'item needs attention', 'items need attention'),
  allWell: 'Everything is working.',
  held: (count: number, time: string | undefined) =>
    `${counted(count, 'event')} held${time === undefined ? '' : ` for ${time}`}`,
  nothingHeld: 'The circuit breaker is open, and no events are held',
  probing: 'probing whether it works again',
  nextProbe: (time: string) => `next probe in ${time}`,
  probeNow: 'next probe now',
  failure: (what: string, next: string | undefined, why: string) =>
    `${what}: ${why}${next === undefined ? '' : `; ${next}`}`,
  responds: (status: number) => `receiver returns ${status}`,
  /** Why an attempt got no response. */
  failures: {
    timeout: 'receiver does not respond in time',
    dns: 'host name does not resolve to a public address',
    connect: 'receiver accepts no connections',
    tls: 'certificate is not trusted',
    reset: 'receiver closes the connection without a response',
    protocol: 'receiver does not speak HTTP',
    blocked_address: 'address is forbidden',
    no_socket: 'this server has no free socket',
  } as Readonly<Record<string, string>>,
  unknownFailure: 'receiver does not accept them',
  isOff: 'Webhook is disabled: events are not queued for it',
  late: (count: number, time: string) =>
    `${counted(count, 'delivery is', 'deliveries are')} pending, the oldest for ${time}`,
  givenUp: (count: number) => `${counted(count, 'delivery', 'deliveries')} failed for good in the last 24 hours`,
  session: (name: string, status: string, error: string | null) =>
    `${name}: ${status.toLowerCase()}${error === null ? '' : `. ${error}`}`,
  moreSessions: (count: number) => `${counted(count, 'more session is', 'more sessions are')} not connected`,
  moreAtRisk: (count: number) => `${counted(count, 'more session is', 'more sessions are')} at risk of a ban`,
  viewWebhook: 'View webhook',
  viewDeliveries: 'View deliveries',
  viewSession: 'View session',
  viewSessions: 'View sessions',
  pair: 'Pair device',

  steps: 'Getting started',
  stepsDone: (done: number, all: number) => `${done} of ${all} done`,
  stepDone: 'Done:',
  stepOpen: 'To do:',
  stepNames: {
    session: ['Connect a session', 'The sandbox connects with one click and needs no phone.'],
    message: ['Send or receive a message', 'The phone simulator can write to a sandbox number.'],
    webhook: ['Set up a webhook', 'Your application receives every event as a signed request.'],
    delivery: ['Receive a delivery', 'Send a test from the page of the webhook.'],
    key: ['Create an API key', 'Your application calls the API with it.'],
  },

  now: 'Current figures',
  connected: 'Connected sessions',
  connectedOf: (connected: number, all: number) => `${connected.toLocaleString('en')} of ${all.toLocaleString('en')}`,
  messagesHour: 'Messages, last hour',
  successRate: 'Success rate, last hour',
  slowest: 'Latency p95, last hour',
  waiting: 'Pending deliveries',
  none: '–',
  ms: milliseconds,

  messages: 'Messages per minute',
  received: 'Received',
  sent: 'Sent',
  messagesSummary: (received: number, sent: number) =>
    `In the last hour, ${counted(received, 'message')} received and ${sent.toLocaleString('en')} sent.`,
  deliveries: 'Delivery attempts per minute',
  delivered: 'Delivered',
  failed: 'Failed',
  deliveriesSummary: attemptsSummary,

  sessions: 'Sessions by status',
  noSession: 'No sessions yet. Create one to get started.',
  allSessions: 'All sessions',
  webhooks: 'Webhooks',
  noWebhook: 'No webhooks yet. Until you add one, events are only kept in the log.',
  allWebhooks: 'All webhooks',
  someWebhooks: (count: number) =>
    `Showing ${count} webhooks: open breakers first, then disabled webhooks, then the newest.`,
  off: 'Disabled',
  rate: 'Success rate, 1 h',
  latency: 'Latency p50, p95',
  pending: 'Pending',
} as const;
