import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { integer, oneOf, optional, orNull, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';
import type { BusinessSimulation } from '../simulatedActions.ts';

/* The actions of the simulator for business numbers. */

export const businessActions = ['template_review', 'number_update', 'own_message'] as const;

export const businessDescription = [
  '`template_review` (`templateId`, `templateStatus`, `reason`) reviews a template that the session has created.',
  '`number_update` (`quality`, `messagingLimit`, `reason`) changes the judgment of the number; `reason` adds a notice.',
  '`own_message` (`from` or `groupId`, and `message`) sends a text from the phone of the account to that chat.',
];

export const businessInput = {
  templateId: optional(string('Id of the template.', { ...ref('other'), maxLength: 100 })),
  templateStatus: optional(
    oneOf(['approved', 'rejected', 'paused', 'disabled', 'pending'], 'Status of the template after the review.'),
  ),
  quality: optional(oneOf(['high', 'medium', 'low', 'unknown'], 'Quality of the number.')),
  messagingLimit: optional(
    orNull(
      integer('People.', { minimum: 0, maximum: 1_000_000 }),
      'People to whom the business may start to write within 24 hours; null for any number.',
    ),
  ),
};

interface BusinessInput {
  readonly templateId?: string | undefined;
  readonly templateStatus?: string | undefined;
  readonly quality?: 'high' | 'medium' | 'low' | 'unknown' | undefined;
  readonly messagingLimit?: number | null | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** @param needed throws if a field is missing */
export async function toBusinessSimulation(
  action: (typeof businessActions)[number],
  { templateId, templateStatus, quality, messagingLimit, reason, message }: BusinessInput,
  needed: <T>(field: 'templateId' | 'templateStatus' | 'message', value: T | undefined) => T,
  chat: () => Promise<NetworkChat>,
): Promise<BusinessSimulation> {
  switch (action) {
    case 'template_review':
      return {
        action,
        templateId: needed('templateId', templateId),
        status: needed('templateStatus', templateStatus),
        ...(reason !== undefined && { reason }),
      };
    case 'number_update':
      return {
        action,
        state: {
          ...(quality !== undefined && { quality }),
          ...(messagingLimit !== undefined && { messagingLimit, messagingTier: tierOf(messagingLimit) }),
        },
        ...(reason !== undefined && { notice: { type: 'SIMULATED', severity: 'warning', message: reason } }),
      };
    case 'own_message':
      return { action, chat: await chat(), message: needed('message', message) };
  }
}

const tierOf = (limit: number | null) => (limit === null ? 'TIER_UNLIMITED' : `TIER_${limit}`);
