import { sql } from 'kysely';
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import { contains } from '../../db/contains.ts';
import { query } from '../../db/query.ts';
import type { ContactTable } from '../../db/schema.ts';
import { AppError, noSuch } from '../../errors.ts';
import { userIdFields, userNameOf } from '../../events/parts.ts';
import {
  boolean,
  entries,
  list,
  named,
  notBlank,
  notForAgents,
  object,
  onlyTrue,
  optional,
  orNull,
  string,
  time,
} from '../../invoke/input/fields.ts';
import { PhoneNumberInput, PhoneNumberList, phoneNumber } from '../../invoke/input/phoneNumbers.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { pageInput, pageOf } from '../../invoke/pages.ts';
import { readSessionPage } from '../../invoke/sessionPages.ts';
import { blockContact, nameOf, saveContact } from '../../messages/people/contactChanges.ts';
import type { SessionRef } from '../../messages/store.ts';
import { userIdsOf } from '../../messages/userIds.ts';
import { countLookUps } from '../../sessions/lookUps.ts';
import { ListedSessionId, listedSessions, OptionalSessionId, SessionId } from '../shared/sessionFields.ts';

const Contact = named('Contact', {
  phoneNumber: string('Phone number digits of the contact.'),
  sessionId: SessionId,
  name: orNull(
    Type.String(),
    'Name in the address book, or the name that the contact chose; null if neither is known.',
  ),
  pushName: { ...orNull(Type.String(), 'Name that the contact chose; null if it is not known.'), ...notForAgents },
  savedName: {
    ...orNull(Type.String(), 'Name in the address book of the account; null if there is none.'),
    ...notForAgents,
  },
  blocked: boolean('Whether the session has blocked the contact.'),
  onNetwork: orNull(Type.Boolean(), 'Whether the number is on the network; null if it was never checked.'),
  checkedAt: orNull(time(), 'When the number was last checked; null if never.'),
  userId: userIdFields('the contact').userId,
  // Like a name, this is no message content.
  userName: optional(string(userNameOf('the contact'))),
  unidentified: optional(onlyTrue('Present if the contact hides the number: `phoneNumber` is then a placeholder.')),
});

const ContactWithIds = named('ContactWithIds', {
  ...Contact.properties,
  networkIds: list(
    Type.String(),
    'Ids of the contact on the network, as far as they are known, such as `491701234567@s.whatsapp.net`.',
  ),
});

export const listContacts = defineOperation({
  id: 'contacts.list',
  route: 'GET /contacts',
  permission: 'contacts:read',
  scope: 'filtered',
  effect: 'read',
  tool: true,
  thirdPartyText: true,
  summary: 'List contacts',
  description:
    'List contacts, ordered by phone number: people who wrote to a session, whose number was checked, or who were blocked. Use it to find a number by name (`q`).',
  input: {
    sessionId: ListedSessionId,
    q: optional(
      string('Part of the name or user name, or the first digits of the number.', { minLength: 1, maxLength: 100 }),
    ),
    phoneNumber: optional(PhoneNumberInput('Only the contact with this number.')),
    blocked: optional(boolean('`true`: only blocked contacts; `false`: only others.')),
    ...pageInput,
  },
  output: pageOf(Contact),
  errors: ['not_found'],
  async run(ctx, input) {
    const sessionIds = await listedSessions(ctx, input.sessionId);
    const { q, blocked } = input;
    const number = input.phoneNumber;
    const filters = [q === undefined ? [] : isNamed(q), blocked === false ? sql<boolean>`r.blocked = 0` : []].flat();
    const list = {
      ...byNumber,
      index: blocked === true ? 'contacts_blocked' : undefined,
      path: pathOf(blocked, number),
      filter: filters.length === 0 ? undefined : sql<boolean>`${sql.join(filters, sql` and `)}`,
    };
    const show = (rows: readonly ContactTable[]) => rows.map(toContact);
    return readSessionPage(ctx, list, sessionIds, input, show);
  },
});

const byNumber = {
  list: 'contacts',
  order: 'asc',
  key: sql<string>`r.phone_number`,
  session: sql<string>`r.session_id`,
} as const;

