import { button, h, root, setText } from './elements.ts';
import { type Answer, Host, textOf } from './host.ts';
import { Polling } from './polling.ts';

/*
 * Shows the QR code of a session until a phone has scanned it, with a pairing code as the alternative. The status comes
 * from `sessions_get`, and each next code from `sessions_get_qr`.
 */

const EVERY_MS = 3000;
const FOR_MS = 10 * 60_000;

const status = h('p', { role: 'status', class: 'status' }, 'Loading…');
const picture = h('img', { alt: 'QR code to scan with the phone', width: '264', height: '264', hidden: '' });
const expiry = h('p', { class: 'soft' });
const resume = button('Continue', () => start());
const steps = h('p', { class: 'soft' }, 'Open the app on the phone, go to its linked devices, and scan this code.');
const number = h('input', { id: 'number', type: 'tel', autocomplete: 'tel', placeholder: '491701234567' });
const requestCode = button('Get a code', () => void showCode());
const code = h('p', { role: 'status', class: 'code' });
const alternative = h(
  'details',
  {},
  h('summary', {}, 'Use a pairing code instead'),
  h('label', { for: 'number' }, 'Phone number'),
  h('div', { class: 'row' }, number, requestCode),
  code,
);
const pairing = h('div', { class: 'pairing' }, picture, expiry, steps, alternative);
resume.hidden = true;
root().append(h('h1', {}, 'Connect a phone'), status, resume, pairing);
// A sandboxed frame submits no forms.
number.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') requestCode.click();
});

let sessionId = '';
/** When the picture that this page got last stops working, by `performance.now()`; 0 without one. */
let stopsAt = 0;
const polling = new Polling({
  everyMs: EVERY_MS,
  forMs: FOR_MS,
  turn,
  onPause(error) {
    setText(status, error === undefined ? 'Paused, because nobody has scanned the code.' : error.message);
    resume.hidden = false;
  },
});

const host = new Host('switchboard-pairing', {
  onInput(input) {
    sessionId = textOf(input['sessionId']);
    if (sessionId !== '') start();
  },
  onResult(result) {
    // It may be of a conversation of long ago, so this page gets a code as well. After an error, the status says more.
    result.then(
      ({ image }) => {
        if (stopsAt === 0) showImage(image);
      },
      () => {},
    );
  },
  onStop: () => polling.stop(),
});
void host.connect();

function start(): void {
  resume.hidden = true;
  polling.start();
}

/** Returns whether the phone is still to be connected. */
async function turn(): Promise<boolean> {
  const { output: session } = await host.call('sessions_get', { sessionId });
  const state = textOf(session['status']);
  const isWaiting = state === 'awaiting_pairing';
  pairing.hidden = !isWaiting && state !== 'connecting';
  setText(status, sentenceOf(state, textOf(session['phoneNumber']), textOf(session['error'])));
  if (isWaiting && performance.now() >= stopsAt) show(await host.call('sessions_get_qr', { sessionId }));
  if (isWaiting || state === 'connecting') return true;
  if (state === 'connected') await host.tell(`The session ${sessionId} is connected now.`);
  else resume.hidden = false;
  return false;
}

function sentenceOf(state: string, phoneNumber: string, error: string): string {
  if (state === 'connected') return phoneNumber === '' ? 'Connected.' : `Connected as +${phoneNumber}.`;
  if (state === 'awaiting_pairing') return 'Waiting for a phone.';
  if (state === 'connecting') return 'Connecting…';
  return `The session is ${state.replaceAll('_', ' ')}.${error === '' ? '' : ` ${error}`} Connect it again to get a code.`;
}

/** Shows a code that this page has just got. The clock of the viewer may differ from that of the server. */
function show({ output, image }: Answer): void {
  const leftMs = Number(output['expiresInSeconds'] ?? 0) * 1000;
  stopsAt = performance.now() + leftMs;
  showImage(image);
  const until = new Date(Date.now() + leftMs).toISOString();
  setText(expiry, `This code works until ${timeOf(until)}. The next one follows.`);
}

function showImage(image: string | undefined): void {
  if (image === undefined) return;
  picture.src = image;
  picture.hidden = false;
}

async function showCode(): Promise<void> {
  requestCode.disabled = true;
  try {
    const { output } = await host.call('sessions_request_pairing_code', {
      sessionId,
      phoneNumber: number.value.trim(),
    });
    code.replaceChildren(
      h('strong', {}, textOf(output['code'])),
      ` Enter this code on the phone by ${timeOf(output['expiresAt'])}.`,
    );
    start();
  } catch (error) {
    setText(code, error instanceof Error ? error.message : String(error));
  } finally {
    requestCode.disabled = false;
  }
}

const timeOf = (iso: unknown) => host.time(iso, { timeStyle: 'medium' });
