import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { ContactCard, PersonalInvite } from '../../connectors/contract/contentParts.ts';
import { Digits, Moment, OptionalContent, Text } from '../fields.ts';
import { id, limited, moment, name } from './limits.ts';
import { definePart } from './part.ts';

const CARDS = 50;
const CARD_NUMBERS = 10;
const NUMBER_CHARACTERS = 40;

export const cardWithinLimits = (card: ContactCard): ContactCard => ({
  name: name(card.name),
  phoneNumbers: card.phoneNumbers.filter((number) => number.length <= NUMBER_CHARACTERS).slice(0, CARD_NUMBERS),
});

export const contactsPart = definePart({
  field: 'contacts',
  schema: OptionalContent(
    Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name on the contact card.' }),
        phoneNumbers: Type.Array(Digits('Phone number digits of the contact.')),
      }),
      { description: 'All cards of a message with several. `contact` then has the numbers of all of them.' },
    ),
  ),
  limit: (cards: readonly ContactCard[]) => cards.slice(0, CARDS).map(cardWithinLimits),
  texts: (cards) => cards.map((card) => card.name),
  show: (cards) => cards.map((card) => ({ name: card.name, phoneNumbers: [...card.phoneNumbers] })),
});

export const groupInvitePart = definePart({
  field: 'groupInvite',
  schema: OptionalContent(
    Type.Object(
      {
        networkGroupId: Type.String({ description: 'Address of the group at the network.' }),
        subject: Text('Name of the group.'),
        code: Type.String({ description: 'Code of the invite, which is only for the recipient.' }),
        expiresAt: Moment('When the invite expires.'),
      },
      { description: 'Only of messages of the type `group_invite`.' },
    ),
  ),
  limit: (invite: PersonalInvite) => limited(invite, { networkId: id, subject: name, code: id, expiresAt: moment }),
  texts: ({ subject }) => [subject],
  show: ({ networkId, expiresAt, ...invite }) => ({
    networkGroupId: networkId,
    ...invite,
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
  }),
});
