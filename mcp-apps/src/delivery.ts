import { button, h, root, setText, visible } from './elements.ts';
import { asOutput, Host, listOf, type Output, textOf } from './host.ts';
import { Polling } from './polling.ts';

/*
 * Shows a webhook delivery of `webhooks_get_delivery`: its stages from the event to its outcome, each attempt, and why.
 * A person can replay it.
 */

const EVERY_MS = 2000;
/** Later attempts come minutes apart. */
const FOR_MS = 60_000;

const main = root();
const message = h('p', { role: 'status' }, 'Loading…');
const content = h('div', {});
main.append(h('h1', {}, 'Delivery doctor'), content, message);

let deliveryId = '';
/** The number of attempts that a replay waits to exceed. */
let attemptsBefore = Number.POSITIVE_INFINITY;
const polling = new Polling({
  everyMs: EVERY_MS,
  forMs: FOR_MS,
  async turn() {
    const delivery = await load();
    const isDone = Number(delivery['attempts']) > attemptsBefore && delivery['state'] !== 'pending';
    if (isDone) setText(message, '');
    return !isDone;
  },
  onPause: (error) => setText(message, error?.message ?? 'The replay has no outcome yet. Refresh later.'),
});

const host = new Host('switchboard-delivery', {
  onInput(input) {
    deliveryId = textOf(input['deliveryId']);
  },
  onResult: (result) =>
    void result.then(
      ({ output }) => {
        setText(message, '');
        show(output);
      },
      (error: Error) => setText(message, error.message),
    ),
  onStop: () => polling.stop(),
});
void host.connect();

async function load(): Promise<Output> {
  const { output } = await host.call('webhooks_get_delivery', { deliveryId });
  show(output);
  return output;
}

function show(delivery: Output): void {
  deliveryId = textOf(delivery['deliveryId']) || deliveryId;
  const state = textOf(delivery['state']);
  content.replaceChildren(
    h('p', {}, h('span', { class: `state ${state}` }, state), ' ', h('code', {}, textOf(delivery['event']))),
    h('p', { class: 'why' }, visible(textOf(delivery['why']))),
    h('ol', { class: 'stages' }, ...stagesOf(delivery)),
    h(
      'dl',
      {},
      ...(['deliveryId', 'webhookId', 'eventId', 'messageId'] as const).flatMap((name) =>
        delivery[name] ? [h('dt', {}, LABELS[name]), h('dd', {}, h('code', {}, textOf(delivery[name])))] : [],
      ),
    ),
    h('details', {}, h('summary', {}, 'Body'), h('pre', { tabindex: '0' }, visible(textOf(delivery['body'])))),
    actionsFor(delivery),
  );
}

const LABELS = { deliveryId: 'Delivery', webhookId: 'Webhook', eventId: 'Event', messageId: 'Message' };

function stagesOf(delivery: Output): HTMLElement[] {
  const log = listOf(delivery['attemptLog']);
  const left = Number(delivery['attempts']) - log.length;
  return [
    stage('good', 'The event happened', delivery['createdAt']),
    ...log.map(attemptOf),
    ...(left > 0 ? [stage('soft', `${left} more attempts are not shown here`, undefined)] : []),
    endOf(delivery),
  ];
}

function attemptOf(attempt: Output): HTMLElement {
  const isGood = attempt['class'] === 'ok';
  const http = attempt['status'] === null || attempt['status'] === undefined ? '' : `HTTP ${attempt['status']}, `;
  return stage(
    isGood ? 'good' : 'bad',
    `Attempt ${textOf(attempt['number'])}: ${visible(textOf(attempt['message']))}`,
    attempt['at'],
    h('p', { class: 'soft' }, `${http}${textOf(attempt['durationMs'])} ms`),
    textOf(attempt['response']) !== '' &&
      h('details', {}, h('summary', {}, 'Response'), h('pre', { tabindex: '0' }, visible(textOf(attempt['response'])))),
  );
}

function endOf(delivery: Output): HTMLElement {
  const state = textOf(delivery['state']);
  if (state === 'delivered') return stage('good', 'Delivered', delivery['settledAt']);
  if (state !== 'pending')
    return stage('bad', `${state.slice(0, 1).toUpperCase()}${state.slice(1)}`, delivery['settledAt']);
  if (delivery['heldBehind']) return stage('soft', `Waits for the delivery ${delivery['heldBehind']}`, undefined);
  return stage('soft', 'Next attempt', delivery['dueAt']);
}

function stage(kind: 'good' | 'bad' | 'soft', title: string, at: unknown, ...more: (Node | false)[]): HTMLElement {
  return h(
    'li',
    { class: kind },
    h('strong', {}, title),
    at ? h('time', { datetime: textOf(at), class: 'soft' }, host.time(at)) : undefined,
    ...more,
  );
}

/** The buttons. A replay asks first, and is offered only where the server can do it. */
function actionsFor(delivery: Output): HTMLElement {
  const refresh = button('Refresh', () => void attempt(load));
  const actions = h('div', { class: 'row' }, refresh);
  if (delivery['state'] === 'pending' || delivery['isTest'] === true) return actions;
  const replay = button('Replay', () => {
    const cancel = button('Cancel', () => {
      question.replaceWith(replay);
      replay.focus();
    });
    const confirm = button('Send again', () => void attempt(() => sendAgain(delivery)), { class: 'main' });
    const question = h(
      'div',
      { role: 'group', 'aria-label': 'Replay', class: 'question' },
      h('p', {}, 'Send this event to the webhook again? It keeps its X-Webhook-Id.'),
      h('div', { class: 'row' }, confirm, cancel),
    );
    replay.replaceWith(question);
    confirm.focus();
  });
  actions.append(replay);
  return actions;
}

async function sendAgain(delivery: Output): Promise<void> {
  const { output } = await host.call('webhooks_replay', { deliveryIds: [deliveryId] });
  if (output['replayed'] !== 1) {
    const why = 'its webhook was removed, or it is pending already';
    setText(
      message,
      output['replayed'] === 0 ? `Not sent again: ${why}.` : 'Not sent again. Ask the agent to replay it.',
    );
    return;
  }
  setText(message, 'Sending it again…');
  attemptsBefore = Number(delivery['attempts']);
  polling.start();
  await host.tell(`The user replayed the delivery ${deliveryId}.`);
}

/** Disables the buttons meanwhile, so that a second click does nothing. */
async function attempt(act: () => Promise<unknown>): Promise<void> {
  for (const one of content.querySelectorAll('button')) one.disabled = true;
  try {
    await act();
  } catch (error) {
    setText(message, asMessage(error));
  } finally {
    for (const one of content.querySelectorAll('button')) one.disabled = false;
  }
}

const asMessage = (error: unknown): string =>
  error instanceof Error ? error.message : textOf(asOutput(error)?.['message'] ?? error);
