import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ApiError } from '../support/fakeGraph/businessNodes.ts';
import { upload } from '../support/media/media.ts';
import { ADA, cloudSession, eventsOf, GRACE, passUntil } from '../support/networks/cloudSession.ts';
import { type Answer, bearer, type Call, eventOf } from '../support/server.ts';

/*
 * Groups of the Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/reference
 * and
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/webhooks
 */

const HIDDEN = 'US.13491208655302741918';

const membersOf = async (call: Call, groupId: string) =>
  (await call('GET', `/groups/${groupId}`)).body.participants.map((one: Answer['body']) => one.phoneNumber);

it('creates a group, whose id Meta reports with a callback', async (t) => {
  const { graph, call } = await cloudSession(t);
  const wanted = { subject: 'Garden', description: 'Plants', joinApproval: true };
  const { status, body } = await call('POST', '/groups', wanted);
  assert.equal(status, 201, JSON.stringify(body));
  assert.partialDeepStrictEqual(body, {
    subject: 'Garden',
    description: 'Plants',
    settings: { joinApproval: true, locked: true },
    participants: [{ phoneNumber: graph.phoneNumber, role: 'owner' }],
  });
  const made = graph.groups.at(body.networkGroupId);
  assert.deepEqual([made.subject, made.join_approval_mode], ['Garden', 'approval_required']);
  assert.equal((await eventsOf(call, 'group.created')).length, 1);
  assert.deepEqual(
    (await call('GET', '/groups')).body.data.map(({ groupId }: Answer['body']) => groupId),
    [body.groupId],
  );
  const invite = (await call('GET', `/groups/${body.groupId}/invite-link`)).body;
  assert.equal(invite.inviteLink, made.link);
  const renewed = (await call('DELETE', `/groups/${body.groupId}/invite-link`)).body;
  assert.notEqual(renewed.inviteLink, made.link);
  assert.equal(renewed.inviteLink, graph.groups.at(body.networkGroupId).link);
  assert.ok(renewed.inviteLink.endsWith(renewed.inviteCode));
});

it('lists groups that exist at Meta when the session connects', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t, { connects: false });
  graph.groups.add({ subject: 'Old', participants: [{ wa_id: ADA }, { user_id: HIDDEN }] });
  for (const _ of [1, 2]) {
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
    const { groupId } = await eventOf(call, 'group.created');
    assert.equal((await membersOf(call, groupId)).length, 3);
    await call('POST', `/sessions/${sessionId}/disconnect`);
  }
  assert.equal((await eventsOf(call, 'group.created')).length, 1);
});

it('lists groups again after an outage, and not after a refusal', async (t) => {
  const { graph, call, clock, sessionId } = await cloudSession(t, { connects: false });
  const { groups } = graph;
  groups.add({ subject: 'Old' });
  const connect = async () =>
    assert.equal((await call('POST', `/sessions/${sessionId}/connect`)).body.status, 'connected');
  const checks = () => graph.calls.filter((one) => one.endsWith(`/${graph.options.phoneNumberId}`)).length;
  const check = (isMet: () => boolean) =>
    eventually(async () => {
      await clock.advance(5 * 60_000);
      return isMet();
    }, Boolean);
  groups.listFaults.push(new ApiError(403, 10, 'Groups are for official business accounts'));
  await connect();
  const before = checks();
  await check(() => checks() >= before + 3);
  assert.equal(groups.lists, 1);
  await call('POST', `/sessions/${sessionId}/disconnect`);
  groups.listFaults.push(new ApiError(503, 2, 'Service temporarily unavailable'));
  await connect();
  await check(() => groups.lists >= 3);
  assert.equal((await eventOf(call, 'group.created')).subject, 'Old');
  const { lists } = groups;
  const then = checks();
  await check(() => checks() >= then + 3);
  assert.equal(groups.lists, lists);
});

