import { Type } from 'typebox';
import type { LivePosition } from '../../connectors/contract/contentParts.ts';
import { Amount, Count } from '../fields.ts';
import { count, finite, limited } from './limits.ts';

/** The moving position in a location. */
export const LivePart = Type.Optional(
  Type.Object(
    {
      accuracyInMeters: Amount('How exact the position is.'),
      metersPerSecond: Amount('Speed of the sender.'),
      heading: Amount('Direction of the movement, in degrees clockwise from north.'),
      sequence: Count('Grows with every position of this message.'),
    },
    { description: 'Present if the sender shares a position that moves. A later position replaces it in the message.' },
  ),
);

export const liveWithinLimits = (live: LivePosition): LivePosition =>
  limited(live, { accuracyInMeters: finite, metersPerSecond: finite, heading: finite, sequence: count });
