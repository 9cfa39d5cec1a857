import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codeOf } from '../../src/connectors/whatsapp/people/groupActions.ts';
import { codeOf as sandboxCodeOf } from '../../src/sandbox/groups.ts';
import { connectSession, newNumber, sharedSandbox, startServer } from '../support/server.ts';

const CODE = 'Zm9vYmFyYmF6cXV4MTIzNA';

it('reads the code of a WhatsApp invite in every form that people pass on', () => {
  const forms = [
    CODE,
    `${CODE}/`,
    `${CODE}?mode=ems_copy_c`,
    ` ${CODE}\n`,
    `https://chat.whatsapp.com/${CODE}`,
    `https://chat.whatsapp.com/${CODE}/`,
    `https://chat.whatsapp.com/${CODE}?mode=ems_copy_c`,
    `https://chat.whatsapp.com/${CODE}/?fbclid=abc#x`,
    `https://chat.whatsapp.com/invite/${CODE}`,
    `http://chat.whatsapp.com/${CODE}`,
    `HTTPS://Chat.WhatsApp.com/${CODE}`,
    `chat.whatsapp.com/${CODE}`,
    `\u200ehttps://chat.whatsapp.com/${CODE}\u200e`,
    `<https://chat.whatsapp.com/${CODE}>`,
    `Open this link to join my WhatsApp Group: https://chat.whatsapp.com/${CODE}`,
    `whatsapp://chat?code=${CODE}`,
    `whatsapp://chat/?code=${CODE}&x=1`,
  ];
  for (const form of forms) assert.equal(codeOf(form), CODE, form);
  for (const form of [CODE, `sandbox:join/${CODE}/`, `SANDBOX:join/${CODE}?a=b`, `Join: sandbox:join/${CODE}`])
    assert.equal(sandboxCodeOf(form), CODE, form);
});

it('joins groups, communities and channels by links with a slash, a query or text around them', async (test) => {
  const server = await startServer({ env: sharedSandbox });
  test.after(() => server.stop());
  const [owner, guest] = [(await server.account()).call, (await server.account()).call];
  await connectSession(owner, newNumber());
  await connectSession(guest, newNumber());
  const around = [
    (link: string) => `${link}/`,
    (link: string) => `${link}?mode=x`,
    (link: string) => `Join: ${link}\n`,
  ];
  for (const write of around) {
    for (const [path, more] of [
      ['/groups', { phoneNumbers: [newNumber()] }],
      ['/communities', {}],
    ] as const) {
      const { body: group } = await owner('POST', path, { subject: 'Open', ...more });
      const { body: invite } = await owner('GET', `/groups/${group.groupId}/invite-link`);
      const given = write(invite.inviteLink);
      const preview = await guest('GET', `/groups/preview?invite=${encodeURIComponent(given)}`);
      assert.equal(preview.body.subject, 'Open', `${path} ${given} ${JSON.stringify(preview.body)}`);
      assert.match((await guest('POST', '/groups/join', { invite: given })).body.status, /^(joined|requested)$/);
    }
    const { body: channel } = await owner('POST', '/channels', { name: 'News' });
    const given = write(channel.inviteLink);
    const preview = await guest('GET', `/channels/preview?channel=${encodeURIComponent(given)}`);
    assert.equal(preview.body.name, 'News', JSON.stringify(preview.body));
    assert.equal((await guest('POST', '/channels/follow', { channel: given })).status, 200);
  }
});

it('rejects links of another kind with the operation to use', async (test) => {
  const server = await startServer();
  test.after(() => server.stop());
  const { call } = await server.account();
  await connectSession(call, newNumber());
  const detailOf = async (path: string, body: object) => (await call('POST', path, body)).body.detail;
  const join = (invite: string) => detailOf('/groups/join', { invite });
  assert.match(await join('https://whatsapp.com/channel/0029Va0000000000000000'), /channels\.follow/);
  assert.match(await join('https://wa.me/491701234567'), /chat with a person/);
  const follow = (channel: string) => detailOf('/channels/follow', { channel });
  assert.match(await follow(`https://chat.whatsapp.com/${CODE}`), /groups\.join/);
});
