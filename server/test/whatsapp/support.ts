import { after, before } from 'node:test';
import type { EventKind } from '../../src/events/events.ts';
import { eventually } from '../support/eventually.ts';
import {
  type FakeWhatsapp,
  type FakeWhatsappOptions,
  type Phone,
  startFakeWhatsapp,
} from '../support/fakeWhatsapp/index.ts';
import { type Answer, type Call, startServer, type TestServer } from '../support/server.ts';

/** A Switchboard server, connected to a fake WhatsApp network. */
export interface Setting {
  readonly whatsapp: FakeWhatsapp;
  readonly server: TestServer;
  /** Calls the API as the account. */
  readonly call: Call;
  readonly token: string;
}

/**
 * Starts both before the tests of a file, and stops them afterwards.
 * @param prepare runs before the first test
 * @param network options for the fake
 */
export function useWhatsapp(
  env: Record<string, string> = {},
  prepare: () => Promise<void> = async () => {},
  network: FakeWhatsappOptions = {},
): Setting {
  let whatsapp: FakeWhatsapp;
  let server: TestServer;
  let call: Call;
  let token: string;

  before(async () => {
    whatsapp = await startFakeWhatsapp(network);
    whatsapp.trustMedia();
    server = await startServer({ env: { ...whatsapp.env, ...env } });
    ({ call, token } = await server.account());
    await prepare();
  });
  after(async () => {
    await server.stop();
    await whatsapp.close();
  });

  return {
    get whatsapp() {
      return whatsapp;
    },
    get server() {
      return server;
    },
    get call() {
      return call;
    },
    get token() {
      return token;
    },
  };
}

/** Resolves with the session once it has this status. */
export function inStatus(call: Call, sessionId: string, status: string): Promise<Answer['body']> {
  return eventually(
    async () => (await call('GET', `/sessions/${sessionId}`)).body,
    (session) => session.status === status,
  );
}

/** Creates a session and starts linking. @returns its id and QR code */
export async function showQr(call: Call, options: object = {}): Promise<{ sessionId: string; qr: string }> {
  const { body } = await call('POST', '/sessions', { connector: 'whatsapp', options: { pauseMs: 0, ...options } });
  const { sessionId } = body;
  await call('POST', `/sessions/${sessionId}/connect`);
  await inStatus(call, sessionId, 'awaiting_pairing');
  const shown = await call('GET', `/sessions/${sessionId}/qr`);
  return { sessionId, qr: shown.body.qr };
}

/** Creates a session and links it to a phone. @returns its id */
export async function linkSession(call: Call, phone: Phone, options: object = {}): Promise<string> {
  const { sessionId, qr } = await showQr(call, options);
  await phone.scan(qr);
  await inStatus(call, sessionId, 'connected');
  return sessionId;
}

let phones = 0;

/** A phone that no other test uses. */
export function nextPhone(whatsapp: FakeWhatsapp, name?: string): Phone {
  return whatsapp.phone(`1555${1_000_000 + ++phones}`, name);
}

/** The events of a session so far, in order. */
export async function eventsOf(
  call: Call,
  sessionId: string,
  kinds: readonly EventKind[],
): Promise<{ event: EventKind; data: Answer['body'] }[]> {
  const { body } = await call('GET', `/events?events=${kinds.join(',')}&limit=200`);
  return body.data.filter(({ data }: Answer['body']) => data.sessionId === sessionId);
}
