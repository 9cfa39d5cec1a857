import { createHmac } from 'node:crypto';
import {
  type IDataObject,
  type IExecuteFunctions,
  type IWebhookDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  sleep,
} from 'n8n-workflow';
import { type ItemCall, type Output, present } from './itemCall.ts';
import { listOwn, metadataOf, removeWebhook } from './ownWebhooks.ts';
import { send, textFields } from './sending.ts';
import { receive } from './signature.ts';
import { type Caller, CREDENTIAL, isTemporary, path, readPage } from './transport.ts';

/*
 * Send and wait for the answer: the next message in the chat. Either the execution keeps running and follows the event
 * log, or n8n stores it, and a webhook continues it. Both notice an answer that arrives right after the message,
 * because they read the log from a cursor that is older than the message.
 */

/** The server accepts webhooks of 366 days. */
const MAX_WAIT_MS = 365 * 86_400_000;
/**
 * Time that an answer's webhook outlives the wait, for clocks that differ. n8n runs no code of the node when the time
 * ends.
 */
const RESERVE_MS = 3_600_000;
const UNITS_MS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const MAX_IN_PLACE_MS = 10 * 60_000;
const LONGEST_POLL_SECONDS = 25;
/** Longest pause between two calls while the server cannot be reached. */
const MAX_OUTAGE_PAUSE_MS = 15_000;
const SUFFIX = 'answer';
/**
 * n8n responds with 409 until it has stored the waiting execution, which can take a moment, and cannot be reached while
 * it restarts.
 */
const RETRY_SECONDS = [
  1, 2, 3, 5, 10, 20, 30, 60, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400,
];

/** Lets n8n continue a stored execution at `…/<executionId>/answer`. */
export const answerWebhooks: IWebhookDescription[] = [
  {
    name: 'default',
    httpMethod: 'POST',
    responseMode: 'onReceived',
    responseData: 'noData',
    path: SUFFIX,
    restartWebhook: true,
    isFullPath: true,
  },
];

/** Returns the retries that end with the wait: nothing accepts a later answer. */
function retriesWithin(waitMs: number): number[] {
  let total = 0;
  return RETRY_SECONDS.filter((seconds) => {
    total += seconds;
    return total * 1000 <= waitMs;
  });
}

function limitMs(item: ItemCall): number {
  const limit = item.number(item.param('waitLimit', 1), 'Limit') ?? 0;
  if (limit <= 0) throw item.error('"Limit" must be a positive number');
  const waitMs = limit * UNITS_MS[item.choice('waitUnit', 'Unit', ['hours', 'minutes', 'days'])];
  if (waitMs > MAX_WAIT_MS) throw item.error('"Limit" must be at most 365 days');
  return waitMs;
}

/** Sends the message and follows the log until the answer arrives. */
export async function askInPlace(item: ItemCall): Promise<Output> {
  const deadline = Date.now() + Math.min(limitMs(item), MAX_IN_PLACE_MS);
  const { question, log } = await ask(item);
  for (;;) {
    const secondsLeft = Math.ceil((deadline - Date.now()) / 1000);
    const seconds = Math.max(0, Math.min(secondsLeft, LONGEST_POLL_SECONDS));
    const answer = await outlastingOutages(deadline, () => log.find(question, seconds));
    if (answer === undefined && secondsLeft > 0) continue;
    log.end();
    return answer === undefined ? { answered: false, question } : answered(answer);
  }
}

/** Repeats a call until the deadline while the server restarts or cannot be reached, after growing pauses. */
async function outlastingOutages<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  for (let pauseMs = 1000; ; pauseMs = Math.min(2 * pauseMs, MAX_OUTAGE_PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0 || !isTemporary(error)) throw error;
      await sleep(Math.min(pauseMs, leftMs));
    }
  }
}

/**
 * Sends the message and stores the execution until the answer arrives. The webhook is created before the message is
 * sent, so that nobody is asked if the server refuses the webhook.
 * @returns the answer if it is there already; otherwise undefined, and the execution waits
 */
export async function askAndSuspend(item: ItemCall): Promise<Output | undefined> {
  const until = Date.now() + limitMs(item);
  const fields = textFields(item);
  const log = await openLog(item, fields);
  const webhookId = await createDisabled(item, until);
  try {
    const question = await send(item, 'send', fields);
    await enable(item, webhookId, question);
    const answer = await log.find(question, 0);
    if (answer === undefined) await item.execution.putExecutionToWait(new Date(until));
    else await removeUnneeded(item.execution, webhookId);
    log.end();
    return answer && answered(answer);
  } catch (error) {
    await removeUnneeded(item.execution, webhookId);
    throw error;
  }
}

/** Creates the webhook of the answer. It gets no event before the question is sent, since that is not the answer. */
async function createDisabled(item: ItemCall, until: number): Promise<string> {
  const { execution } = item;
  const resumeUrl = new URL(String(execution.evaluateExpression('{{ $execution.resumeUrl }}', item.itemIndex)));
  resumeUrl.pathname += `/${SUFFIX}`;
  const executionId = execution.getExecutionId();
  const { webhookId } = await item.call({
    method: 'POST',
    path: '/webhooks/endpoints',
    body: {
      webhookUrl: resumeUrl.href,
      events: ['message.incoming'],
      enabled: false,
      secret: await secretOf(execution, executionId),
      retrySeconds: retriesWithin(until - Date.now()),
      description: `n8n: answer for execution ${executionId}`,
      metadata: metadataOf('answer', { executionId, workflowId: String(execution.getWorkflow().id) }),
      expiresAt: new Date(until + RESERVE_MS).toISOString(),
    },
    // Each try has another time, and with it another webhook.
    idempotencyKey: `${item.idempotencyKey('answer')}-${until}`,
  });
  return String(webhookId);
}