it('refuses what Meta does not let a business do in groups', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const added = await call('POST', '/groups', { subject: 'Garden', phoneNumbers: [ADA] });
  assert.deepEqual([added.status, added.body.code], [422, 'not_supported']);
  assert.match(added.body.detail, /Add people to a group, without an invite/);
  const { groupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  const change = (action: string) => call('POST', `/groups/${groupId}/participants`, { action, phoneNumbers: [ADA] });
  const refused = [
    await change('add'),
    await change('promote'),
    await change('demote'),
    await call('PATCH', `/groups/${groupId}`, { settings: { announce: true } }),
    await call('PATCH', `/groups/${groupId}`, { settings: { joinApproval: true } }),
    await call('PATCH', `/groups/${groupId}`, { settings: { memberAdd: 'all' } }),
    await call('PATCH', `/groups/${groupId}`, { pictureMediaId: null }),
    await call('POST', `/groups/${groupId}/leave`),
    await call('POST', '/groups/join', { sessionId, invite: 'https://chat.whatsapp.com/abc' }),
    await call('POST', '/messages/send-location', { to: groupId, latitude: 1, longitude: 2 }),
  ];
  for (const { status, body } of refused)
    assert.deepEqual([status, body.code], [422, 'not_supported'], JSON.stringify(body));
  assert.equal(graph.sent.length, 0);
  const { data } = (await call('GET', '/connectors')).body;
  const { capabilities } = data.find(({ name }: Answer['body']) => name === 'whatsapp-cloud');
  for (const name of ['groups', 'group_delete', 'group_join_requests']) assert.ok(capabilities.includes(name), name);
  for (const name of ['group_add_members', 'group_admins', 'group_settings', 'group_join', 'group_leave'])
    assert.ok(!capabilities.includes(name), name);
});

it('rejects group creation and deletion when the key has allowedRecipients', async (t) => {
  const { graph, call, server } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  const key = { name: 'limited', permissions: ['groups:write'], allowedRecipients: [ADA] };
  const limited = bearer(server.url, (await call('POST', '/api-keys/create', key)).body.key);
  const refused = [
    await limited('POST', '/groups', { subject: 'Orchard' }),
    await limited('DELETE', `/groups/${groupId}`),
  ];
  for (const { status, body } of refused)
    assert.deepEqual([status, body.code], [403, 'permission_denied'], JSON.stringify(body));
  assert.equal(graph.groups.has(networkGroupId), true);
  assert.equal((await eventsOf(call, 'group.created')).length, 1);
});

it('reports why Meta did not create a group', async (t) => {
  const { graph, call } = await cloudSession(t);
  graph.groups.refuseNext('create', 131_200, 'The business has too many groups');
  const { status, body } = await call('POST', '/groups', { subject: 'Garden' });
  assert.deepEqual([status, body.code], [502, 'send_failed']);
  assert.match(body.detail, /The business has too many groups \(131200\)/);
  assert.deepEqual(await eventsOf(call, 'group.created'), []);
  graph.failNext({ code: 10, details: 'Groups are for official business accounts' });
  const denied = await call('POST', '/groups', { subject: 'Garden' });
  assert.deepEqual([denied.status, denied.body.code], [403, 'network_denied']);
  assert.match(denied.body.detail, /official business accounts/);
});

it('finds a created group without a callback, and by the id of an answer', async (t) => {
  const { graph, call, clock } = await cloudSession(t);
  graph.groups.isReporting = false;
  graph.groups.add({ subject: 'Garden', creation_timestamp: 1 });
  const creating = call('POST', '/groups', { subject: 'Garden' });
  let created: Answer | undefined;
  void creating.then((answer) => {
    created = answer;
  });
  await passUntil(
    clock,
    async () => created,
    (answer) => answer !== undefined,
  );
  const { status, body } = await creating;
  assert.equal(status, 201, JSON.stringify(body));
  assert.notEqual(graph.groups.at(body.networkGroupId).creation_timestamp, 1);
  // Clients report answers with the id, such as gokaybiz/whatsapp-business-api.
  graph.groups.answersWith = 'id';
  const second = await call('POST', '/groups', { subject: 'Orchard' });
  assert.equal(second.status, 201, JSON.stringify(second.body));
  assert.equal(second.body.subject, 'Orchard');
  assert.equal((await eventsOf(call, 'group.created')).length, 2);
});

