import { Type } from 'typebox';

/* Options of a session on every network that has the feature. */

export const callsOption = Type.Optional(
  Type.Object(
    {
      autoReject: Type.Optional(Type.Boolean({ description: 'Reject every call to the session. Default: false.' })),
      message: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1000,
          description: 'Text for the caller, at most once per hour and person. Not for group calls.',
        }),
      ),
    },
    { additionalProperties: false, description: 'How the session answers calls. Takes effect at once.' },
  ),
);

export const statusesOption = Type.Optional(
  Type.Boolean({
    description:
      'Receive the statuses (stories) that contacts post, with their files, and keep them for 24 hours. Default: false.',
  }),
);

export const channelsOption = Type.Optional(
  Type.Boolean({ description: 'Receive the posts of followed channels, with their files. Default: false.' }),
);