/** Lets the webhook receive the chat's messages. The log has the ones since the question. */
async function enable(item: ItemCall, webhookId: string, question: IDataObject): Promise<void> {
  await item.call({
    method: 'PATCH',
    path: path`/webhooks/endpoints/${webhookId}`,
    body: {
      enabled: true,
      sessionIds: [question['sessionId']],
      filters: { chats: [question['chatId']], fromMe: false },
    },
    isRepeatable: true,
  });
}

/** Removes the webhook after a failed try, or for an answer that is there already. */
async function removeUnneeded(execution: IExecuteFunctions, webhookId: string): Promise<void> {
  try {
    await removeWebhook(execution, webhookId);
  } catch (error) {
    // The error of the try or the answer counts more. The webhook expires.
    execution.logger.warn('failed to remove the webhook of a question', { webhookId, error });
  }
}

/** Sends the question. @returns it, and the log from before it was sent */
async function ask(item: ItemCall): Promise<{ question: IDataObject; log: AnswerLog }> {
  const fields = textFields(item);
  const log = await openLog(item, fields);
  return { question: await send(item, 'send', fields), log };
}

function openLog(item: ItemCall, fields: IDataObject): Promise<AnswerLog> {
  return AnswerLog.open(item, item.idempotencyKey(present(fields)));
}

/** Continues a stored execution with the answer. */
export async function continueWithAnswer(context: IWebhookFunctions): Promise<IWebhookResponseData> {
  const executionId = context.getExecutionId();
  const delivered = receive(context, [await secretOf(context, executionId)]);
  if (delivered === undefined) return { noWebhookResponse: true };
  // The execution goes on waiting.
  if (delivered.isTest || delivered.event !== 'message.incoming') return { webhookResponse: 'ignored' };
  await removeAnswered(context, executionId);
  return { workflowData: [[{ json: answered(delivered.data as IDataObject), pairedItem: { item: 0 } }]] };
}

async function removeAnswered(context: IWebhookFunctions, executionId: string): Promise<void> {
  try {
    const own = await listOwn(context);
    for (const webhook of own.filter((one) => one.purpose === 'answer' && one.executionId === executionId)) {
      await removeWebhook(context, webhook.webhookId);
    }
  } catch (error) {
    // The answer counts more. A later run sweeps the webhook.
    context.logger.warn('failed to remove the webhook of an answered message', { executionId, error });
  }
}

/**
 * Returns the secret of a waiting execution. It is derived, because a webhook has no access to what the node stored.
 */
async function secretOf(caller: Caller, executionId: string): Promise<string> {
  const { apiKey } = await caller.getCredentials<{ apiKey: string }>(CREDENTIAL);
  return createHmac('sha256', apiKey).update(`wait ${executionId} ${caller.getNode().id}`).digest('hex');
}

const answered = (answer: IDataObject): IDataObject => ({ answered: true, message: answer['message'], answer });

interface LogEntry {
  readonly event: string;
  readonly data: IDataObject;
}

/**
 * Reads the event log for the answer to a message. The start is stored with the execution, because a node with "Retry
 * On Fail" gets the message of the first try: the answer can have come since.
 */
class AnswerLog {
  readonly #item: ItemCall;
  readonly #stored: IDataObject;
  readonly #name: string;
  #cursor: string | null;
  #isSent = false;

  private constructor(item: ItemCall, stored: IDataObject, name: string) {
    this.#item = item;
    this.#stored = stored;
    this.#name = name;
    this.#cursor = stored[name] as string | null;
  }

  /** Opens the log at its newest event, or where an earlier try with this idempotency key has opened it. */
  static async open(item: ItemCall, key: string): Promise<AnswerLog> {
    const stored = item.execution.getContext('node');
    const name = `answersAfter ${key}`;
    if (!(name in stored)) {
      const page = await readPage(item.execution, { path: '/events', query: { afterCursor: 'now', limit: 1 } });
      // Null if there has never been an event.
      stored[name] = page.nextCursor;
    }
    return new AnswerLog(item, stored, name);
  }

  /** Forgets the start once no further try can follow. */
  end(): void {
    delete this.#stored[this.#name];
  }

  /** Returns the first message in the chat after the question, which arrives within this time. */
  async find(question: IDataObject, waitSeconds: number): Promise<IDataObject | undefined> {
    for (let wait = waitSeconds; ; wait = 0) {
      const before = this.#cursor;
      const page = await this.#item.page<LogEntry>({
        path: '/events',
        query: {
          events: ['message.incoming', 'message.sent'],
          limit: 200,
          wait,
          ...(this.#cursor !== null && { afterCursor: this.#cursor }),
        },
      });
      for (const { event, data } of page.data) {
        if (event === 'message.sent') this.#isSent ||= data['messageId'] === question['messageId'];
        else if (this.#isSent && isAnswer(data, question)) return data;
      }
      this.#cursor = page.nextCursor ?? before;
      if (page.data.length === 0) return undefined;
      // The same events would come again.
      if (this.#cursor === before) throw this.#item.foreignResponse();
    }
  }
}

function isAnswer(data: IDataObject, question: IDataObject): boolean {
  return data['chatId'] === question['chatId'] && data['sessionId'] === question['sessionId'];
}