it('stores a group whose confirmation comes after the caller has given up', async (t) => {
  const { graph, call, clock } = await cloudSession(t);
  graph.groups.isReporting = false;
  graph.groups.answersWith = 'nothing';
  // Two new groups with one name: nothing tells them apart without a callback.
  graph.groups.add({ subject: 'Garden' });
  const creating = call('POST', '/groups', { subject: 'Garden' });
  let failed: Answer | undefined;
  void creating.then((answer) => {
    failed = answer;
  });
  await passUntil(
    clock,
    async () => failed,
    (answer) => answer !== undefined,
  );
  assert.equal((await creating).body.code, 'send_failed');
  assert.match((await creating).body.detail, /subscribe the app at Meta to `group_lifecycle_update`/);
  const group = { type: 'group_create', group_id: 'late', subject: 'Garden', timestamp: graph.now() };
  assert.equal(await graph.post({ field: 'group_lifecycle_update', groups: [group] }), 200);
  assert.equal((await eventOf(call, 'group.created')).subject, 'Garden');
});

it('changes subject, description and picture, and reports the change once', async (t) => {
  const { graph, call, token, server } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  const { body, status } = await call('PATCH', `/groups/${groupId}`, { subject: 'Orchard', description: 'Trees' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.subject, body.description], ['Orchard', 'Trees']);
  const { subject, description } = graph.groups.at(networkGroupId);
  assert.deepEqual([subject, description], ['Orchard', 'Trees']);
  const changes = (await eventsOf(call, 'group.updated')).map(({ data }: Answer['body']) => data.change);
  assert.deepEqual(
    changes.toSorted((one: { type: string }, other: { type: string }) => one.type.localeCompare(other.type)),
    [
      { type: 'description', description: 'Trees' },
      { type: 'subject', subject: 'Orchard' },
    ],
  );
  graph.groups.refuseNext('settings', 131_205, 'The subject is against the policy');
  const refused = await call('PATCH', `/groups/${groupId}`, { subject: 'Bad' });
  assert.deepEqual([refused.status, refused.body.code], [502, 'send_failed']);
  assert.match(refused.body.detail, /against the policy \(131205\)/);
  assert.equal((await call('GET', `/groups/${groupId}`)).body.subject, 'Orchard');

  const jpeg = Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    Buffer.from('ffd9', 'hex'),
  ]);
  const { mediaId } = (await upload(server, token, jpeg, { headers: { 'content-type': 'image/jpeg' } })).body;
  const pictured = await call('PATCH', `/groups/${groupId}`, { pictureMediaId: mediaId });
  assert.equal(pictured.status, 200, JSON.stringify(pictured.body));
  assert.notEqual(pictured.body.pictureMediaId, null);
  assert.deepEqual(graph.groups.at(networkGroupId).picture, jpeg);
});

