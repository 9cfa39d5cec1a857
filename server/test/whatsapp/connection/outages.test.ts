import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import type { Refusal, StreamEnd } from '../../support/fakeWhatsapp/index.ts';
import { eventOf } from '../../support/server.ts';
import { eventsOf, inStatus, linkSession, nextPhone, useWhatsapp } from '../support.ts';

/** With the usual keep-alive, because a busy machine is silent for seconds at times, which would be another outage. */
const setting = useWhatsapp();

/** Links a session and waits for its event. */
async function linked({ whatsapp, call } = setting) {
  const phone = nextPhone(whatsapp);
  const sessionId = await linkSession(call, phone);
  await eventOf(call, 'session.connected', (data) => data.sessionId === sessionId);
  return { phone, sessionId };
}

const storyOf = (sessionId: string) => eventsOf(setting.call, sessionId, ['session.connected', 'session.disconnected']);

describe('temporary outages', () => {
  const outages: Record<string, (number: string) => void> = {
    'a connection that breaks': (number) => setting.whatsapp.faults.drop(number),
    'a server that sends it away': (number) => setting.whatsapp.faults.endStream(number, 'unavailable'),
    'an error without a name': (number) => setting.whatsapp.faults.endStream(number, 'unknown'),
  };
  for (const [title, cause] of Object.entries(outages)) {
    it(`${title} causes one event each for its beginning and end, and no new code`, async () => {
      const { phone, sessionId } = await linked();
      cause(phone.number);
      const gone = await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
      assert.equal(gone.willReconnect, true);
      assert.match(gone.reason, /WhatsApp/);
      await inStatus(setting.call, sessionId, 'connected');
      const story = await storyOf(sessionId);
      assert.deepEqual(
        story.map(({ event }) => event),
        ['session.connected', 'session.disconnected', 'session.connected'],
      );
    });
  }

  it('a server that is down for several attempts causes one event, and the last error is shown', async () => {
    const { phone, sessionId } = await linked();
    setting.whatsapp.faults.refuseLogins(phone.number, 503, 2);
    setting.whatsapp.faults.drop(phone.number);
    await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
    await inStatus(setting.call, sessionId, 'connected');
    assert.equal((await storyOf(sessionId)).length, 3);
    const { body } = await setting.call('GET', `/sessions/${sessionId}/history`);
    const reasons = body.data.map(({ reason }: { reason: string | null }) => reason);
    assert.ok(reasons.includes('WhatsApp is not available right now'), JSON.stringify(reasons));
  });

  it('a temporary ban is reported, and its end awaited before the next attempt', async () => {
    const { phone, sessionId } = await linked();
    const { refusedLogins } = setting.whatsapp.counters;
    setting.whatsapp.faults.ban(phone.number, 3);
    setting.whatsapp.faults.drop(phone.number);
    const banned = await eventually(
      async () => (await setting.call('GET', `/sessions/${sessionId}`)).body,
      ({ error }) => error === 'WhatsApp has banned the number temporarily',
    );
    assert.equal(banned.status, 'connecting');
    await inStatus(setting.call, sessionId, 'connected');
    assert.equal(setting.whatsapp.counters.refusedLogins, refusedLogins + 1);
    assert.equal((await storyOf(sessionId)).length, 3);
  });

  it('a restart requested by the server is not an outage', async () => {
    const { phone, sessionId } = await linked();
    const { logins } = setting.whatsapp.counters;
    setting.whatsapp.faults.endStream(phone.number, 'restart');
    await eventually(
      async () => setting.whatsapp.counters.logins,
      (now) => now > logins,
    );
    assert.deepEqual((await storyOf(sessionId)).length, 1);
  });
});

describe('a connection that falls silent', () => {
  const setting = useWhatsapp({ WHATSAPP_KEEP_ALIVE_SECONDS: '1' });

  it('is replaced without a new code', async () => {
    const { phone, sessionId } = await linked(setting);
    setting.whatsapp.faults.freeze(phone.number);
    const gone = await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
    assert.equal(gone.willReconnect, true);
    assert.match(gone.reason, /WhatsApp/);
    await inStatus(setting.call, sessionId, 'connected');
    const story = await eventsOf(setting.call, sessionId, ['session.connected', 'session.disconnected']);
    assert.deepEqual(
      story.slice(0, 3).map(({ event }) => event),
      ['session.connected', 'session.disconnected', 'session.connected'],
    );
  });
});

