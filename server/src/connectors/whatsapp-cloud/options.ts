import { type Static, Type } from 'typebox';
import { historyOptions } from '../historyOptions.ts';

const Id = (description: string) => Type.String({ pattern: '^[0-9]{1,40}$', description });
const Secret = (description: string, minLength: number) =>
  Type.String({ minLength, maxLength: 2000, writeOnly: true, description });

/** The options of a session: one phone number of an app at Meta. */
export const CloudOptions = Type.Object(
  {
    phoneNumberId: Id('Id of the phone number, from the app at Meta.'),
    businessAccountId: Type.Optional(
      Id('Id of the WhatsApp Business account. If it is set, the app is subscribed to the account.'),
    ),
    coexistence: Type.Optional(
      Type.Boolean({
        description:
          'Whether the WhatsApp Business app uses the number as well. Its contacts and chats are then requested once.',
      }),
    ),
    historyEvents: historyOptions.historyEvents,
    // Sent in a header, where a copied line break would be invalid.
    token: Type.String({
      pattern: '^[!-~]+$',
      maxLength: 2000,
      writeOnly: true,
      description: 'Access token of a system user with whatsapp_business_messaging.',
    }),
    appSecret: Secret("The app's secret, with which Meta signs callbacks.", 1),
    verifyToken: Secret('Secret that Meta sends when it verifies the callback URL.', 8),
    messagesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: "The number's limit at Meta. Default: 80." }),
    ),
  },
  { additionalProperties: false },
);
export type CloudOptions = Static<typeof CloudOptions>;