it('reads a change back if Meta does not confirm it', async (t) => {
  const { graph, call, clock } = await cloudSession(t);
  const { groupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  graph.groups.isReporting = false;
  let changed: Answer | undefined;
  void call('PATCH', `/groups/${groupId}`, { subject: 'Orchard' }).then((answer) => {
    changed = answer;
  });
  await passUntil(
    clock,
    async () => changed,
    (answer) => answer !== undefined,
  );
  assert.equal(changed?.body.subject, 'Orchard');
  assert.equal((await eventsOf(call, 'group.updated')).length, 1);
});

it('follows people who join, leave and are removed, including those who hide their number', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  await graph.groups.join(networkGroupId, { wa_id: ADA });
  await graph.groups.join(networkGroupId, { user_id: HIDDEN, username: 'grace' });
  const members = await membersOf(call, groupId);
  const hidden = members.find((number: string) => number.startsWith('000'));
  assert.deepEqual(members.toSorted(), [graph.phoneNumber, ADA, hidden].toSorted());
  const joined = await eventsOf(call, 'group.participants');
  assert.deepEqual(
    joined.map(({ data }: Answer['body']) => [data.action, data.phoneNumbers]),
    [
      ['add', [ADA]],
      ['add', [hidden]],
    ],
  );
  const change = { action: 'remove', phoneNumbers: [hidden, GRACE] };
  const { body } = await call('POST', `/groups/${groupId}/participants`, change);
  assert.deepEqual(
    body.results.map(({ phoneNumber, ok }: Answer['body']) => [phoneNumber, ok]),
    [
      [hidden, true],
      [GRACE, false],
    ],
    JSON.stringify(body),
  );
  assert.match(body.results[1].reason, /not in the group \(131204\)/);
  assert.deepEqual((await membersOf(call, groupId)).toSorted(), [graph.phoneNumber, ADA].toSorted());
  const nine = Array.from({ length: 9 }, (_, n) => `49170000000${n}`);
  const tooMany = await call('POST', `/groups/${groupId}/participants`, { action: 'remove', phoneNumbers: nine });
  assert.deepEqual([tooMany.status, tooMany.body.errors?.[0]?.field], [400, 'phoneNumbers']);
  await graph.groups.leave(networkGroupId, ADA);
  assert.deepEqual(await membersOf(call, groupId), [graph.phoneNumber]);
  const removed = (await eventsOf(call, 'group.participants')).slice(2);
  assert.deepEqual(
    removed.map(({ data }: Answer['body']) => [data.action, data.phoneNumbers]),
    [
      ['remove', [hidden]],
      ['remove', [ADA]],
    ],
  );
});

it('ignores a report that Meta repeats, and stores one of a group that it does not know', async (t) => {
  const { graph, call } = await cloudSession(t);
  const id = graph.groups.add({ subject: 'Old', participants: [{ wa_id: ADA }] });
  const group = {
    type: 'group_participants_add',
    group_id: id,
    timestamp: graph.now(),
    added_participants: [{ wa_id: ADA }],
  };
  const report = { field: 'group_participants_update', groups: [group] };
  assert.equal(await graph.post(report), 200);
  const { groupId } = await eventOf(call, 'group.created');
  assert.deepEqual(await membersOf(call, groupId), [graph.phoneNumber, ADA]);
  const more = { ...report, groups: [{ ...group, added_participants: [{ wa_id: GRACE }] }, 7, { type: 'odd' }] };
  assert.equal(await graph.post(more), 200);
  assert.equal(await graph.post(more), 200);
  assert.equal((await eventsOf(call, 'group.participants')).length, 1);
  graph.failNext({ code: 131_000, status: 503 });
  const late = { ...report, groups: [{ ...group, added_participants: [{ wa_id: HIDDEN }] }] };
  assert.equal(await graph.post(late), 500, 'Meta sends it again');
  assert.equal(await graph.post(late), 200);
  assert.equal((await eventsOf(call, 'group.participants')).length, 2);
});