function pathOf(blocked: boolean | undefined, number: string | undefined) {
  const conditions = [
    blocked === true ? sql<boolean>`r.blocked = 1` : [],
    number === undefined ? [] : sql<boolean>`r.phone_number = ${number}`,
  ].flat();
  return conditions.length === 0 ? undefined : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

function isNamed(q: string) {
  const digits = q.replace(/\D/g, '');
  const named = sql<boolean>`(${contains('r.name', q)} or ${contains('r.saved_name', q)} or ${contains('r.user_name', q)})`;
  return digits === '' ? named : sql<boolean>`(${named} or r.phone_number like ${`${digits}%`})`;
}

export const getContact = defineOperation({
  id: 'contacts.get',
  route: 'GET /contacts/{contactId}',
  owner: { field: 'sessionId' },
  permission: 'contacts:read',
  scope: 'sessionId',
  effect: 'read',
  thirdPartyText: true,
  summary: 'Get a contact',
  description:
    'Get one contact of a session, by its phone number or by an id of the network. A contact who hid the number before is also found by the placeholder and the LID of that time.',
  input: {
    contactId: PhoneNumberInput(
      'Phone number, address (`491701234567@s.whatsapp.net`), LID (`…@lid`), user id (`DE.999888`) or placeholder (`000…`).',
      'other', // a contact has both ids
    ),
    sessionId: OptionalSessionId,
  },
  output: ContactWithIds,
  errors: ['not_found', 'session_required'],
  example: { contactId: '491707654321' },
  async run(ctx, input) {
    const { session } = ctx;
    const digits = phoneNumber('contactId', input.contactId);
    const person = await ctx.sessions.people.find(session.sessionId, digits);
    // On a network with several forms of a number, the connection knows the one that it uses.
    const form = ctx.liveSessions.find(session)?.connection.numberOf?.(digits);
    const names = [person.phoneNumber, ...(form === undefined ? [] : [form]), digits];
    const found = await contactsOf.all(ctx.database.reader, { ...session, numbers: JSON.stringify(names) });
    const [row] = names.flatMap((name) => found.find(({ phone_number }) => phone_number === name) ?? []);
    if (row === undefined) throw noSuch('contact', input.contactId, 'contactId');
    const { networkIds } =
      row.phone_number === digits ? person : await ctx.sessions.people.find(session.sessionId, row.phone_number);
    return { ...toContact(row), networkIds: [...networkIds] };
  },
});

/** How long an answer of the network is cached, because frequent checks get numbers banned. */
export const CHECK_KEPT_MS = 24 * 3600 * 1000;
const CHECKED_AT_ONCE = 100;

export const checkContacts = defineOperation({
  id: 'contacts.check',
  route: 'GET /contacts/check',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'contacts:check',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  tool: true,
  summary: 'Check phone numbers',
  description:
    'Check which phone numbers have an account on the network, before you write to them. Results are cached for a day. Do not check in bulk: networks ban sessions that do.',
  input: {
    sessionId: OptionalSessionId,
    phoneNumbers: PhoneNumberList(`Up to ${CHECKED_AT_ONCE} numbers.`, { minItems: 1, maxItems: CHECKED_AT_ONCE }),
  },
  output: object({
    data: entries('One entry per number.', {
      phoneNumber: string('Phone number digits.'),
      onNetwork: boolean('Whether the number has an account on the network.'),
      checkedAt: time('When the network was asked.'),
    }),
  }),
  errors: ['not_found', 'session_required', 'session_not_connected', 'send_failed', 'not_supported'],
  example: { phoneNumbers: ['491707654321'] },
  async run(ctx, input) {
    const { session } = ctx;
    const numbers = [...new Set(input.phoneNumbers)];
    const now = ctx.clock.now();
    const stored = await contactsOf.all(ctx.database.reader, { ...session, numbers: JSON.stringify(numbers) });
    const known = new Map(
      stored.flatMap((row) =>
        row.on_network !== null && (row.checked_at ?? 0) > now - CHECK_KEPT_MS
          ? [[row.phone_number, { onNetwork: row.on_network === 1, at: row.checked_at ?? now }]]
          : [],
      ),
    );
    const unknown = numbers.filter((number) => !known.has(number));
    if (unknown.length > 0) {
      const checkNumbers = await ctx.liveSessions.part(session, 'checkNumbers');
      countLookUps(ctx.liveSessions, session, unknown.length);
      const present = await checkNumbers(unknown);
      await ctx.database.commit(async (tx) => {
        for (const number of unknown)
          await noteCheck.run(tx, { ...session, phoneNumber: number, onNetwork: Number(present.has(number)), now });
      }, session.sessionId);
      for (const number of unknown) known.set(number, { onNetwork: present.has(number), at: now });
    }
    return {
      data: numbers.map((number) => {
        const { onNetwork, at } = known.get(number) ?? { onNetwork: false, at: now };
        return { phoneNumber: number, onNetwork, checkedAt: isoTime(at) };
      }),
    };
  },
});

export const setContactBlocked = defineOperation({
  id: 'contacts.set_blocked',
  route: 'PUT /contacts/{phoneNumber}/blocked',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'contacts:write',
  scope: 'sessionId',
  effect: 'destructive',
  tool: true,
  thirdPartyText: true,
  uses: ['emit'],
  summary: 'Block or unblock a contact',
  description:
    'Block or unblock a contact. Direct messages sent while a contact is blocked never arrive, even after you unblock it. Its group messages still arrive. The contact is not notified.',
  input: {
    phoneNumber: PhoneNumberInput('Number of the contact.'),
    sessionId: OptionalSessionId,
    blocked: boolean('true blocks the contact, false unblocks it.'),
  },
  output: Contact,
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'send_failed',
    'not_supported',
    'recipient_not_on_network',
  ],
  example: { phoneNumber: '491707654321', blocked: true },
  async run(ctx, input) {
    const { session } = ctx;
    const number = input.phoneNumber;
    const setBlocked = await ctx.liveSessions.part(session, 'setBlocked');
    await setBlocked(number, input.blocked);
    // The network may have reported only now that it knows the number by another one.
    const known = ctx.liveSessions.find(session)?.connection.numberOf?.(number) ?? number;
    await ctx.database.commit((tx) => blockContact(ctx, tx, session, known, input.blocked), session.sessionId);
    return toContact(await readContact(ctx, session, known));
  },
});