describe('permanent disconnections', () => {
  const ends: Record<
    string,
    { cause: (number: string) => void; status: string; reason: RegExp; isFoundOutLater?: true }
  > = {
    'another client with the same credentials': {
      cause: (number) => setting.whatsapp.faults.endStream(number, 'replaced' satisfies StreamEnd),
      status: 'disconnected',
      reason: /Another client connected with the credentials/,
    },
    'an account without linked devices': {
      cause: refuse(411),
      status: 'disconnected',
      reason: /update WhatsApp/,
      isFoundOutLater: true,
    },
    'a ban': { cause: refuse(403), status: 'disconnected', reason: /banned the number/, isFoundOutLater: true },
    'the phone that unlinks it': {
      cause: (number) => setting.whatsapp.phone(number).unlink(),
      status: 'logged_out',
      reason: /unlinked on the phone/,
    },
  };
  for (const [title, { cause, status, reason, isFoundOutLater = false }] of Object.entries(ends)) {
    it(`${title} is reported with a reason ${isFoundOutLater ? 'at the next login' : 'once'}`, async () => {
      const { phone, sessionId } = await linked();
      cause(phone.number);
      const session = await inStatus(setting.call, sessionId, status);
      assert.match(session.error, reason);
      const [connected, ...gone] = await storyOf(sessionId);
      assert.equal(connected?.event, 'session.connected');
      assert.deepEqual(
        gone.map(({ event, data }) => [event, data.willReconnect]),
        [...(isFoundOutLater ? [['session.disconnected', true]] : []), ['session.disconnected', false]],
      );
      assert.match(gone.at(-1)?.data.reason, reason);
      assert.equal(new Set(gone.map(({ data }) => data.disconnectedAt)).size, 1, 'a single outage');
    });
  }

  function refuse(code: Refusal) {
    return (number: string) => {
      setting.whatsapp.faults.refuseLogins(number, code);
      setting.whatsapp.faults.drop(number);
    };
  }

  it('a session that was unlinked shows a new code, and links with it', async () => {
    const { phone, sessionId } = await linked();
    phone.unlink();
    await inStatus(setting.call, sessionId, 'logged_out');
    await setting.call('POST', `/sessions/${sessionId}/connect`);
    await inStatus(setting.call, sessionId, 'awaiting_pairing');
    const { body } = await setting.call('GET', `/sessions/${sessionId}/qr`);
    await phone.scan(body.qr);
    await inStatus(setting.call, sessionId, 'connected');
  });
});

describe('a version that WhatsApp refuses', () => {
  afterEach(() => {
    setting.whatsapp.faults.requireVersion(undefined);
    setting.whatsapp.faults.stateRevision(undefined);
  });

  it('reports the setting to change and retries when the page states no other, and a connect call does not wait', async () => {
    const { phone, sessionId } = await linked();
    setting.whatsapp.faults.requireVersion([9, 0, 0]);
    setting.whatsapp.faults.drop(phone.number);
    await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
    const waiting = await eventually(
      async () => (await setting.call('GET', `/sessions/${sessionId}`)).body,
      ({ error }) => /WHATSAPP_VERSION/.test(error),
    );
    assert.equal(waiting.status, 'connecting');
    setting.whatsapp.faults.requireVersion(undefined);
    assert.equal((await setting.call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    await inStatus(setting.call, sessionId, 'connected');
  });
});

describe('a page that cannot be read', () => {
  const setting = useWhatsapp();
  const STATED = 1_999_999_999;

  it('is read again for sessions that are asked to connect', async () => {
    const { faults, counters } = setting.whatsapp;
    const { phone, sessionId } = await linked(setting);
    faults.requireVersion([2, 3000, STATED]);
    faults.stateRevision(500);
    faults.drop(phone.number);
    const isRefused = async (id: string) =>
      eventually(
        async () => (await setting.call('GET', `/sessions/${id}`)).body,
        ({ error }) => /WHATSAPP_VERSION/.test(error),
      );
    await isRefused(sessionId);
    assert.equal(counters.pageReads, 1);
    const { body: other } = await setting.call('POST', '/sessions', { connector: 'whatsapp' });
    assert.equal((await setting.call('POST', `/sessions/${other.sessionId}/connect`)).status, 200);
    await isRefused(other.sessionId);
    assert.equal(counters.pageReads, 2, 'a new session');
    faults.stateRevision(STATED);
    assert.equal((await setting.call('POST', `/sessions/${sessionId}/connect`)).status, 200);
    await inStatus(setting.call, sessionId, 'connected');
    assert.equal(counters.pageReads, 3, 'a session that waits');
  });
});

describe('a version that the page states', () => {
  const setting = useWhatsapp();
  const NEWER = 1_999_999_999;

  it('replaces the refused one for all sessions after one read, even of a device that is not linked', async () => {
    const { faults, counters } = setting.whatsapp;
    const first = await linked(setting);
    const second = await linked(setting);
    assert.equal(counters.pageReads, 0);
    faults.requireVersion([2, 3000, NEWER]);
    faults.stateRevision(NEWER);
    const refusedBefore = counters.refusedLogins;
    for (const { phone } of [first, second]) faults.drop(phone.number);
    for (const { sessionId } of [first, second]) {
      await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
      await inStatus(setting.call, sessionId, 'connected');
    }
    assert.equal(counters.pageReads, 1);
    assert.ok(counters.refusedLogins - refusedBefore <= 2);
    const story = await eventsOf(setting.call, first.sessionId, ['session.connected', 'session.disconnected']);
    assert.equal(story.length, 3, 'one outage');
    const refused = counters.refusedLogins;
    await linked(setting);
    assert.equal(counters.refusedLogins, refused, 'a later session begins with the newer version');
  });

  it('is read again when it is refused later', async () => {
    const { faults, counters } = setting.whatsapp;
    const { phone, sessionId } = await linked(setting);
    const reads = counters.pageReads;
    faults.requireVersion([2, 3000, NEWER + 1]);
    faults.stateRevision(NEWER + 1);
    faults.drop(phone.number);
    await eventOf(setting.call, 'session.disconnected', (data) => data.sessionId === sessionId);
    await inStatus(setting.call, sessionId, 'connected');
    assert.equal(counters.pageReads, reads + 1);
  });
});
