import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '../sdk/src/client.ts';
import type { EventData } from '../sdk/src/events.ts';
import { webhookHandler } from '../sdk/src/express.ts';
import { isRefusal } from './refusals.ts';

/*
 * Lets a published Typebot answer direct chats (https://docs.typebot.io/api-reference/chat/start-chat). Texts, files
 * and the choices of an input are sent; a person answers a choice with its text. A file that cannot be sent is replaced
 * with its address. Messages without text, such as a photo without a caption, get no answer.
 *
 *   SWITCHBOARD_KEY=… WEBHOOK_SECRET=… TYPEBOT_ID=my-bot-x1y2z3 node examples/typebot.ts
 *
 * Set up a webhook for `message.incoming` with `"ordering": "strict"`, `"timeoutMs": 60000` and
 * `"filters": {"chatTypes": ["direct"]}`. The key needs `messages:send`.
 */

const {
  SWITCHBOARD_URL: baseUrl = 'http://127.0.0.1:8080',
  SWITCHBOARD_KEY: credential = '',
  WEBHOOK_SECRET: secret = '',
  TYPEBOT_URL: typebotUrl = 'https://typebot.io',
  TYPEBOT_ID: botId = '',
  PORT = '3001',
} = process.env;
const sb = createClient({ baseUrl, credential });

type Bubble = { type: 'text' | 'image' | 'video' | 'audio'; content: { markdown?: string; url?: string } };
type Reply = { sessionId?: string; messages: Bubble[]; input?: { items?: { content?: string }[] }; isRefused?: true };

/** Typebot cannot read this message, so a repetition would not help. */
const REFUSED = [400, 413, 415, 422];

/** Typebot's sessions by chat. Keep them in a database if chats must survive a restart. */
const sessions = new Map<string, string>();
const MAX_SESSIONS = 10_000;
/** Replies that were not sent completely: Typebot must not get the same answer again. */
const unsent = new Map<string, Reply>();

const handler = webhookHandler({
  secret,
  onEvent: async ({ event, data }) => {
    if (event === 'message.incoming' && data.groupId === undefined && data.message.trim() !== '') await answer(data);
  },
});
const server = createServer(handler).listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`Listening on port ${(server.address() as AddressInfo).port}\n`);
});

async function answer({ sessionId, from, messageId, message }: EventData['message.incoming']): Promise<void> {
  const chat = `${sessionId}/${from}`;
  const known = sessions.get(chat);
  const reply = unsent.get(messageId) ?? (await replyTo(known, message));
  if (unsent.size >= MAX_SESSIONS) unsent.delete(unsent.keys().next().value ?? '');
  unsent.set(messageId, reply);
  const choices = reply.input?.items?.flatMap(({ content }) => (content ? [`- ${content}`] : [])) ?? [];
  const texts: Bubble[] = choices.length > 0 ? [{ type: 'text', content: { markdown: choices.join('\n') } }] : [];
  for (const [index, { type, content }] of [...reply.messages, ...texts].entries()) {
    const key = `typebot-${messageId}-${index}`;
    const sendText = (message: string, idempotencyKey: string) =>
      isSent(sb.messages.send({ sessionId, to: from, message }, { idempotencyKey }));
    if (content.markdown) await sendText(content.markdown, key);
    else if (content.url && type !== 'text') {
      const { url } = content;
      const sending = sb.messages.sendMedia({ sessionId, to: from, type, url }, { idempotencyKey: key });
      if (!(await isSent(sending))) await sendText(url, `${key}-url`);
    }
  }
  unsent.delete(messageId);
  if (reply.isRefused) return; // the chat waits for another answer
  sessions.delete(chat);
  if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value ?? '');
  // Without an input, the bot has finished.
  const next = reply.sessionId ?? known;
  if (reply.input && next) sessions.set(chat, next);
}

/** Returns false for a message that would be refused again, so that the chat goes on without it. */
async function isSent(sending: Promise<unknown>): Promise<boolean> {
  try {
    await sending;
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    process.stderr.write(`A message of the bot was refused: ${error.code} ${error.message}\n`);
    return false;
  }
}

async function replyTo(session: string | undefined, text: string): Promise<Reply> {
  // 404: the session has ended or expired, so the chat starts again.
  const continued = session && (await typebot(`sessions/${session}/continueChat`, text));
  const reply = continued || (await typebot(`typebots/${encodeURIComponent(botId)}/startChat`, text));
  if (reply === undefined) throw new Error(`Typebot has no published bot ${botId}`);
  return reply;
}

/** Undefined if Typebot does not know the session or the bot. */
async function typebot(path: string, text: string): Promise<Reply | undefined> {
  const answer = await fetch(`${typebotUrl.replace(/\/$/, '')}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { type: 'text', text }, textBubbleContentFormat: 'markdown' }),
    signal: AbortSignal.timeout(20_000),
  });
  if (answer.status === 404) return undefined;
  if (REFUSED.includes(answer.status)) {
    process.stderr.write(`Typebot refused a message with ${answer.status}\n`);
    return { messages: [], isRefused: true };
  }
  if (!answer.ok) throw new Error(`Typebot returned ${answer.status}`);
  return (await answer.json()) as Reply;
}
