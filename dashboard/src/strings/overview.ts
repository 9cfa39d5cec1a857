const count = (number: number, one: string, more: string) =>
  number === 1 ? `1 ${one}` : `${number.toLocaleString('en')} ${more}`;

export const overviewWords = {
  title: 'Overview',
  lead: 'Whether everything works, and what does not.',

  attention: 'What needs attention',
  concerns: (number: number) => `${count(number, 'thing needs', 'things need')} attention`,
  allWell: 'Nothing: everything works.',
  held: (number: number, time: string | undefined) =>
    `${count(number, 'event', 'events')} held${time === undefined ? '' : ` for ${time}`}`,
  nothingHeld: 'The circuit breaker is open, and no event is held',
  probing: 'single tries find out whether it works again',
  nextTry: (time: string) => `next try in ${time}`,
  tryNow: 'next try now',
  failure: (what: string, next: string | undefined, why: string) =>
    `${what}: ${why}${next === undefined ? '' : `; ${next}`}`,
  answers: (status: number) => `receiver answers ${status}`,
  /** Why an attempt brought no answer. */
  failures: {
    timeout: 'receiver does not answer in time',
    dns: 'its host name does not resolve to a public address',
    connect: 'receiver takes no connection',
    tls: 'its certificate cannot be trusted',
    reset: 'receiver closes the connection without an answer',
    protocol: 'what answers is not HTTP',
    blocked_address: 'its address is not allowed',
    no_socket: 'this server has no free socket',
  } as Readonly<Record<string, string>>,
  unknownFailure: 'receiver does not take them',
  isOff: 'Webhook is switched off: events are not queued for it',
  late: (number: number, time: string) =>
    `${count(number, 'delivery is', 'deliveries are')} pending, the oldest for ${time}`,
  givenUp: (number: number) => `${count(number, 'delivery was', 'deliveries were')} given up in the last 24 hours`,
  session: (name: string, status: string, error: string | null) =>
    `${name}: ${status.toLowerCase()}${error === null ? '' : `. ${error}`}`,
  moreSessions: (number: number) => count(number, 'more session is', 'more sessions are') + ' not connected',
  lookAtWebhook: 'Look at the webhook',
  lookAtDeliveries: 'Look at them',
  lookAtSession: 'Look at the session',
  lookAtSessions: 'Look at the sessions',
  linkIt: 'Link it',

  steps: 'First steps',
  stepsDone: (done: number, all: number) => `${done} of ${all} done`,
  stepDone: 'Done:',
  stepOpen: 'To do:',
  stepNames: {
    session: ['Connect a session', 'On the sandbox it takes one click, and no phone.'],
    message: ['Send or receive a message', 'The phone simulator writes to a sandbox number.'],
    webhook: ['Set up a webhook', 'Your application hears of every event by a signed request.'],
    delivery: ['See a delivery arrive', 'The test of the webhook page sends one at once.'],
    key: ['Create an API key', 'It is what your application calls with.'],
  },

  now: 'Right now',
  connected: 'Sessions connected',
  connectedOf: (connected: number, all: number) => `${connected.toLocaleString('en')} of ${all.toLocaleString('en')}`,
  messagesHour: 'Messages, last hour',
  successRate: 'Success rate, last hour',
  slowest: 'Latency p95, last hour',
  waiting: 'Deliveries pending',
  none: '–',
  ms: (number: number) => `${number.toLocaleString('en')} ms`,

  messages: 'Messages per minute',
  received: 'Received',
  sent: 'Sent',
  messagesSummary: (received: number, sent: number) =>
    `In the last hour ${received.toLocaleString('en')} messages were received and ${sent.toLocaleString('en')} sent.`,
  deliveries: 'Delivery attempts per minute',
  delivered: 'Delivered',
  failed: 'Failed',
  deliveriesSummary: (delivered: number, failed: number) =>
    `In the last hour ${delivered.toLocaleString('en')} attempts delivered and ${failed.toLocaleString('en')} failed.`,

  sessions: 'Sessions by status',
  noSession: 'No session yet.',
  allSessions: 'All sessions',
  webhooks: 'Webhooks',
  noWebhook: 'No webhook yet: events are kept in the log.',
  allWebhooks: 'All webhooks',
  someWebhooks: (number: number) =>
    `${number} webhooks are watched here: those with a breaker that is not closed, those that are off, and the newest.`,
  off: 'Off',
  rate: 'Success in 1 h',
  latency: 'Latency p50, p95',
  pending: 'Pending',
} as const;
