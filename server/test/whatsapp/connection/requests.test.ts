import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { createFakeClock } from '../../support/fakeClock.ts';
import { type Answer, startServer } from '../../support/server.ts';
import { inStatus, linkSession, nextPhone, useWhatsapp } from '../support.ts';

const setting = useWhatsapp({ WHATSAPP_KEEP_ALIVE_SECONDS: '1' });

/** Makes a request that gets no response, and resolves once it has reached WhatsApp. */
async function requestWithoutResponse(
  namespace: string,
  ask: () => Promise<Answer>,
): Promise<{ answer: Promise<Answer> }> {
  const { counters, faults } = setting.whatsapp;
  const asked = async () => counters.queries[namespace] ?? 0;
  const before = await asked();
  faults.ignoreQueries(namespace);
  const answer = ask();
  await eventually(asked, (now) => now > before);
  // Wrapped in an object, because the caller would otherwise await the response too.
  return { answer };
}

it('reports a request without a response within 20 seconds as failed, never as done', async (t) => {
  const { whatsapp } = setting;
  const clock = createFakeClock(Date.now());
  // Silence of this length must not count as an outage.
  const env = { ...whatsapp.env, WHATSAPP_KEEP_ALIVE_SECONDS: '300' };
  const server = await startServer({ clock, env });
  t.after(() => server.stop());
  const { call } = await server.account();
  const bob = nextPhone(whatsapp, 'Bob');
  const sessionId = await linkSession(call, nextPhone(whatsapp));
  const group = { sessionId, subject: 'Us', phoneNumbers: [bob.number] };
  const { groupId } = (await call('POST', '/groups', group)).body;
  const block = (blocked: boolean) => () => call('PUT', `/contacts/${bob.number}/blocked`, { sessionId, blocked });
  const questions: Record<string, readonly [string, () => Promise<Answer>]> = {
    block: ['blocklist', block(true)],
    unblock: ['blocklist', block(false)],
    rename: ['w:g2', () => call('PATCH', `/groups/${groupId}`, { subject: 'Them' })],
    leave: ['w:g2', () => call('POST', `/groups/${groupId}/leave`)],
    check: [
      'usync',
      () => call('GET', `/contacts/check?sessionId=${sessionId}&phoneNumbers=${nextPhone(whatsapp).number}`),
    ],
  };
  for (const [name, [namespace, ask]] of Object.entries(questions)) {
    const { answer } = await requestWithoutResponse(namespace, ask);
    await clock.advance(20_000);
    const { body } = await answer;
    assert.deepEqual(
      [body.code, body.detail],
      ['send_failed', 'WhatsApp did not answer in time; check whether the change was made before you try again'],
      name,
    );
    whatsapp.faults.answerQueries();
  }
  assert.equal((await call('GET', `/groups/${groupId}`)).body.subject, 'Us');
});

for (const [title, cause] of Object.entries({
  'that breaks': (number: string) => setting.whatsapp.faults.drop(number),
  'that falls silent and is given up': (number: string) => setting.whatsapp.faults.freeze(number),
})) {
  it(`tells callers that a connection ${title} is gone, but not why`, async () => {
    const { whatsapp, call } = setting;
    const me = nextPhone(whatsapp, 'Me');
    const sessionId = await linkSession(call, me);
    const path = `/contacts/${nextPhone(whatsapp).number}/blocked`;
    const { answer } = await requestWithoutResponse('blocklist', () => call('PUT', path, { sessionId, blocked: true }));
    cause(me.number);
    const { body } = await answer;
    whatsapp.faults.answerQueries();
    assert.equal(body.code, 'session_not_connected', JSON.stringify(body));
    assert.doesNotMatch(JSON.stringify(body), /1006|ECONN/);
    await inStatus(call, sessionId, 'connected');
  });
}
