import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Phone } from '../support/fakeWhatsapp/index.ts';
import type { Answer } from '../support/server.ts';
import { linkSession, nextPhone, useWhatsapp } from './support.ts';

const setting = useWhatsapp({}, prepare);
let me: Phone;
let bob: Phone;
let sessionId: string;

async function prepare() {
  me = nextPhone(setting.whatsapp, 'Me');
  bob = nextPhone(setting.whatsapp, 'Bob');
  sessionId = await linkSession(setting.call, me);
}

async function ask(...request: Parameters<typeof setting.call>): Promise<Answer['body']> {
  const { status, body } = await setting.call(...request);
  assert.ok(status < 300, `${request.slice(0, 2).join(' ')}: ${JSON.stringify(body)}`);
  return body;
}

it('reads and sets privacy settings, and honors those that the phone has set', async () => {
  const privacy = `/sessions/${sessionId}/privacy`;
  const everyone = {
    sessionId,
    lastSeen: 'everyone',
    online: 'everyone',
    profilePicture: 'everyone',
    about: 'everyone',
    readReceipts: true,
    groupAdd: 'everyone',
    calls: 'everyone',
    disappearingSeconds: 0,
  };
  assert.deepEqual(await ask('GET', privacy), everyone);
  const wanted = {
    lastSeen: 'nobody',
    online: 'same_as_last_seen',
    profilePicture: 'contacts',
    about: 'nobody',
    readReceipts: false,
    groupAdd: 'contacts',
    calls: 'known',
    disappearingSeconds: 604_800,
  };
  assert.deepEqual(await ask('PATCH', privacy, wanted), { sessionId, ...wanted });
  assert.deepEqual(
    ['last', 'online', 'profile', 'status', 'readreceipts', 'groupadd', 'calladd'].map((name) => me.privacy.get(name)),
    ['none', 'match_last_seen', 'contacts', 'none', 'none', 'contacts', 'known'],
  );
  me.privacy.set('last', 'contact_blacklist');
  assert.equal((await ask('GET', privacy)).lastSeen, 'contacts_except');
  const { lastSeen } = await ask('PATCH', privacy, { about: 'contacts' });
  assert.equal(lastSeen, 'contacts_except');
  for (const wrong of [{}, { disappearingSeconds: 60 }, { lastSeen: 'contacts_except' }, { groupAdd: 'nobody' }])
    assert.equal((await setting.call('PATCH', privacy, wrong)).body.code, 'validation_failed', JSON.stringify(wrong));
});

it('sends no read receipts once they are turned off', async () => {
  const carol = nextPhone(setting.whatsapp, 'Carol');
  const session = await linkSession(setting.call, carol);
  const read = async (text: string, type: string) => {
    const id = await bob.sendText(carol.number, text);
    await eventually(
      () => setting.call('GET', `/messages?sessionId=${session}`),
      ({ body }) => body.data.some(({ message }: Answer['body']) => message === text),
    );
    await ask('POST', `/chats/${bob.number}/read`, { sessionId: session });
    if (type === 'read') await bob.receipts.waitFor((receipt) => receipt.id === id && receipt.type === 'read');
    return id;
  };
  await read('seen', 'read');
  await ask('PATCH', `/sessions/${session}/privacy`, { readReceipts: false });
  const unseen = await read('unseen', 'none');
  await ask('PATCH', `/sessions/${session}/privacy`, { readReceipts: true });
  await read('seen again', 'read');
  assert.ok(!bob.receipts.all.some(({ id, type }) => type === 'read' && id === unseen));
});

it('reads its own profile', async () => {
  me.profile.about = 'Here';
  const profile = await ask('GET', `/sessions/${sessionId}/profile`);
  assert.deepEqual([profile.phoneNumber, profile.about, profile.picture], [me.number, 'Here', null]);
  const update = () => setting.call('PATCH', `/sessions/${sessionId}/profile`, { name: 'Renamed' });
  await eventually(update, ({ status }) => status === 200);
  assert.equal((await ask('GET', `/sessions/${sessionId}/profile`)).name, 'Renamed');
});

it('lists the devices of its account', async () => {
  const second = await linkSession((await setting.server.account()).call, me);
  assert.ok(second);
  const { data } = await ask('GET', `/sessions/${sessionId}/devices`);
  assert.deepEqual(
    data.map(({ phone, thisSession, hosted }: Answer['body']) => [phone, thisSession, hosted]),
    [
      [true, false, false],
      [false, true, false],
      [false, false, false],
    ],
  );
  assert.deepEqual([data[0].keyIndex, data[0].deviceId], [null, 0]);
  assert.ok(data[2].keyIndex > data[1].keyIndex);
});

