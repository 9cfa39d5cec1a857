import { type TObject, type TSchema, Type } from 'typebox';
import { Timestamp } from './fields.ts';
import { SessionId, Test } from './parts.ts';

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const Quality = Type.Enum(['high', 'medium', 'low', 'unknown']);

const Notice = Type.Object({
  type: Type.String({ description: "The network's name of the notice, such as `ACCOUNT_RESTRICTION`." }),
  severity: Type.Enum(['info', 'warning', 'critical'], { description: 'How urgent it is.' }),
  message: Type.String({ description: 'Text of the notice, as a sentence.' }),
  at: Timestamp('When the network sent it.'),
});

/** The network's judgment of a session's number. The API and the event `session.updated` show it. */
export const NumberNetwork = Type.Object({
  displayName: orNull(Type.String(), 'Name that recipients see; null if it is unknown.'),
  nameStatus: orNull(Type.String(), 'Review of the name, such as `approved` or `declined`; null if it is unknown.'),
  quality: orNull(Quality, 'Quality by the reactions of recipients; null if the network has not rated it.'),
  messagingTier: orNull(Type.String(), "The network's name of the messaging limit, such as `TIER_2K`."),
  messagingLimit: orNull(
    Type.Integer(),
    'People to whom the business may start to write within 24 hours; null if it is unknown or unlimited.',
  ),
  throughput: orNull(Type.String(), 'Sending speed, such as `standard` or `high`; null if it is unknown.'),
  accountMode: orNull(Type.String(), '`live`, or `sandbox` for a test number; null if it is unknown.'),
  canSend: orNull(
    Type.Enum(['yes', 'limited', 'no']),
    'Whether the network lets the number send; `problems` has the reasons if it does not.',
  ),
  problems: Type.Array(
    Type.Object({
      concerns: Type.String({ description: 'The restricted part, such as `phone_number` or `business_account`.' }),
      message: Type.String({ description: "The reason, in the network's words." }),
    }),
    { description: 'Restrictions of the number, its account, its business or its app.' },
  ),
  notices: Type.Array(Notice, { description: 'Up to ten latest notices about the number or its account.' }),
  updatedAt: Timestamp('When the network last reported a change.'),
});

export const businessEvents = {
  'session.updated': {
    description: "The network's judgment of a session's number changed: its quality, limits, name or restrictions.",
    data: Type.Object({
      sessionId: SessionId,
      changed: Type.Array(Type.String(), { description: 'Names of the fields of `network` that changed.' }),
      network: NumberNetwork,
      notice: Type.Optional(Notice),
      timestamp: Timestamp('When the network reported it.'),
      ...Test,
    }),
  },
  'template.updated': {
    description: 'A template was approved, rejected, paused, disabled, recategorized or rated.',
    data: Type.Object({
      sessionId: SessionId,
      templateId: Type.String({ description: 'Id of the template at the network.' }),
      name: Type.String({ description: 'Name of the template.' }),
      language: Type.String({ description: 'Language of the template, such as `en_US`.' }),
      status: orNull(Type.String(), 'Status, such as `approved` or `rejected`; null if no report has named it.'),
      previousStatus: orNull(Type.String(), 'Status of the previous report; null if there was none.'),
      category: orNull(Type.String(), 'Category, such as `utility`; null if no report has named it.'),
      quality: orNull(Quality, 'Quality by the reactions of recipients; null if no report has named it.'),
      reason: orNull(Type.String(), 'Why it was rejected, paused or disabled; null if there is no reason.'),
      timestamp: Timestamp('When the template changed.'),
      ...Test,
    }),
  },
} as const satisfies Record<string, { description: string; data: TObject }>;
