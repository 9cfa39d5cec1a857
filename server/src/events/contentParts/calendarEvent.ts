import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import type { EventDetails, EventPlace } from '../../connectors/contract/contentParts.ts';
import { Amount, Flag, Moment, OptionalContent, Text } from '../fields.ts';
import { characters, degrees, flag, type Limits, limited, longText, moment, name, url } from './limits.ts';
import { definePart } from './part.ts';

const placeLimits: Limits<EventPlace> = {
  latitude: degrees(90),
  longitude: degrees(180),
  name,
  address: characters(500),
};

export const eventPart = definePart({
  field: 'event',
  schema: OptionalContent(
    Type.Object(
      {
        description: Text('Description of the event.'),
        startsAt: Moment('When it begins.'),
        endsAt: Moment('When it ends.'),
        location: Type.Optional(
          Type.Object({
            latitude: Amount('Degrees north (WGS 84).'),
            longitude: Amount('Degrees east (WGS 84).'),
            name: Text('Name of the place.'),
            address: Text('Postal address of the place.'),
          }),
        ),
        joinLink: Text('Link to its call.'),
        canceled: Flag('Present if it was canceled.'),
        extraGuests: Flag('Present if guests can bring others.'),
      },
      { description: 'Only of messages of the type `event`. The name is in `message`.' },
    ),
  ),
  limit: (event: EventDetails) =>
    limited(event, {
      description: longText,
      startsAt: moment,
      endsAt: moment,
      location: (place) => limited(place, placeLimits),
      joinLink: url,
      isCanceled: flag,
      allowsExtraGuests: flag,
    }),
  texts: ({ description, location }) => [description, location?.name, location?.address],
  show: ({ startsAt, endsAt, location, isCanceled, allowsExtraGuests, ...rest }) => ({
    ...rest,
    ...(startsAt !== undefined && { startsAt: isoTime(startsAt) }),
    ...(endsAt !== undefined && { endsAt: isoTime(endsAt) }),
    ...(location !== undefined && { location: { ...location } }),
    ...(isCanceled === true && { canceled: true as const }),
    ...(allowsExtraGuests === true && { extraGuests: true as const }),
  }),
});
