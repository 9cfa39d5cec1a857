import { notForAgents, onlyTrue, optional, string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';

/** Filters by the ad that led people to write. */
export const referralFilters = {
  hasReferral: optional({ ...onlyTrue('Only those with a message that came through an ad or post.'), ...notForAgents }),
  adId: optional({
    ...string("Only those with a message that came through this ad or post: the network's id of it.", {
      ...ref('other'),
      minLength: 1,
      maxLength: 200,
    }),
    ...notForAgents,
  }),
};
