import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { AccountNotice } from '../../contract/business.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import { lower, toLimit, toQuality } from '../number/numberDetails.ts';

/*
 * Callbacks about the business account, its templates and its numbers:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview
 */

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Id = Type.Union([Type.String(), Type.Number()]);

const AnyTemplate = {
  message_template_id: Id,
  message_template_name: Type.String(),
  message_template_language: Type.String(),
};
const TemplateStatus = Compile(
  Type.Object({
    ...AnyTemplate,
    event: Type.String(),
    reason: Text,
    message_template_category: Text,
    other_info: Type.Optional(Type.Object({ description: Text })),
    rejection_info: Type.Optional(Type.Object({ reason: Text, recommendation: Text })),
  }),
);
const TemplateQuality = Compile(Type.Object({ ...AnyTemplate, new_quality_score: Type.String() }));
const TemplateCategory = Compile(
  Type.Object({ ...AnyTemplate, new_category: Type.String(), correct_category: Text, previous_category: Text }),
);
const NumberQuality = Compile(
  Type.Object({
    display_phone_number: Type.Optional(Type.String()),
    event: Text,
    current_limit: Text,
    max_daily_conversations_per_business: Type.Optional(Type.Union([Id, Type.Null()])),
  }),
);
const NumberName = Compile(
  Type.Object({
    display_phone_number: Type.Optional(Type.String()),
    decision: Type.String(),
    requested_verified_name: Text,
    rejection_reason: Text,
  }),
);
const Capability = Compile(
  Type.Object({
    max_daily_conversation_per_phone: Type.Optional(Id),
    max_daily_conversations_per_business: Type.Optional(Id),
  }),
);
const AlertInfo = Type.Object({
  alert_severity: Text,
  alert_type: Type.String(),
  alert_description: Text,
});
const Alert = Compile(
  Type.Object({
    entity_type: Text,
    entity_id: Type.Optional(Id),
    alert_info: AlertInfo,
  }),
);
const AccountUpdate = Compile(
  Type.Object({
    event: Type.String(),
    phone_number: Text,
    violation_info: Type.Optional(Type.Object({ violation_type: Text })),
    ban_info: Type.Optional(Type.Object({ waba_ban_state: Type.Optional(Type.Unknown()), waba_ban_date: Text })),
    restriction_info: Type.Optional(
      Type.Array(Type.Object({ restriction_type: Text, expiration: Type.Optional(Type.Unknown()) })),
    ),
  }),
);
const Review = Compile(Type.Object({ decision: Type.String() }));

/** The number that reads a notification. */
export interface Concerned {
  readonly phoneNumberId: string;
  /** Digits. */
  readonly phoneNumber: string | null;
}

export interface Notification {
  readonly events: readonly NetworkEvent[];
  /** Whether the state of the number has to be read again. */
  readonly isStale?: true;
}

type Read = (value: unknown, concerned: Concerned, timestamp: number) => Notification | undefined;

const NOTHING: Notification = { events: [] };

/** The fields whose changes concern a business account or one of its numbers. */
const READERS: Readonly<Record<string, Read>> = {
  message_template_status_update: readTemplateStatus,
  message_template_quality_update: readTemplateQuality,
  template_category_update: readTemplateCategory,
  phone_number_quality_update: readNumberQuality,
  phone_number_name_update: readNumberName,
  business_capability_update: readCapability,
  account_alerts: readAlert,
  account_update: readAccountUpdate,
  account_review_update: readReview,
};

export const isAccountField = (field: string): boolean => Object.hasOwn(READERS, field);

/** Returns undefined for a value of an unknown shape. */
export function readNotification(
  field: string,
  value: unknown,
  concerned: Concerned,
  timestamp: number,
): Notification | undefined {
  return READERS[field]?.(value, concerned, timestamp);
}

/** Meta's events of templates that are not the status that follows from them. */
const STATUSES: Readonly<Record<string, string>> = { REINSTATED: 'approved' };

function readTemplateStatus(value: unknown, _: Concerned, timestamp: number): Notification | undefined {
  // Meta sends changes of the quality under this field as well.
  if (TemplateQuality.Check(value)) return readTemplateQuality(value, _, timestamp);
  if (!TemplateStatus.Check(value)) return undefined;
  const { event, reason, message_template_category: category, rejection_info: rejected, other_info: other } = value;
  const words = [rejected?.reason, rejected?.recommendation].filter((text) => text).join(' ');
  const why = words || other?.description || (reason && reason !== 'NONE' ? reason : undefined);
  return {
    events: [
      {
        ...templateOf(value, timestamp),
        status: STATUSES[event] ?? lower(event),
        ...(category && { category: lower(category) }),
        ...(why && { reason: why }),
      },
    ],
  };
}

function readTemplateQuality(value: unknown, _: Concerned, timestamp: number): Notification | undefined {
  if (!TemplateQuality.Check(value)) return undefined;
  return { events: [{ ...templateOf(value, timestamp), quality: toQuality(value.new_quality_score) }] };
}

function readTemplateCategory(value: unknown, _: Concerned, timestamp: number): Notification | undefined {
  if (!TemplateCategory.Check(value)) return undefined;
  const { new_category: category, correct_category: next } = value;
  const reason = next && `WhatsApp will change the category to ${lower(next)}`;
  return { events: [{ ...templateOf(value, timestamp), category: lower(category), ...(reason && { reason }) }] };
}