const MAX_NAME = 200;

export const setContactName = defineOperation({
  id: 'contacts.set_name',
  route: 'PUT /contacts/{phoneNumber}/name',
  approval: 'free',
  owner: { field: 'sessionId' },
  permission: 'contacts:write',
  scope: 'sessionId',
  effect: 'write',
  isRepeatable: true,
  thirdPartyText: true,
  uses: ['emit'],
  summary: 'Save or rename a contact',
  description:
    "Save a contact in the account's address book, rename it, or remove it with `null`. The name becomes `savedName`. The contact is not notified.",
  input: {
    phoneNumber: PhoneNumberInput('Number of the contact.'),
    sessionId: OptionalSessionId,
    name: orNull(
      notBlank(Type.String({ minLength: 1, maxLength: MAX_NAME })),
      'New name in the address book; null removes the contact from it.',
    ),
  },
  output: Contact,
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'session_state',
    'send_failed',
    'not_supported',
    'recipient_not_on_network',
  ],
  example: { phoneNumber: '491707654321', name: 'Ada Lovelace' },
  async run(ctx, input) {
    const { session } = ctx;
    const name = input.name?.trim() ?? null;
    const save = await ctx.liveSessions.part(session, 'saveContact');
    const knownAs = () => ctx.liveSessions.find(session)?.connection.numberOf?.(input.phoneNumber) ?? input.phoneNumber;
    if (isPlaceholder(knownAs()))
      throw new AppError('not_supported', 'A contact who hides the phone number cannot be saved');
    if (name === null) {
      const [stored] = await contactsOf.all(ctx.database.reader, { ...session, numbers: JSON.stringify([knownAs()]) });
      if (stored === undefined) throw noSuch('contact', input.phoneNumber, 'phoneNumber');
      if (stored.saved_name === null) return toContact(stored);
    }
    await save(input.phoneNumber, name);
    // The network may have reported only now that it knows the number by another one.
    const known = knownAs();
    await ctx.database.commit((tx) => saveContact(ctx, tx, session, known, name), session.sessionId);
    return toContact(await readContact(ctx, session, known));
  },
});

async function readContact(ctx: Context, session: SessionRef, number: string): Promise<ContactTable> {
  const [row] = await contactsOf.all(ctx.database.reader, { ...session, numbers: JSON.stringify([number]) });
  if (row === undefined) throw new Error('the contact was stored just now');
  return row;
}

function toContact(row: ContactTable) {
  return {
    phoneNumber: row.phone_number,
    sessionId: row.session_id,
    name: nameOf(row),
    pushName: row.name,
    savedName: row.saved_name,
    blocked: row.blocked === 1,
    onNetwork: row.on_network === null ? null : row.on_network === 1,
    checkedAt: isoTime(row.checked_at),
    ...userIdsOf(row),
    ...(isPlaceholder(row.phone_number) && { unidentified: true as const }),
  };
}

export const contactsOf = query((db, p: SessionRef & { numbers: string }, dialect) =>
  db
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', p.accountId)
    .where('session_id', '=', p.sessionId)
    .where('phone_number', 'in', dialect.texts(p.numbers)),
);

export const noteCheck = query((db, p: SessionRef & { phoneNumber: string; onNetwork: number; now: number }) =>
  db
    .insertInto('contacts')
    .values({
      account_id: p.accountId,
      session_id: p.sessionId,
      phone_number: p.phoneNumber,
      name: null,
      blocked: 0,
      on_network: p.onNetwork,
      checked_at: p.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'phone_number']).doUpdateSet({ on_network: p.onNetwork, checked_at: p.now }),
    ),
);
