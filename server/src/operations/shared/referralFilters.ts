import { notForAgents, onlyTrue, optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';

const adId = (description: string) =>
  optional({ ...string(description, { ...ref('other'), minLength: 1, maxLength: 200 }), ...notForAgents });

/** Filters messages by the ad that led people to write. */
export const messageReferralFilters = {
  hasReferral: optional({
    ...onlyTrue('Only messages that came through an ad or post, including deleted ones.'),
    ...notForAgents,
  }),
  adId: adId(
    "Only messages that came through this ad or post: the network's id of it. Deleted messages are listed without their `referral`.",
  ),
};

/** Filters chats by the ads that led people to them. */
export const chatReferralFilters = {
  hasReferral: optional({
    ...onlyTrue('Only chats that people opened or wrote in through an ad or post, even if the messages are deleted.'),
    ...notForAgents,
  }),
  adId: adId("Only chats that people opened or wrote in through this ad or post: the network's id of it."),
};
