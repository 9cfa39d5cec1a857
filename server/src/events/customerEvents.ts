import { type TObject, Type } from 'typebox';
import { referralPart } from './contentParts/referral.ts';
import { Digits, Timestamp } from './fields.ts';
import { ChatId, SessionId, Test, Unidentified } from './parts.ts';

/* Event types about people who reach a business. Part of `optInEvents`. */

const approach = {
  sessionId: SessionId,
  chatId: ChatId,
  from: Digits('Phone number digits of the person.'),
  unidentified: Unidentified,
};

export const customerEvents = {
  'chat.opened': {
    description:
      'A person opened the chat with a business number for the first time, and has not written yet. Only on the WhatsApp Cloud API.',
    data: Type.Object({
      ...approach,
      referral: referralPart.schema,
      timestamp: Timestamp('When the person opened the chat.'),
      ...Test,
    }),
  },
  'call.permission': {
    description: 'A person allowed a business number to call, or refused. Only on the WhatsApp Cloud API.',
    data: Type.Object({
      ...approach,
      granted: Type.Boolean({ description: 'Whether the number may call the person.' }),
      expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the permission ends; null if it is permanent or was refused.',
      }),
      timestamp: Timestamp('When the person decided.'),
      ...Test,
    }),
  },
  'contact.marketing': {
    description:
      'A person stopped or resumed the marketing messages of a business number. Only on the WhatsApp Cloud API.',
    data: Type.Object({
      ...approach,
      stopped: Type.Boolean({ description: 'Whether the person no longer wants marketing messages.' }),
      timestamp: Timestamp('When the person decided.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;

export function customerSamples(sessionId: string, from: string, timestamp: string) {
  const of = { sessionId, chatId: from, from, timestamp, test: true } as const;
  return {
    'chat.opened': { ...of, referral: { adId: '120226305854810726', entryPoint: 'ad' } },
    'call.permission': { ...of, granted: true, expiresAt: timestamp },
    'contact.marketing': { ...of, stopped: true },
  } as const;
}
