import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { eventually } from '../support/eventually.ts';
import { picture, upload } from '../support/media/media.ts';
import {
  type Answer,
  bearer,
  type Call,
  connectSession,
  eventOf,
  startServer,
  type TestServer,
} from '../support/server.ts';

const ADA = '491707654321';
const EVE = '491707654322';

describeOnEachDeployment('groups and accounts in the sandbox', (_, database) => {
  let server: TestServer;

  before(async () => {
    server = await startServer({ database });
  });
  after(() => server.stop());

  async function account() {
    const { call, token } = await server.account();
    const sessionId = await connectSession(call);
    const ask = async (...request: Parameters<Call>): Promise<Answer['body']> => {
      const { status, body } = await call(...request);
      assert.ok(status < 300, `${request.slice(0, 2).join(' ')}: ${JSON.stringify(body)}`);
      return body;
    };
    const play = (action: string, fields: object) =>
      ask('POST', `/sessions/${sessionId}/simulate`, { action, ...fields });
    const createGroup = (subject: string) => ask('POST', '/groups', { sessionId, subject, phoneNumbers: [ADA] });
    const codeOf = async (...request: Parameters<Call>) => (await call(...request)).body.code;
    return { call, token, sessionId, ask, play, createGroup, codeOf };
  }

  const requestsIn = async (call: Call) => {
    const { body } = await call('GET', '/events?events=group.join_request');
    return body.data.map(({ data }: Answer['body']) => [data.phoneNumber, data.change]);
  };

  it('keeps requests to join until an admin decides, or the person withdraws', async () => {
    const { call, ask, play, createGroup, codeOf } = await account();
    const { groupId } = await createGroup('By request');
    await ask('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } });
    for (const from of [EVE, EVE, '491707654323', '491707654324']) await play('group_join_request', { groupId, from });
    await play('group_join_withdraw', { groupId, from: '491707654324' });
    await eventually(
      () => requestsIn(call),
      (changes) => changes.length === 4,
    );
    const requests = `/groups/${groupId}/join-requests`;
    const { data } = await ask('GET', requests);
    assert.deepEqual(
      data.map(({ phoneNumber, method }: Answer['body']) => [phoneNumber, method]),
      [
        [EVE, 'invite_link'],
        ['491707654323', 'invite_link'],
      ],
    );
    const { results } = await ask('POST', `${requests}/approve`, { phoneNumbers: [EVE, '491707654329'] });
    assert.deepEqual(results, [
      { phoneNumber: EVE, ok: true },
      { phoneNumber: '491707654329', ok: false, reason: 'does not wait to join the group' },
    ]);
    await ask('POST', `${requests}/reject`, { phoneNumbers: ['491707654323'] });
    assert.deepEqual((await requestsIn(call)).toSorted(), [
      [EVE, 'approved'],
      [EVE, 'created'],
      ['491707654323', 'created'],
      ['491707654323', 'rejected'],
      ['491707654324', 'created'],
      ['491707654324', 'withdrawn'],
    ]);
    assert.deepEqual((await ask('GET', requests)).data, []);
    await play('group_create', { from: ADA, subject: 'Of Ada' });
    const theirs = await eventOf(call, 'group.created', ({ subject }) => subject === 'Of Ada');
    assert.equal(await codeOf('GET', `/groups/${theirs.groupId}/join-requests`), 'network_denied');
    const approve = `/groups/${theirs.groupId}/join-requests/approve`;
    assert.equal(await codeOf('POST', approve, { phoneNumbers: [EVE] }), 'network_denied');
  });

  it('lets a session of the same network ask to join, and tells it when it is in', async () => {
    const { ask, sessionId, createGroup, call } = await account();
    const other = (await ask('POST', '/sessions', { name: 'other' })).sessionId;
    await ask('POST', `/sessions/${other}/connect`);
    const { groupId } = await createGroup('Two sessions');
    await ask('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } });
    const { inviteLink } = await ask('GET', `/groups/${groupId}/invite-link`);
    const preview = await ask('GET', `/groups/preview?invite=${encodeURIComponent(inviteLink)}&sessionId=${other}`);
    assert.deepEqual([preview.subject, preview.size, preview.joinApproval], ['Two sessions', 2, true]);
    const asked = await ask('POST', '/groups/join', { sessionId: other, invite: inviteLink });
    assert.deepEqual(asked, { status: 'requested', group: null });
    const { phoneNumber } = await eventOf(call, 'group.join_request', (data) => data.sessionId === sessionId);
    await ask('POST', `/groups/${groupId}/join-requests/approve`, { phoneNumbers: [phoneNumber] });
    await eventOf(call, 'group.created', (data) => data.sessionId === other);
  });

  it('keeps the request to join of a number whose session was deleted, as that of a person', async () => {
    const { ask, sessionId, createGroup } = await account();
    const other = (await ask('POST', '/sessions', { name: 'other' })).sessionId;
    const { phoneNumber } = await ask('POST', `/sessions/${other}/connect`);
    const { groupId } = await createGroup('Still asked');
    await ask('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } });
    const { inviteLink } = await ask('GET', `/groups/${groupId}/invite-link`);
    assert.equal((await ask('POST', '/groups/join', { sessionId: other, invite: inviteLink })).status, 'requested');
    await ask('DELETE', `/sessions/${other}`);
    const requests = `/groups/${groupId}/join-requests`;
    assert.equal((await ask('GET', requests)).data[0].phoneNumber, phoneNumber);
    await ask('POST', `${requests}/approve`, { phoneNumbers: [phoneNumber] });
    const { participants } = await eventually(
      () => ask('GET', `/groups/${groupId}`),
      (group) => group.participants.length === 3,
    );
    assert.ok(participants.some((one: Answer['body']) => one.phoneNumber === phoneNumber));
    const sent = await ask('POST', '/messages/send', { sessionId, to: phoneNumber, message: 'Welcome' });
    assert.equal(sent.status, 'sent');
  });

  it('has communities with linked groups, also those that others create', async () => {
    const { call, ask, play, sessionId, createGroup, codeOf } = await account();
    const { groupId } = await createGroup('Street');
    const community = await ask('POST', '/communities', { subject: 'Town', description: 'All' });
    const linked = `/communities/${community.groupId}/groups`;
    await ask('PUT', `${linked}/${groupId}`);
    const { data } = await eventually(
      () => ask('GET', linked),
      (page) => page.data.every((group: Answer['body']) => group.groupId !== null),
    );
    assert.deepEqual(
      data.map(({ subject, size }: Answer['body']) => [subject, size]),
      [
        ['Town', 1],
        ['Street', 2],
      ],
    );
    const street = await eventually(
      () => ask('GET', `/groups/${groupId}`),
      (group) => group.communityId === community.groupId,
    );
    assert.equal(street.isCommunity, undefined);
    const members = await eventually(
      () => ask('GET', `/groups/${community.groupId}`),
      (group) => group.participants.length === 2,
    );
    assert.equal(members.isCommunity, true);
    assert.equal(await codeOf('DELETE', `${linked}/${data[0].groupId}`), 'network_denied');
    await ask('DELETE', `${linked}/${groupId}`);
    await eventually(
      () => ask('GET', `/groups/${groupId}`),
      (group) => group.communityId === undefined,
    );
    assert.equal(await codeOf('DELETE', `${linked}/${groupId}`), 'not_found');
    assert.equal(await codeOf('PUT', `${linked}/${community.groupId}`), 'validation_failed');
    for (const method of ['PUT', 'DELETE'])
      for (const path of [`${linked}/grp_unknown`, `/communities/grp_unknown/groups/${groupId}`])
        assert.equal(await codeOf(method, path), 'not_found', `${method} ${path}`);
    assert.equal(await codeOf('GET', `/communities/${groupId}/groups`), 'validation_failed');
    await play('community_create', { from: ADA, subject: 'Of Ada' });
    const { groupId: theirs } = await eventOf(call, 'group.created', ({ subject }) => subject === 'Of Ada');
    const listed = await eventually(
      () => ask('GET', `/communities?sessionId=${sessionId}`),
      (page) => page.data.length === 2,
    );
    assert.ok(listed.data.some((group: Answer['body']) => group.groupId === theirs));
    assert.equal(await codeOf('PUT', `/communities/${theirs}/groups/${groupId}`), 'network_denied');
  });

  it('changes who can add members and the timer, and reports what others change', async () => {
    const { call, ask, play, token, createGroup } = await account();
    const { groupId } = await createGroup('Settings');
    const settings = { memberAdd: 'all', disappearingSeconds: 86_400 };
    const changed = await ask('PATCH', `/groups/${groupId}`, { settings });
    assert.deepEqual(changed.settings, { announce: false, locked: false, joinApproval: false, ...settings });
    await ask('POST', `/groups/${groupId}/participants`, { action: 'promote', phoneNumbers: [ADA] });
    // A modified app can set any timer. A caller that repeats it changes nothing.
    await play('group_settings', { groupId, from: ADA, settings: { disappearingSeconds: 12_345 } });
    const timer = async () => (await ask('GET', `/groups/${groupId}`)).settings.disappearingSeconds;
    await eventually(timer, (seconds) => seconds === 12_345);
    await ask('PATCH', `/groups/${groupId}`, { settings: { disappearingSeconds: 12_345 } });
    await play('group_settings', { groupId, from: ADA, settings: { disappearingSeconds: 0 } });
    const mediaId = (await upload(server, token, picture())).body.mediaId;
    await play('group_picture', { groupId, from: ADA, mediaId });
    await eventOf(call, 'group.updated', (data) => data.groupId === groupId && data.change.type === 'picture');
    const now = await ask('GET', `/groups/${groupId}`);
    assert.deepEqual([now.settings.disappearingSeconds, now.pictureMediaId], [0, mediaId]);
    await play('group_picture', { groupId, from: ADA });
    await eventually(
      () => ask('GET', `/groups/${groupId}`),
      (group) => group.pictureMediaId === null,
    );
  });

  it('sets only timers that phones offer, for groups and for new chats', async () => {
    const { call, ask, sessionId, createGroup } = await account();
    const { groupId } = await createGroup('Timer');
    for (const disappearingSeconds of [1, 5, 12_345, 86_401]) {
      const group = await call('PATCH', `/groups/${groupId}`, { subject: 'X', settings: { disappearingSeconds } });
      const privacy = await call('PATCH', `/sessions/${sessionId}/privacy`, { disappearingSeconds, about: 'nobody' });
      assert.deepEqual(
        [group, privacy].map(({ status, body }) => [status, body.errors[0].field]),
        [
          [400, 'settings.disappearingSeconds'],
          [400, 'disappearingSeconds'],
        ],
      );
      assert.match(privacy.body.detail, /must be 86400, 604800, 7776000, or 0 to turn it off; not \d+$/);
    }
    assert.equal((await ask('GET', `/groups/${groupId}`)).subject, 'Timer', 'nothing changed');
    assert.equal((await ask('GET', `/sessions/${sessionId}/privacy`)).about, 'everyone');
    for (const disappearingSeconds of [86_400, 604_800, 7_776_000, 0]) {
      const group = await ask('PATCH', `/groups/${groupId}`, { settings: { disappearingSeconds } });
      const privacy = await ask('PATCH', `/sessions/${sessionId}/privacy`, { disappearingSeconds });
      assert.deepEqual(
        [group.settings.disappearingSeconds, privacy.disappearingSeconds],
        [disappearingSeconds, disappearingSeconds],
      );
    }
  });

  it('deletes messages of others only as an admin, for everyone', async () => {
    const { call, ask, play, createGroup, codeOf } = await account();
    const { groupId } = await createGroup('Moderated');
    await play('incoming', { from: ADA, message: 'spam', groupId });
    const { messageId } = await eventOf(call, 'message.incoming', ({ message }) => message === 'spam');
    assert.equal((await ask('DELETE', `/messages/${messageId}`)).deleted, true);
    const { fromMe } = await eventOf(call, 'message.deleted', (data) => data.messageId === messageId);
    assert.equal(fromMe, true);
    assert.equal(await codeOf('DELETE', `/messages/${messageId}`), 'message_state');
    await play('group_create', { from: ADA, subject: 'Of Ada' });
    const theirs = await eventOf(call, 'group.created', ({ subject }) => subject === 'Of Ada');
    await play('incoming', { from: ADA, message: 'stays', groupId: theirs.groupId });
    const kept = await eventOf(call, 'message.incoming', ({ message }) => message === 'stays');
    assert.equal(await codeOf('DELETE', `/messages/${kept.messageId}`), 'network_denied');
    await play('incoming', { from: ADA, message: 'direct' });
    const direct = await eventOf(call, 'message.incoming', ({ message }) => message === 'direct');
    assert.equal(await codeOf('DELETE', `/messages/${direct.messageId}`), 'message_state');
  });

  it('keeps privacy settings, which hide the profile and stop read receipts', async () => {
    const { ask, sessionId } = await account();
    const other = (await ask('POST', '/sessions', { name: 'other' })).sessionId;
    await ask('POST', `/sessions/${other}/connect`);
    await ask('PATCH', `/sessions/${sessionId}/profile`, { name: 'Me', about: 'Here' });
    const own = await ask('GET', `/sessions/${sessionId}/profile`);
    assert.deepEqual([own.name, own.about, own.picture], ['Me', 'Here', null]);
    const seen = async () => (await ask('GET', `/contacts/${own.phoneNumber}/profile?sessionId=${other}`)).about;
    assert.equal(await seen(), 'Here');
    const privacy = `/sessions/${sessionId}/privacy`;
    assert.equal((await ask('GET', privacy)).about, 'everyone');
    const changed = await ask('PATCH', privacy, { about: 'nobody', readReceipts: false });
    assert.deepEqual([changed.about, changed.readReceipts, changed.calls], ['nobody', false, 'everyone']);
    assert.equal(await seen(), null);
    assert.equal((await ask('GET', `/sessions/${sessionId}/profile`)).about, 'Here');
    const { data } = await ask('GET', `/sessions/${sessionId}/devices`);
    assert.deepEqual(
      data.map(({ phone, thisSession }: Answer['body']) => [phone, thisSession]),
      [
        [true, false],
        [false, true],
      ],
    );
  });

  it('lets only contacts add a session to groups and see its about text, if it wants that', async () => {
    const { call, ask, play, sessionId } = await account();
    const other = (await ask('POST', '/sessions', { name: 'other' })).sessionId;
    await ask('POST', `/sessions/${other}/connect`);
    const numberOf = async (id: string) => (await ask('GET', `/sessions/${id}`)).phoneNumber;
    const [mine, theirs] = [await numberOf(sessionId), await numberOf(other)];
    await ask('PATCH', `/sessions/${sessionId}/profile`, { about: 'Here' });
    await ask('PATCH', `/sessions/${sessionId}/privacy`, { groupAdd: 'contacts', about: 'contacts' });
    const about = async () => (await ask('GET', `/contacts/${mine}/profile?sessionId=${other}`)).about;
    const create = (subject: string) =>
      ask('POST', '/groups', { sessionId: other, subject, phoneNumbers: [mine, ADA] });
    const membersOf = ({ participants }: Answer['body']) =>
      participants.map(({ phoneNumber }: Answer['body']) => phoneNumber).toSorted();

    const closed = await create('Of a stranger');
    assert.deepEqual(membersOf(closed), [theirs, ADA].toSorted());
    const add = async () =>
      (await ask('POST', `/groups/${closed.groupId}/participants`, { action: 'add', phoneNumbers: [mine, EVE] }))
        .results;
    assert.deepEqual(await add(), [
      {
        phoneNumber: mine,
        ok: false,
        reason: 'does not allow being added to groups; send an invite link instead',
      },
      { phoneNumber: EVE, ok: true },
    ]);
    assert.equal(await about(), null);
    await play('group_create', { from: ADA, subject: 'Played' });
    await play('community_create', { from: ADA, subject: 'Played town' });
    assert.deepEqual((await ask('GET', `/groups?sessionId=${sessionId}`)).data, []);

    await play('incoming', { from: theirs, message: 'hello' });
    assert.equal((await add())[0].ok, true);
    assert.equal(await about(), 'Here');
    await eventOf(
      call,
      'group.created',
      ({ sessionId: of, subject }) => of === sessionId && subject === 'Of a stranger',
    );
    assert.deepEqual(membersOf(await create('Of a contact')), [mine, theirs, ADA].toSorted());

    await ask('PUT', `/contacts/${theirs}/blocked`, { sessionId, blocked: true });
    assert.deepEqual(membersOf(await create('Of a blocked contact')), [theirs, ADA].toSorted());
    const { inviteLink } = await ask('GET', `/groups/${closed.groupId}/invite-link`);
    await ask('POST', `/groups/${closed.groupId}/participants`, { action: 'remove', phoneNumbers: [mine] });
    assert.equal((await ask('POST', '/groups/join', { sessionId, invite: inviteLink })).status, 'joined');
  });

  it('reads the business that a simulation has defined, and looks people up', async () => {
    const { ask, play, codeOf } = await account();
    const products = ['Green', 'Black', 'White'].map((name, index) => ({ productId: `p${index}`, name, price: 2500 }));
    const business = {
      description: 'Tea',
      websites: ['https://tea.example'],
      collections: [{ name: 'All', products }],
    };
    await play('business_profile', { from: EVE, business });
    const { profile } = await ask('GET', `/contacts/${EVE}/business-profile`);
    assert.deepEqual([profile.description, profile.websites, profile.hours], ['Tea', ['https://tea.example'], null]);
    const first = await ask('GET', `/contacts/${EVE}/catalog?limit=2`);
    const second = await ask('GET', `/contacts/${EVE}/catalog?limit=2&cursor=${first.nextCursor}`);
    assert.deepEqual(
      [...first.data, ...second.data].map(({ name, price }: Answer['body']) => [name, price]),
      ['Green', 'Black', 'White'].map((name) => [name, '2.5']),
    );
    assert.equal(second.nextCursor, null);
    assert.equal((await ask('GET', `/contacts/${EVE}/catalog/collections`)).data[0].products.length, 3);
    assert.equal((await ask('GET', `/contacts/${ADA}/business-profile`)).profile, null);
    const [found, absent] = (await ask('GET', `/contacts/lookup?phoneNumbers=${EVE},15550001234`)).data;
    assert.deepEqual([found.phoneNumber, absent.lid], [EVE, null]);
    assert.deepEqual((await ask('GET', `/contacts/lookup?lids=${encodeURIComponent(found.lid)}`)).data, [found]);
    assert.equal(await codeOf('GET', '/contacts/lookup'), 'validation_failed');
  });

  it('shows the business data of a session to itself and to others, however they were set', async () => {
    const { ask, play, sessionId } = await account();
    const other = (await ask('POST', '/sessions', { name: 'other' })).sessionId;
    await ask('POST', `/sessions/${other}/connect`);
    const { phoneNumber } = await ask('GET', `/sessions/${sessionId}`);
    const seenBy = async (reader: string) =>
      (await ask('GET', `/contacts/${phoneNumber}/business-profile?sessionId=${reader}`)).profile;
    const own = async () => (await ask('GET', `/sessions/${sessionId}/profile`)).business;
    assert.deepEqual([await seenBy(sessionId), await seenBy(other), await own()], [null, null, null]);
    const set = { description: 'Tea', vertical: 'RETAIL', websites: ['https://tea.example'] };
    await ask('PATCH', `/sessions/${sessionId}/profile`, { business: set });
    const shown = { description: 'Tea', websites: ['https://tea.example'], address: null, email: null, hours: null };
    for (const reader of [sessionId, other]) assert.deepEqual(await seenBy(reader), { ...shown, category: 'RETAIL' });
    const products = [{ productId: 'p1', name: 'Green' }];
    const business = { description: 'Coffee', category: 'Shop', collections: [{ name: 'All', products }] };
    await play('business_profile', { from: phoneNumber, business });
    assert.deepEqual(await own(), {
      address: null,
      description: 'Coffee',
      email: null,
      websites: [],
      vertical: 'Shop',
    });
    for (const reader of [sessionId, other])
      assert.deepEqual(await seenBy(reader), { ...shown, description: 'Coffee', category: 'Shop', websites: [] });
    const { data } = await ask('GET', `/contacts/${phoneNumber}/catalog?sessionId=${sessionId}`);
    assert.deepEqual([data.length, data[0].name], [1, 'Green']);
    await ask('PATCH', `/sessions/${sessionId}/profile`, { business: { description: 'Tea again' } });
    assert.deepEqual(
      [await seenBy(sessionId), await seenBy(other)].map(({ description, category }) => [description, category]),
      Array(2).fill(['Tea again', 'Shop']),
    );
  });

  it('keeps a key within its recipients and permissions', async () => {
    const { ask, createGroup } = await account();
    const { groupId } = await createGroup('Guarded');
    const keyOf = async (limits: object) =>
      bearer(server.url, (await ask('POST', '/api-keys/create', { name: 'limited', ...limits })).key);
    const onlyAda = await keyOf({ allowedRecipients: [ADA] });
    for (const decision of ['approve', 'reject']) {
      const path = `/groups/${groupId}/join-requests/${decision}`;
      assert.equal((await onlyAda('POST', path, { phoneNumbers: [EVE] })).body.code, 'permission_denied');
      assert.equal((await onlyAda('POST', path, { phoneNumbers: [ADA] })).status, 200);
    }
    const community = await ask('POST', '/communities', { subject: 'Closed' });
    const link = `/communities/${community.groupId}/groups/${groupId}`;
    assert.equal((await onlyAda('PUT', link)).body.code, 'permission_denied');
    const asking = await keyOf({ confirm: ['new_recipients'] });
    assert.equal((await asking('PUT', link)).body.code, 'confirmation_required');
    const ofGroup = await keyOf({ allowedRecipients: [ADA, groupId] });
    assert.equal((await ofGroup('PUT', link)).status, 200);
    const reader = await keyOf({ permissions: ['groups:read'] });
    assert.equal((await reader('GET', `/groups/${groupId}/join-requests`)).status, 200);
    for (const [path, body] of [
      [`/groups/${groupId}/join-requests/approve`, { phoneNumbers: [ADA] }],
      ['/communities', { subject: 'x' }],
    ] as const)
      assert.equal((await reader('POST', path, body)).body.code, 'permission_denied');
  });
});