it('reads the members of a group that was only known by its id when its name is reported', async (t) => {
  const { graph, call } = await cloudSession(t);
  const id = graph.groups.add({ subject: 'New', participants: [{ wa_id: ADA }, { wa_id: GRACE }] });
  const about = { group_id: id, timestamp: graph.now() };
  graph.failNext({ code: 100, status: 400 });
  const joined = { ...about, type: 'group_participants_add', added_participants: [{ wa_id: ADA }] };
  await graph.post({ field: 'group_participants_update', groups: [joined] });
  const [{ groupId, subject }] = (await call('GET', '/groups')).body.data;
  assert.deepEqual([subject, await membersOf(call, groupId)], [id, [graph.phoneNumber, ADA]]);
  const setting = { text: 'New', update_successful: true };
  const renamed = { ...about, type: 'group_settings_update', group_subject: setting };
  await graph.post({ field: 'group_settings_update', groups: [renamed] });
  assert.equal((await call('GET', `/groups/${groupId}`)).body.subject, 'New');
  assert.deepEqual((await membersOf(call, groupId)).toSorted(), [graph.phoneNumber, ADA, GRACE].toSorted());
  const changes = (await eventsOf(call, 'group.updated')).map(({ data }: Answer['body']) => data.change);
  assert.deepEqual(changes, [
    { type: 'participants', action: 'add', phoneNumbers: [GRACE] },
    { type: 'subject', subject: 'New' },
  ]);
});

it('lists, approves and rejects requests to join', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden', joinApproval: true })).body;
  for (const wa_id of [ADA, GRACE, '4917000000001']) await graph.groups.join(networkGroupId, { wa_id });
  await graph.groups.join(networkGroupId, { user_id: HIDDEN });
  const asked = await eventsOf(call, 'group.join_request');
  assert.deepEqual(
    asked.map(({ data }: Answer['body']) => [data.change, data.method]),
    Array.from({ length: 4 }, () => ['created', 'invite_link']),
  );
  const list = async () => (await call('GET', `/groups/${groupId}/join-requests`)).body.data;
  const waiting = await list();
  assert.equal(waiting.length, 4);
  const hidden = waiting.find(({ unidentified }: Answer['body']) => unidentified === true).phoneNumber;
  await graph.groups.withdraw(networkGroupId, '4917000000001');
  assert.equal((await eventsOf(call, 'group.join_request')).at(-1).data.change, 'withdrawn');
  const approve = { phoneNumbers: [ADA, hidden, '4917000000001'] };
  const approved = (await call('POST', `/groups/${groupId}/join-requests/approve`, approve)).body.results;
  assert.deepEqual(
    approved.map(({ ok }: Answer['body']) => ok),
    [true, true, false],
  );
  assert.match(approved[2].reason, /does not ask to join/);
  const rejected = (await call('POST', `/groups/${groupId}/join-requests/reject`, { phoneNumbers: [GRACE] })).body;
  assert.deepEqual(rejected.results, [{ phoneNumber: GRACE, ok: true }]);
  assert.deepEqual(await list(), []);
  await graph.settled();
  assert.deepEqual((await membersOf(call, groupId)).toSorted(), [graph.phoneNumber, ADA, hidden].toSorted());
  const ends = (await eventsOf(call, 'group.join_request')).map(({ data }: Answer['body']) => data.change);
  assert.deepEqual(
    ends.toSorted(),
    ['approved', 'approved', 'rejected', 'withdrawn', ...Array(4).fill('created')].toSorted(),
  );
});

it('deletes a group for everyone', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  await graph.groups.join(networkGroupId, { wa_id: ADA });
  graph.groups.refuseNext('delete', 131_206, 'The group cannot be deleted now');
  assert.match((await call('DELETE', `/groups/${groupId}`)).body.detail, /cannot be deleted now \(131206\)/);
  const { status, body } = await call('DELETE', `/groups/${groupId}`);
  assert.deepEqual([status, body], [200, { groupId, deleted: true }]);
  assert.equal(graph.groups.has(networkGroupId), false);
  assert.deepEqual((await call('GET', '/groups')).body.data, []);
  const gone = (await eventsOf(call, 'group.participants')).at(-1);
  assert.deepEqual(
    [gone.data.action, gone.data.phoneNumbers.toSorted()],
    ['remove', [graph.phoneNumber, ADA].toSorted()],
  );
});