it('reads business profiles and catalogs page by page', async () => {
  const shop = nextPhone(setting.whatsapp, 'Shop');
  shop.profile.business = {
    description: 'Tea and more',
    category: 'Grocery',
    address: 'Harbor 1',
    email: 'tea@example.com',
    website: 'https://tea.example',
    timezone: 'Europe/Berlin',
    mon: '9:00-17:30',
    tue: 'always',
    wed: 'appointment',
  };
  shop.profile.catalog = ['Green', 'Black', 'White'].map((name, index) => ({
    id: `p${index}`,
    name,
    description: `${name} tea`,
    price: 12_500,
    currency: 'EUR',
    collection: index === 0 ? 'Light' : 'Strong',
  }));
  const of = (path: string) => ask('GET', `/contacts/${shop.number}/${path}sessionId=${sessionId}`);
  assert.deepEqual(await of('business-profile?'), {
    phoneNumber: shop.number,
    profile: {
      description: 'Tea and more',
      category: 'Grocery',
      address: 'Harbor 1',
      email: 'tea@example.com',
      websites: ['https://tea.example'],
      hours: {
        timeZone: 'Europe/Berlin',
        days: [
          { day: 'mon', mode: 'hours', opens: 540, closes: 1050 },
          { day: 'tue', mode: 'always' },
          { day: 'wed', mode: 'appointment' },
        ],
      },
    },
  });
  const first = await of('catalog?limit=2&');
  const second = await of(`catalog?limit=2&cursor=${first.nextCursor}&`);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ name, price, currency }: Answer['body']) => [name, price, currency]),
    ['Green', 'Black', 'White'].map((name) => [name, '12.5', 'EUR']),
  );
  assert.equal(second.nextCursor, null);
  assert.equal(first.data[0].imageUrl, 'https://media.example/p0');
  const { data } = await of('catalog/collections?');
  assert.deepEqual(
    data.map(({ name, products }: Answer['body']) => [name, products.length]),
    [
      ['Light', 1],
      ['Strong', 2],
    ],
  );
  const foreign = `/contacts/${shop.number}/catalog?sessionId=${sessionId}&cursor=${Buffer.from('messages~x').toString('base64url')}`;
  assert.equal((await setting.call('GET', foreign)).body.code, 'validation_failed');
});

it('bounds what a business writes, and returns nothing for a person', async () => {
  const loud = nextPhone(setting.whatsapp, 'Loud');
  loud.profile.business = { description: 'x'.repeat(20_000), mon: '99:00-17:00' };
  loud.profile.catalog = [{ id: 'p', name: 'y'.repeat(20_000) }];
  const of = (number: string, path: string) => ask('GET', `/contacts/${number}/${path}?sessionId=${sessionId}`);
  const { profile } = await of(loud.number, 'business-profile');
  assert.equal(profile.description.length, 5000);
  assert.deepEqual(profile.hours.days, [{ day: 'mon', mode: 'hours', closes: 1020 }]);
  const { data } = await of(loud.number, 'catalog');
  assert.deepEqual([data[0].name.length, data[0].price], [5000, null]);
  assert.equal((await of(bob.number, 'business-profile')).profile, null);
  assert.deepEqual((await of(bob.number, 'catalog')).data, []);
  assert.deepEqual((await of(bob.number, 'catalog/collections')).data, []);
});

it('looks up the LIDs of numbers and the numbers of LIDs', async () => {
  const dave = nextPhone(setting.whatsapp, 'Dave');
  const lookUp = (query: string) => ask('GET', `/contacts/lookup?sessionId=${sessionId}&${query}`);
  assert.deepEqual((await lookUp(`lids=${dave.lid}`)).data, [{ phoneNumber: null, lid: `${dave.lid}@lid` }]);
  const { data } = await lookUp(`phoneNumbers=${dave.number},15559999999`);
  assert.deepEqual(data, [
    { phoneNumber: dave.number, lid: `${dave.lid}@lid` },
    { phoneNumber: '15559999999', lid: null },
  ]);
  for (const lid of [dave.lid, `${dave.lid}@lid`, `000${dave.lid}`])
    assert.deepEqual((await lookUp(`lids=${lid}`)).data, [{ phoneNumber: dave.number, lid: `${dave.lid}@lid` }]);
  await setting.call('POST', `/sessions/${sessionId}/disconnect`);
  const offline = await lookUp(`phoneNumbers=${dave.number},15559999999&lids=${dave.lid},12345678901234`);
  assert.deepEqual(offline.data, [
    { phoneNumber: dave.number, lid: `${dave.lid}@lid` },
    { phoneNumber: '15559999999', lid: null },
    { phoneNumber: dave.number, lid: `${dave.lid}@lid` },
    { phoneNumber: null, lid: '12345678901234@lid' },
  ]);
  for (const query of ['', `phoneNumbers=000${dave.lid}`, 'lids=x', `lids=${Array(51).fill(dave.lid).join(',')}`]) {
    const { body } = await setting.call('GET', `/contacts/lookup?sessionId=${sessionId}&${query}`);
    assert.equal(body.code, 'validation_failed', query);
  }
});
