import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '../sdk/src/client.ts';
import type { EventData } from '../sdk/src/events.ts';
import { webhookHandler } from '../sdk/src/express.ts';
import { isRefusal } from './refusals.ts';

/*
 * Answers each voice message with its text, by any speech API that is compatible with OpenAI's
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription): OpenAI, Groq, or a local server such as
 * speaches. The voice message leaves your server only for that API.
 *
 *   SWITCHBOARD_KEY=… WEBHOOK_SECRET=… SPEECH_URL=http://127.0.0.1:8000/v1 node examples/voiceToText.ts
 *
 * Set up a webhook for `message.incoming` with `"timeoutMs": 60000` and `"filters": {"messageTypes": ["voice"]}`. The
 * key needs `media:read` and `messages:send`. A delivery succeeds once the text was sent, or was refused for good.
 * Until then Switchboard repeats it, so nothing is lost, and the idempotency key keeps the text from being sent twice.
 */

/** The limit of OpenAI. */
const MAX_BYTES = 25 * 1024 * 1024;
/** Less than the longest timeout of a webhook, so that the next attempt does not overtake this one. */
const SPEECH_TIMEOUT_MS = 50_000;
const MAX_TEXT = 4000;
/** The API cannot read this file, so a repetition would not help. */
const REFUSED = [400, 413, 415, 422];

const {
  SWITCHBOARD_URL: baseUrl = 'http://127.0.0.1:8080',
  SWITCHBOARD_KEY: credential = '',
  WEBHOOK_SECRET: secret = '',
  SPEECH_URL: speechUrl = 'https://api.openai.com/v1',
  SPEECH_KEY: speechKey,
  SPEECH_MODEL: model = 'whisper-1',
  SPEECH_LANGUAGE: language,
  PORT = '3001',
} = process.env;
const sb = createClient({ baseUrl, credential });

const handler = webhookHandler({
  secret,
  onEvent: async ({ event, data }) => {
    if (event === 'message.incoming' && data.type === 'voice' && data.media !== undefined) await answer(data);
  },
});
const server = createServer(handler).listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`Listening on port ${(server.address() as AddressInfo).port}\n`);
});

/** Texts that were not sent yet, by message: the API is paid once for each. */
const unsent = new Map<string, string>();
const MAX_UNSENT = 1000;

async function answer(voice: EventData['message.incoming']): Promise<void> {
  const { messageId } = voice;
  try {
    const text = unsent.get(messageId) ?? (await textOf(voice));
    if (text === '') return; // nothing was said
    if (unsent.size >= MAX_UNSENT) unsent.delete(unsent.keys().next().value ?? '');
    unsent.set(messageId, text);
    await reply(voice, text);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    process.stderr.write(`A voice message has no answer: ${error.code} ${error.message}\n`);
  }
  unsent.delete(messageId);
}

async function textOf({ media }: EventData['message.incoming']): Promise<string> {
  if (media === undefined || media.size > MAX_BYTES) return '';
  const content = await (await sb.media.content({ mediaId: media.mediaId })).blob();
  // Messages cannot have NUL or half of a character.
  return shortened((await transcribe(content)).replaceAll('\0', '').toWellFormed().trim());
}

/** Cuts between characters: many emoji consist of several code units. */
function shortened(text: string): string {
  const end = new Intl.Segmenter().segment(text).containing(MAX_TEXT)?.index;
  return end === undefined ? text : `${text.slice(0, end)}…`;
}

async function reply({ sessionId, chatId, from, messageId }: EventData['message.incoming'], message: string) {
  const idempotencyKey = `voice-${messageId}`;
  await sb.messages.send({ sessionId, to: chatId ?? from, replyTo: messageId, message }, { idempotencyKey });
}

/** @throws if the API fails, so that Switchboard delivers the event again */
async function transcribe(content: Blob): Promise<string> {
  const form = new FormData();
  form.set('file', content, 'voice.ogg'); // APIs tell the format by the name
  form.set('model', model);
  form.set('response_format', 'json');
  if (language) form.set('language', language);
  const answer = await fetch(`${speechUrl.replace(/\/$/, '')}/audio/transcriptions`, {
    method: 'POST',
    headers: speechKey ? { authorization: `Bearer ${speechKey}` } : {},
    body: form,
    signal: AbortSignal.timeout(SPEECH_TIMEOUT_MS),
  });
  if (REFUSED.includes(answer.status)) {
    process.stderr.write(`The speech API refused a voice message with ${answer.status}\n`);
    return '';
  }
  if (!answer.ok) throw new Error(`The speech API returned ${answer.status}`);
  const { text } = (await answer.json()) as { text?: unknown };
  if (typeof text !== 'string') throw new Error('The speech API returned no text');
  return text;
}