it('emits only what a callback about a group changes', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  let report = 0;
  const post = (field: string, fields: object, secondsAgo = 0) =>
    graph.post({
      field,
      groups: [
        {
          group_id: networkGroupId,
          request_id: `r${report++}`,
          timestamp: String(Number(graph.now()) - secondsAgo),
          ...fields,
        },
      ],
    });
  const member = (action: 'add' | 'remove', people: readonly object[], secondsAgo?: number) =>
    post(
      'group_participants_update',
      {
        type: `group_participants_${action}`,
        ...(action === 'add' ? { added_participants: people } : { removed_participants: people }),
      },
      secondsAgo,
    );
  const settings = (fields: object, secondsAgo?: number) =>
    post('group_settings_update', { type: 'group_settings_update', ...fields }, secondsAgo);
  const text = (value: string) => ({ text: value, update_successful: true });
  // Two people have joined when the first of two reports arrives.
  graph.groups.set(networkGroupId, { participants: [{ wa_id: ADA }, { wa_id: GRACE }] });
  await member('add', [{ wa_id: ADA }]);
  await member('add', [{ wa_id: ADA }]);
  await member('add', [{ wa_id: ADA }, { wa_id: GRACE }], 120);
  await member('remove', [{ wa_id: '491700000001' }]);
  await member('remove', [{ wa_id: ADA }], 120); // she has joined again since
  await settings({ group_subject: text('Garden') });
  await settings({ group_subject: text('Orchard'), group_description: text('Trees') });
  await settings({ group_subject: text('Orchard'), group_description: text('Trees') });
  graph.groups.set(networkGroupId, { subject: 'Field' });
  await settings({ group_subject: text('Meadow') }, 120); // the name before the present one
  await settings({ group_subject: text('Field') });
  const changes = (await eventsOf(call, 'group.updated')).map(({ data }: Answer['body']) => data.change);
  assert.deepEqual(changes, [
    { type: 'participants', action: 'add', phoneNumbers: [ADA] },
    { type: 'participants', action: 'add', phoneNumbers: [GRACE] },
    { type: 'subject', subject: 'Orchard' },
    { type: 'description', description: 'Trees' },
    { type: 'subject', subject: 'Field' },
  ]);
  assert.deepEqual((await membersOf(call, groupId)).toSorted(), [graph.phoneNumber, ADA, GRACE].toSorted());
  assert.equal((await eventsOf(call, 'group.participants')).length, 2);
});

it('keeps a deleted group as it is when reports from before its deletion arrive later', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden', description: 'Plants' }))
    .body;
  await graph.groups.join(networkGroupId, { wa_id: ADA });
  assert.equal((await call('DELETE', `/groups/${groupId}`)).status, 200);
  const before = (await call('GET', `/groups/${groupId}`)).body;
  const [created, updated] = [await eventsOf(call, 'group.created'), await eventsOf(call, 'group.updated')];
  const timestamp = graph.now();
  const message = {
    id: 'wamid.late',
    from: ADA,
    group_id: networkGroupId,
    timestamp,
    type: 'text',
    text: { body: 'Bye' },
  };
  assert.equal(await graph.post({ messages: [message] }), 200);
  const report = (fields: object) => ({ group_id: networkGroupId, timestamp, ...fields });
  const left = report({ type: 'group_participants_remove', removed_participants: [{ wa_id: ADA }] });
  assert.equal(await graph.post({ field: 'group_participants_update', groups: [left] }), 200);
  const settings = { group_subject: { text: 'Orchard', update_successful: true } };
  const changed = report({ type: 'group_settings_update', ...settings });
  assert.equal(await graph.post({ field: 'group_settings_update', groups: [changed] }), 200);
  const again = report({ type: 'group_create', subject: 'Garden' });
  assert.equal(await graph.post({ field: 'group_lifecycle_update', groups: [again] }), 200);
  assert.equal((await eventOf(call, 'message.incoming')).groupId, groupId);
  assert.deepEqual((await call('GET', `/groups/${groupId}`)).body, before);
  assert.deepEqual((await call('GET', '/groups')).body.data, []);
  assert.deepEqual([await eventsOf(call, 'group.created'), await eventsOf(call, 'group.updated')], [created, updated]);
});