function templateOf(
  value: Static<ReturnType<typeof Type.Object<typeof AnyTemplate>>>,
  timestamp: number,
): Extract<NetworkEvent, { type: 'template_updated' }> {
  const { message_template_id: id, message_template_name: name, message_template_language: language } = value;
  // Callbacks write languages with a hyphen, and everything else with an underscore.
  return { type: 'template_updated', templateId: String(id), name, language: language.replace('-', '_'), timestamp };
}

function readNumberQuality(value: unknown, concerned: Concerned, timestamp: number): Notification | undefined {
  if (!NumberQuality.Check(value)) return undefined;
  if (isOther(value.display_phone_number, concerned)) return NOTHING;
  const { event, current_limit: current, max_daily_conversations_per_business: limit } = value;
  const isUpgrade = event === 'THROUGHPUT_UPGRADE';
  // With an upgrade, the old field has the throughput.
  const tier = limit ?? (isUpgrade ? undefined : current);
  const state = { ...(tier && toLimit(tier)), ...(isUpgrade && { throughput: 'high' }) };
  return { events: [{ type: 'number_updated', state, timestamp }], isStale: true };
}

function readNumberName(value: unknown, concerned: Concerned, timestamp: number): Notification | undefined {
  if (!NumberName.Check(value)) return undefined;
  if (isOther(value.display_phone_number, concerned)) return NOTHING;
  const { decision, requested_verified_name: name, rejection_reason: reason } = value;
  const isApproved = decision === 'APPROVED';
  const isRejected = decision === 'REJECTED';
  const why = reason ? ` (${reason})` : '';
  const notice: AccountNotice = {
    type: `NAME_${decision}`,
    severity: isRejected ? 'warning' : 'info',
    message: `The display name ${name ?? ''} is ${lower(decision)}${isRejected ? why : ''}`,
  };
  const state = { nameStatus: lower(decision), ...(isApproved && name && { displayName: name }) };
  return { events: [{ type: 'number_updated', state, notice, timestamp }], isStale: true };
}

function readCapability(value: unknown, _: Concerned, timestamp: number): Notification | undefined {
  if (!Capability.Check(value)) return undefined;
  const limit = value.max_daily_conversations_per_business ?? value.max_daily_conversation_per_phone;
  if (limit === undefined) return NOTHING;
  return { events: [{ type: 'number_updated', state: toLimit(limit), timestamp }] };
}

const SEVERITIES: Readonly<Record<string, AccountNotice['severity']>> = {
  CRITICAL: 'critical',
  WARNING: 'warning',
};

function readAlert(value: unknown, { phoneNumberId }: Concerned, timestamp: number): Notification | undefined {
  if (!Alert.Check(value)) return undefined;
  const { entity_type: entity, entity_id: id, alert_info: info } = value;
  if (entity === 'PHONE_NUMBER' && id !== undefined && String(id) !== phoneNumberId) return NOTHING;
  const notice: AccountNotice = {
    type: info.alert_type,
    severity: SEVERITIES[info.alert_severity ?? ''] ?? 'info',
    message: info.alert_description ?? info.alert_type,
  };
  return { events: [{ type: 'number_updated', state: {}, notice, timestamp }] };
}

const CRITICAL: ReadonlySet<string> = new Set(['ACCOUNT_DELETED', 'DISABLED_UPDATE', 'ACCOUNT_OFFBOARDED']);
const WARNING: ReadonlySet<string> = new Set(['ACCOUNT_VIOLATION', 'ACCOUNT_RESTRICTION', 'PARTNER_REMOVED']);

const RESTRICTING: ReadonlySet<string> = new Set(['ACCOUNT_RESTRICTION', 'DISABLED_UPDATE']);

function readAccountUpdate(value: unknown, concerned: Concerned, timestamp: number): Notification | undefined {
  if (!AccountUpdate.Check(value)) return undefined;
  if (value.phone_number && isOther(value.phone_number, concerned)) return NOTHING;
  const { event, violation_info: violation, ban_info: ban, restriction_info: restrictions = [] } = value;
  const banned = typeof ban?.waba_ban_state === 'string' ? ban.waba_ban_state : undefined;
  const isGood = banned === 'REINSTATE';
  const details = [
    violation?.violation_type,
    banned,
    ban?.waba_ban_date,
    ...restrictions.map(({ restriction_type: type }) => type),
  ].filter((text) => text);
  const severity = isGood ? 'info' : CRITICAL.has(event) ? 'critical' : WARNING.has(event) ? 'warning' : 'info';
  const message = `WhatsApp reports ${event} for the business account${details.length > 0 ? `: ${details.join(', ')}` : ''}`;
  const restricts = isGood ? false : banned !== undefined || RESTRICTING.has(event) ? true : undefined;
  const notice: AccountNotice = { type: event, severity, message, ...(restricts !== undefined && { restricts }) };
  return { events: [{ type: 'number_updated', state: {}, notice, timestamp }], isStale: true };
}

function readReview(value: unknown, _: Concerned, timestamp: number): Notification | undefined {
  if (!Review.Check(value)) return undefined;
  const { decision } = value;
  const severity = decision === 'REJECTED' ? 'critical' : decision === 'APPROVED' ? 'info' : 'warning';
  const message = `The review of the business account ended with ${decision}`;
  const notice: AccountNotice = { type: `REVIEW_${decision}`, severity, message };
  return { events: [{ type: 'number_updated', state: {}, notice, timestamp }], isStale: true };
}

/** Whether a notification of the account concerns another one of its numbers. */
function isOther(displayNumber: string | undefined, { phoneNumber }: Concerned): boolean {
  const digits = displayNumber?.replace(/\D/g, '') ?? '';
  return digits !== '' && phoneNumber !== null && digits !== phoneNumber;
}
