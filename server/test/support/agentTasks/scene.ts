import { spelled } from '../operations/words.ts';
import type { Output } from './agent.ts';

/** Calls the API. Returns the body of a successful response. */
export type Rest = (method: string, path: string, body?: unknown) => Promise<Output>;

/** A receiver of webhooks that can be made to fail. */
export interface SceneReceiver {
  readonly url: string;
  answer(status: number): Promise<void>;
}

interface SceneOptions {
  readonly rest: Rest;
  readonly receiver: SceneReceiver;
  /** https URL of an image. */
  readonly pictureUrl: string;
}

/** A company with two connected numbers, 200 chats, groups, and a webhook that failed for a while. */
export interface Scene {
  readonly rest: Rest;
  readonly support: string;
  readonly pictureUrl: string;
  /** Numbers as a person would paste them, some of which are not on the network. */
  readonly numbers: readonly string[];
  /** Between these times the receiver failed. */
  readonly outage: { readonly from: string; readonly to: string };
  /** Makes something happen on the network. */
  simulate(sessionId: string, action: Readonly<Record<string, unknown>>): Promise<void>;
}

const CHATS = 200;
const UNREAD_CHATS = 14;

export const people = {
  anna: { from: '491701000001', senderName: 'Anna Schmidt' },
  ben: { from: '491701000002', senderName: 'Ben Carter' },
  clara: { from: '491701000003', senderName: 'Clara Rossi' },
  david: { from: '491701000004', senderName: 'David Okafor' },
  emma: { from: '491701000005', senderName: 'Emma Larsen' },
  spammer: { from: '491709999999', senderName: 'Lucky Prizes Ltd' },
} as const;

const FIRST = ['Lena', 'Omar', 'Sofia', 'Jonas', 'Priya', 'Marek', 'Nina', 'Tariq', 'Ines', 'Paul'];
const LAST = ['Adler', 'Bianchi', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'Garcia', 'Hansen', 'Ivanova', 'Jensen'];

const stranger = (n: number) => ({
  from: String(491_702_000_000 + n),
  senderName: `${FIRST[n % 10]} ${LAST[Math.floor(n / 10) % 10]}`,
});

/** A text like those of customers: most are short, and every twelfth is a long report. */
function textOf(n: number): string {
  const words = n % 12 === 0 ? 500 : 3 + (n % 17);
  const body = Array.from({ length: words }, (_, at) => spelled((n * 31 + at * 7) % 4000)).join(' ');
  return `Order ${4000 + n}: ${body}.`;
}

export async function createScene({ rest, receiver, pictureUrl }: SceneOptions): Promise<Scene> {
  const simulate = async (sessionId: string, action: Readonly<Record<string, unknown>>) =>
    void (await rest('POST', `/sessions/${sessionId}/simulate`, action));
  const incoming = (sessionId: string, person: object, message: string) =>
    simulate(sessionId, { action: 'incoming', ...person, message });
  const [support, sales] = [await connected(rest, 'Support'), await connected(rest, 'Sales')];
  await rest('POST', '/webhooks/set', {
    webhookUrl: receiver.url,
    events: ['message.incoming', 'session.disconnected'],
    secret: 'the secret of the scene',
  });
  const webhook = (await rest('GET', '/webhooks/endpoints')).data[0];
  // No retries, so that a failed delivery is settled at once.
  await rest('PATCH', `/webhooks/endpoints/${webhook.webhookId}`, { retrySeconds: [] });

  for (let n = 0; n < CHATS - 7; n++) {
    const sessionId = n % 4 === 0 ? sales : support;
    await incoming(sessionId, stranger(n), textOf(n));
    if (n % 3 === 0) await rest('POST', '/messages/send', { sessionId, to: stranger(n).from, message: textOf(n + 1) });
    if (n % 5 === 0) await incoming(sessionId, stranger(n), textOf(n + 2));
    await rest('POST', `/chats/${stranger(n).from}/read`, { sessionId });
  }
  for (const person of [people.anna, people.clara, people.david, people.emma])
    await incoming(support, person, `Hello, this is ${person.senderName}.`);
  await talkAboutInvoice(rest, support, incoming);
  for (const { from } of [people.anna, people.ben, people.clara, people.david, people.emma])
    await rest('POST', `/chats/${from}/read`, { sessionId: support });
  await createGroups(rest, support, simulate);
  for (let n = 0; n < UNREAD_CHATS - 1; n++)
    for (let more = 0; more <= n % 3; more++)
      await incoming(n % 4 === 0 ? sales : support, stranger(n), textOf(n + more));
  const outage = await failFor(receiver, rest, () => incoming(support, people.clara, 'Where is my parcel?'));
  await rest('POST', `/chats/${people.clara.from}/read`, { sessionId: support });
  const numbers = Array.from({ length: 120 }, (_, n) => numberOf(n));
  return { rest, support, pictureUrl, numbers, outage, simulate };
}

async function connected(rest: Rest, name: string): Promise<string> {
  const { sessionId } = await rest('POST', '/sessions', { name });
  await rest('POST', `/sessions/${sessionId}/connect`);
  return sessionId;
}

type Incoming = (sessionId: string, person: object, message: string) => Promise<void>;

/** One statement among small talk, and another person who mentions an invoice too. */
async function talkAboutInvoice(rest: Rest, support: string, incoming: Incoming): Promise<void> {
  for (let n = 0; n < 30; n++) {
    await incoming(support, people.ben, textOf(n + 300));
    if (n === 12)
      await incoming(support, people.ben, 'About the invoice 2093: please split it, half is due on 1 August.');
    if (n % 6 === 0)
      await rest('POST', '/messages/send', { sessionId: support, to: people.ben.from, message: textOf(n + 400) });
  }
  await incoming(support, people.anna, 'The invoice for March arrived, thank you.');
}

async function createGroups(rest: Rest, sessionId: string, simulate: Scene['simulate']): Promise<void> {
  const subjects = ['Weekend hike', 'Suppliers', 'Beta testers', 'Night shift', 'Board', 'Customers north'];
  for (const [n, subject] of subjects.entries()) {
    const phoneNumbers = Array.from({ length: 8 + n * 10 }, (_, at) => stranger(at + n).from);
    await rest('POST', '/groups', { sessionId, subject, phoneNumbers });
  }
  const { from, senderName } = people.spammer;
  await simulate(sessionId, { action: 'incoming', from, senderName, message: 'You have won a prize! Click here.' });
  const members = Array.from({ length: 40 }, (_, n) => stranger(n + 50).from);
  await simulate(sessionId, { action: 'group_create', from, subject: 'Prize winners 2026', phoneNumbers: members });
}

/** Lets the receiver answer 503 while something happens. */
async function failFor(receiver: SceneReceiver, rest: Rest, happen: () => Promise<void>) {
  const settled = async (state: string) =>
    (await rest('GET', `/webhooks/deliveries?states=${state}&limit=1`)).data.length > 0;
  while (await settled('pending')) await pause();
  const from = new Date().toISOString();
  await receiver.answer(503);
  await happen();
  while (!(await settled('failed'))) await pause();
  await receiver.answer(200);
  return { from, to: new Date(Date.now() + 1).toISOString() };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Every sixth number is not on the network of the sandbox. */
function numberOf(n: number): string {
  return n % 6 === 5 ? `+1 555 000 0${String(n).padStart(3, '0')}` : `+49 170 3${String(n).padStart(3, '0')} 1111`;
}
