import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutPersonalData } from '../../src/cli/commands/whatsappDoctor.ts';
import { eventually } from '../support/eventually.ts';
import { linkSession, nextPhone, useWhatsapp } from '../whatsapp/support.ts';
import { cli, newPerson, type Person, type RunOptions } from './support.ts';

const STEPS = ['link', 'send', 'react', 'remove reaction', 'reply', 'edit', 'delete', 'post status', 'delete status'];

describe('switchboard doctor whatsapp', () => {
  const setting = useWhatsapp();
  let person: Person;
  before(() => {
    person = newPerson();
  });
  after(() => person.remove());

  const doctor = (key: string, args: readonly string[], options: RunOptions = {}) =>
    cli(person, ['doctor', 'whatsapp', '--json', ...args], {
      env: { SWITCHBOARD_URL: setting.server.url, SWITCHBOARD_KEY: key },
      ...options,
    });

  /** Runs it without JSON, so that it prints each step when it ends. */
  async function watched(key: string, args: readonly string[], onNote: (stderr: string) => void) {
    const env = { SWITCHBOARD_URL: setting.server.url, SWITCHBOARD_KEY: key };
    const { code, stderr } = await cli(person, ['doctor', 'whatsapp', ...args], { env, onNote });
    const lines = stderr.split('\n').map((line) => line.split(': '));
    return { code, stderr, steps: Object.fromEntries(lines.filter(([step = '']) => STEPS.includes(step))) };
  }

  /** A separate account with a linked session. */
  async function linked() {
    const { call, token } = await setting.server.account();
    const me = nextPhone(setting.whatsapp, 'Annabel');
    const sessionId = await linkSession(call, me);
    return { call, token, me, sessionId };
  }

  const outcomes = (steps: readonly { step: string; outcome: string }[]) =>
    Object.fromEntries(steps.map(({ step, outcome }) => [step, outcome]));

  it('passes all steps on a linked session, cleans up, and prints nothing personal', async () => {
    const { call, token, me, sessionId } = await linked();
    const { code, json, stdout, stderr } = await doctor(token, []);
    assert.deepEqual(outcomes(json.steps), Object.fromEntries(STEPS.map((step) => [step, 'ok'])), stdout + stderr);
    assert.deepEqual([code, json.left], [0, 0]);
    for (const personal of [me.number, me.lid, 'Annabel', sessionId, 'Switchboard doctor', 'msg_', 'sts_'])
      assert.ok(!(stdout + stderr).includes(personal), personal);
    const { data } = (await call('GET', `/messages?sessionId=${sessionId}`)).body;
    assert.deepEqual(
      data.map(({ deleted }: { deleted: boolean }) => deleted),
      [true, true],
    );
    assert.deepEqual((await call('GET', `/status?sessionId=${sessionId}`)).body.data, []);
    const sent = me.messages.all.map(({ message }) => message);
    assert.ok(sent.some(({ reactionMessage }) => reactionMessage?.text === '👍'));
    assert.ok(sent.some(({ extendedTextMessage }) => extendedTextMessage?.contextInfo?.stanzaId != null));
  });

  it('continues after a step that WhatsApp refuses, and reports its code', async () => {
    const { token, me } = await linked();
    setting.whatsapp.faults.refuseNextMessage(me.number, 421);
    const { code, json, stdout, stderr } = await doctor(token, []);
    assert.equal(code, 1);
    const [, send] = json.steps;
    assert.deepEqual([send.outcome, send.code, send.networkCode], ['failed', 'send_failed', 421]);
    assert.match(send.detail, /does not accept this type of message/);
    assert.deepEqual(outcomes(json.steps), {
      ...Object.fromEntries(STEPS.map((step) => [step, 'skipped'])),
      link: 'ok',
      send: 'failed',
      'post status': 'ok',
      'delete status': 'ok',
    });
    assert.ok(!(stdout + stderr).includes(me.number));
  });

  it('ends a step at its deadline, and deletes what is sent later', async () => {
    const { call, token, me, sessionId } = await linked();
    const { faults } = setting.whatsapp;
    faults.withholdAcks(me.number);
    const releaseLater = (notes: string) => notes.includes('send: timeout') && faults.releaseAcks(me.number);
    const { code, steps, stderr } = await watched(token, ['--timeout', '1'], releaseLater);
    assert.equal(code, 1);
    assert.deepEqual([steps['send'], steps['reply']], ['timeout', 'skipped']);
    assert.equal(Object.keys(steps).length, STEPS.length, stderr);
    const { data } = (await call('GET', `/messages?sessionId=${sessionId}`)).body;
    assert.deepEqual(
      data.map(({ deleted }: { deleted: boolean }) => deleted),
      [true],
      stderr,
    );
    assert.deepEqual((await call('GET', `/status?sessionId=${sessionId}`)).body.data, []);
    assert.ok(!stderr.includes('could not be cleaned up'), stderr);
  });

  it('reports a message that may have been sent and cannot be deleted', async () => {
    const { token, me } = await linked();
    const { faults } = setting.whatsapp;
    faults.withholdAcks(me.number);
    const releaseLater = (notes: string) => notes.includes('send: failed') && faults.releaseAcks(me.number);
    const { steps, stderr } = await watched(token, ['--timeout', '40'], releaseLater);
    assert.deepEqual([steps['send'], steps['post status'], steps['delete status']], ['failed', 'ok', 'ok'], stderr);
    assert.match(stderr, /1 of 1 items could not be cleaned up/);
  });

  it('waits while the session reconnects', async () => {
    const { token, me } = await linked();
    const { faults } = setting.whatsapp;
    faults.refuseNextMessage(me.number, 421);
    let isDropped = false;
    const dropOnce = (notes: string) => {
      if (isDropped || !notes.includes('send: failed')) return;
      isDropped = true;
      faults.drop(me.number);
    };
    const { steps, stderr } = await watched(token, [], dropOnce);
    assert.deepEqual([isDropped, steps['post status'], steps['delete status']], [true, 'ok', 'ok'], stderr);
    assert.ok(!stderr.includes('could not be cleaned up'), stderr);
  });

  it('links a session that it creates, and deletes it', async () => {
    const { call, token } = await setting.server.account();
    const me = nextPhone(setting.whatsapp);
    const running = doctor(token, []);
    const list = async () => (await call('GET', '/sessions')).body.data;
    const [{ sessionId }] = await eventually(list, ([session]) => session?.status === 'awaiting_pairing');
    await me.scan((await call('GET', `/sessions/${sessionId}/qr`)).body.qr);
    const { code, json, stdout } = await running;
    assert.deepEqual([code, json.steps[0].outcome], [0, 'ok'], stdout);
    assert.deepEqual([await list(), me.devices()], [[], 0]);
  });

  it('cleans up after Ctrl-C', async () => {
    const { call, token } = await setting.server.account();
    const stop = new AbortController();
    const running = doctor(token, [], { stop: stop.signal });
    const list = async () => (await call('GET', '/sessions')).body.data;
    await eventually(list, ([session]) => session?.status === 'awaiting_pairing');
    stop.abort();
    assert.equal((await running).code, 130);
    assert.deepEqual(await list(), []);
  });

  it('refuses to choose between sessions, and a wrong key', async () => {
    const { call, token } = await setting.server.account();
    for (const name of ['a', 'b']) await call('POST', '/sessions', { connector: 'whatsapp', name });
    const several = await doctor(token, []);
    assert.deepEqual([several.code, JSON.parse(several.stderr).error.code], [2, 'usage']);
    assert.equal((await doctor('wrong', [])).code, 3);
  });

  it('removes numbers, addresses, ids and quoted text from explanations', () => {
    for (const [text, shown] of [
      ['No answer from +49 (170) 765-4321 to 491701112223', 'No answer from … to …'],
      ['15550001234@s.whatsapp.net is “Ann” or "Bob"', '… is … or …'],
      ['ses_01M89NJQTNC8M197MCYMZVMRV3 uses socks5://a:b@c.example:1080', '… uses …'],
      ['WhatsApp refused the message (463)', 'WhatsApp refused the message (463)'],
    ] as const)
      assert.equal(withoutPersonalData(text), shown);
  });
});
