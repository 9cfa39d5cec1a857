import { type Agent, found, type Output } from './agent.ts';
import { people, type Scene } from './scene.ts';

/*
 * Twelve tasks that people give an agent, each as the calls of an agent that has read only the list of tools and the
 * results so far. `people` and `scene` stand for what the user has said, and for what others do meanwhile.
 *
 * They share a scene and change it, so play each once, in this order. No task relies on what an earlier one changes:
 * chats that are unread, the outage, and the names of people and groups are as the scene made them.
 */

export interface Task {
  readonly about: string;
  /** @throws {BlockedError} */
  run(agent: Agent, scene: Scene): Promise<void>;
}

let keys = 0;
const idempotencyKey = () => `task ${process.pid} ${++keys}`;

/** Finds a person by the name that the user said. */
async function findContact(agent: Agent, name: string): Promise<{ phoneNumber: string; sessionId: string }> {
  const { data } = await agent.call('contacts_list', { q: name });
  return found(
    data.find((contact: Output) => contact.name === name),
    `the number of ${name}`,
  );
}

const name = (person: keyof typeof people) => people[person].senderName;

export const tasks: Readonly<Record<string, Task>> = {
  tellAnna: {
    about: 'tell Anna that the meeting moves, and confirm that she read it',
    async run(agent, { simulate }) {
      const { sessionId, phoneNumber: to } = await findContact(agent, name('anna'));
      const message = 'The meeting moves to Thursday, 10:00.';
      const sent = await agent.call('messages_send', { sessionId, to, message, idempotencyKey: idempotencyKey() });
      const isRead = agent.call('messages_get', { messageId: sent.messageId, wait: 30, until: 'read' });
      await simulate(sessionId, { action: 'receipt', messageId: sent.messageId, status: 'read' });
      found((await isRead).status === 'read' || undefined, 'that Anna read it');
    },
  },
  missedWebhook: {
    about: 'why did my webhook miss a message of Clara yesterday',
    async run(agent, { outage }) {
      const { data } = await agent.call('webhooks_list_deliveries', {
        states: ['failed', 'expired', 'pending'],
        afterTime: outage.from,
        beforeTime: outage.to,
      });
      const { deliveryId } = found(data[0], 'a delivery that failed');
      const { why, body } = await agent.call('webhooks_get_delivery', { deliveryId });
      found((/503/.test(why) && body.includes('parcel')) || undefined, 'why it failed');
      found((await agent.call('webhooks_get_circuit_breaker')).state, 'whether deliveries go out again');
    },
  },
  makeGroup: {
    about: 'make a group with Clara, David and Emma, and post the rules',
    async run(agent) {
      const members = [];
      for (const person of ['clara', 'david', 'emma'] as const) members.push(await findContact(agent, name(person)));
      const { groupId, sessionId, participants } = await agent.call('groups_create', {
        sessionId: members[0]?.sessionId,
        subject: 'Street festival',
        phoneNumbers: members.map(({ phoneNumber }) => phoneNumber),
        idempotencyKey: idempotencyKey(),
      });
      found(participants.length === members.length + 1 || undefined, 'that all were added');
      const message = 'Rules: be kind, no advertising, and answer within a day.';
      await agent.call('messages_send', { sessionId, to: groupId, message, idempotencyKey: idempotencyKey() });
    },
  },
  unreadChats: {
    about: 'summarize my unread chats',
    async run(agent) {
      const chats = await agent.call('chats_list', { unread: true });
      const several = chats.data.reduce((sum: number, { unreadCount }: Output) => sum + unreadCount, 0);
      const read = new Set<string>();
      let cursor: string | undefined;
      do {
        const page = await agent.call('messages_list', {
          direction: 'incoming',
          status: 'delivered',
          ...(cursor !== undefined && { cursor }),
        });
        for (const { messageId } of page.data) read.add(messageId);
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      found((chats.nextCursor === null && read.size === several) || undefined, 'all unread messages');
    },
  },
  sendPicture: {
    about: 'send Emma the picture at this URL',
    async run(agent, { pictureUrl: url }) {
      const { sessionId, phoneNumber: to } = await findContact(agent, name('emma'));
      const picture = { sessionId, to, type: 'image', url, caption: 'The plan', idempotencyKey: idempotencyKey() };
      found((await agent.call('messages_send_media', picture)).status === 'sent' || undefined, 'that it was sent');
    },
  },
  takeBack: {
    about: 'schedule a message to David for tomorrow, and take it back',
    async run(agent) {
      const { sessionId, phoneNumber: to } = await findContact(agent, name('david'));
      const sendAt = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
      const message = { sessionId, to, message: 'See you at nine.', sendAt, idempotencyKey: idempotencyKey() };
      const { messageId, status } = await agent.call('messages_send', message);
      found(status === 'scheduled' || undefined, 'that it is scheduled');
      found((await agent.call('messages_delete', { messageId })).status === 'failed' || undefined, 'that it is off');
    },
  },
  benInvoice: {
    about: 'find what Ben said about the invoice',
    async run(agent) {
      const { sessionId, phoneNumber: from } = await findContact(agent, name('ben'));
      const { data } = await agent.call('messages_list', { sessionId, from, q: 'invoice' });
      found(
        data.find(({ message }: Output) => message.includes('half is due')),
        'the statement of Ben',
      );
    },
  },
  rotateSecret: {
    about: 'rotate the secret of the webhook',
    async run(agent) {
      const { webhookUrl, events } = await agent.call('webhooks_get');
      const { secretUrl } = await agent.call('webhooks_set', { webhookUrl, events, rotateSecret: true });
      found(secretUrl, 'where the user reads the new secret');
      found((await agent.call('webhooks_test')).delivered || undefined, 'that the receiver still answers');
    },
  },
  inviteNumbers: {
    about: 'check 120 numbers, and add the valid ones to the group "Weekend hike"',
    async run(agent, { support: sessionId, numbers }) {
      const valid: string[] = [];
      for (let from = 0; from < numbers.length; from += 100) {
        const phoneNumbers = numbers.slice(from, from + 100);
        const { data } = await agent.call('contacts_check', { sessionId, phoneNumbers });
        for (const { phoneNumber, onNetwork } of data) if (onNetwork) valid.push(phoneNumber);
      }
      found(valid.length === 100 || undefined, 'the valid numbers');
      const { groupId } = await findGroup(agent, 'Weekend hike');
      const added = await agent.call('groups_update_participants', { groupId, action: 'add', phoneNumbers: valid });
      found(added.results.length === valid.length || undefined, 'the result of each number');
    },
  },
  connectPhone: {
    about: 'connect a new phone, on a network that shows a QR code',
    async run(agent, { simulate }) {
      const { sessionId } = await agent.call('sessions_create', {
        ...{ name: 'Warehouse', connector: 'sandbox', options: { pairing: true } },
        idempotencyKey: idempotencyKey(),
      });
      const { status } = await agent.call('sessions_connect', { sessionId });
      found(status === 'awaiting_pairing' || undefined, 'that a phone has to be linked');
      found((await agent.call('sessions_get_qr', { sessionId })).qr, 'the QR code');
      await simulate(sessionId, { action: 'pair' });
      const session = await agent.call('sessions_get', { sessionId });
      found(session.status === 'connected' || undefined, 'that the phone is linked');
    },
  },
  blockAndLeave: {
    about: 'block the sender who says that I won a prize, and leave their group',
    async run(agent) {
      const { data } = await agent.call('messages_list', { q: 'prize', direction: 'incoming' });
      const { from, sessionId } = found(data[0], 'the sender of the prize');
      await agent.call('contacts_set_blocked', { sessionId, phoneNumber: from, blocked: true });
      const { groupId } = await findGroup(agent, 'Prize winners 2026');
      await agent.call('groups_leave', { groupId });
    },
  },
  waitForReply: {
    about: 'ask Emma when she arrives, and wait for her reply',
    async run(agent, { simulate }) {
      const { sessionId, phoneNumber: to } = await findContact(agent, name('emma'));
      const { nextCursor } = await agent.call('events_list', { afterCursor: 'now', limit: 1 });
      const message = { sessionId, to, message: 'When do you arrive?', idempotencyKey: idempotencyKey() };
      await agent.call('messages_send', message);
      const reply = agent.call('events_list', { afterCursor: nextCursor, events: ['message.incoming'], wait: 30 });
      await simulate(sessionId, { action: 'incoming', ...people.emma, message: 'At noon.' });
      const { data } = await reply;
      found(
        data.find((event: Output) => event.data.from === to && event.data.message === 'At noon.'),
        'the reply',
      );
    },
  },
};

async function findGroup(agent: Agent, subject: string): Promise<{ groupId: string }> {
  const { data } = await agent.call('groups_list', { q: subject });
  return found(
    data.find((group: Output) => group.subject === subject),
    `the group "${subject}"`,
  );
}

/** The goals of every task. */
export const MOST_CALLS = 6;
export const MOST_CHARACTERS = 20_000;

export interface Outcome {
  readonly calls: number;
  readonly characters: number;
  /** Why the task was not done; undefined if it was. */
  readonly blocked: string | undefined;
}

/** Plays a task with an agent of its own. */
export async function play({ run }: Task, agent: Agent, scene: Scene): Promise<Outcome> {
  let blocked: string | undefined;
  const before = { calls: agent.calls, characters: agent.characters };
  try {
    await run(agent, scene);
  } catch (error) {
    blocked = error instanceof Error ? error.message : String(error);
  }
  return { calls: agent.calls - before.calls, characters: agent.characters - before.characters, blocked };
}
