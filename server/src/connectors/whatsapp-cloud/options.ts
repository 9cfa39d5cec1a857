import { type Static, Type } from 'typebox';

const Id = (description: string) => Type.String({ pattern: '^[0-9]{1,40}$', description });
const Secret = (description: string, minLength: number) =>
  Type.String({ minLength, maxLength: 2000, writeOnly: true, description });

/** The options of a session: one phone number of an app at Meta. */
export const CloudOptions = Type.Object(
  {
    phoneNumberId: Id("The phone number's id, as the app at Meta shows it."),
    businessAccountId: Type.Optional(Id('Id of the WhatsApp Business account: the app is then subscribed to it.')),
    // It goes into a header: copied with a line break it would fit nowhere.
    token: Type.String({
      pattern: '^[!-~]+$',
      maxLength: 2000,
      writeOnly: true,
      description: 'Access token of a system user with whatsapp_business_messaging.',
    }),
    appSecret: Secret("The app's secret, by which callbacks are signed.", 1),
    verifyToken: Secret('What Meta shows when it asks whether the callback URL is ours.', 8),
    messagesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: "The number's limit at Meta; 80 unless it was raised." }),
    ),
  },
  { additionalProperties: false },
);
export type CloudOptions = Static<typeof CloudOptions>;