it('lists who received and read a message to a group', async (t) => {
  const { graph, call } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  const people = [{ wa_id: ADA }, { wa_id: GRACE }, { user_id: HIDDEN }];
  for (const person of people) await graph.groups.join(networkGroupId, person);
  const { messageId } = (await call('POST', '/messages/send', { to: groupId, message: 'Rain today' })).body;
  await graph.settled();
  const [sent] = graph.sent;
  assert.ok(sent);
  // One page of Meta names the field `recipient_participant_id`, another one `participant_recipient_id`.
  const { recipient_participant_id: id, ...other } = graph.memberStatus(sent, 'read', {
    wa_id: GRACE,
  }) as Answer['body'];
  const read = [graph.memberStatus(sent, 'read', { wa_id: ADA }), { ...other, participant_recipient_id: id }];
  assert.equal(await graph.post({ statuses: read }), 200);
  const failed = { ...graph.memberStatus(sent, 'failed', { user_id: HIDDEN }), ...graph.failure(131_026, 'Outdated') };
  assert.equal(await graph.post({ statuses: [failed] }), 200);
  const { data } = (await call('GET', `/messages/${messageId}/receipts`)).body;
  const shown = new Map(data.map((one: Answer['body']) => [one.phoneNumber, one.readAt !== null]));
  const hidden = (await membersOf(call, groupId)).find((number: string) => number.startsWith('000'));
  assert.deepEqual(
    [ADA, GRACE, hidden].map((number) => shown.get(number)),
    [true, true, false],
    JSON.stringify(data),
  );
  const delivered = await eventOf(call, 'message.delivered', (event) => event.messageId === messageId);
  assert.equal(delivered.by, ADA);
  assert.equal((await eventOf(call, 'message.read', (event) => event.messageId === messageId)).by, ADA);
  assert.equal((await call('GET', `/messages/${messageId}`)).body.status, 'read');
});

it('pins a message of a group, and of no other chat', async (t) => {
  const { graph, call, send } = await cloudSession(t);
  const { groupId, networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  const { messageId } = (await call('POST', '/messages/send', { to: groupId, message: 'Rain today' })).body;
  const [sent] = graph.sent;
  const pinned = await call('POST', `/messages/${messageId}/pin`, { duration: '30d' });
  assert.equal(pinned.status, 200, JSON.stringify(pinned.body));
  assert.partialDeepStrictEqual(graph.sent.at(-1)?.body, {
    recipient_type: 'group',
    to: networkGroupId,
    type: 'pin',
    pin: { type: 'pin', message_id: sent?.id, expiration_days: 30 },
  });
  assert.equal((await call('DELETE', `/messages/${messageId}/pin`)).status, 200);
  assert.deepEqual(graph.sent.at(-1)?.body.pin, { type: 'unpin', message_id: sent?.id });
  const direct = (await send('Hi')).body.messageId;
  assert.equal((await call('POST', `/messages/${direct}/pin`, {})).body.code, 'not_supported');
});

it('reports the suspension of a group as a notice about the number', async (t) => {
  const { graph, call, sessionId } = await cloudSession(t);
  const { networkGroupId } = (await call('POST', '/groups', { subject: 'Garden' })).body;
  await graph.groups.suspend(networkGroupId, true);
  await graph.groups.suspend(networkGroupId, false);
  const { network } = await eventually(
    async () => (await call('GET', `/sessions/${sessionId}`)).body,
    ({ network: state }) => state?.notices?.length >= 2,
  );
  assert.deepEqual(network.notices.map(({ type, severity }: Answer['body']) => [type, severity]).toSorted(), [
    ['GROUP_SUSPENDED', 'warning'],
    ['GROUP_SUSPENSION_CLEARED', 'info'],
  ]);
  assert.match(network.notices[0].message, /"Garden"/);
});
