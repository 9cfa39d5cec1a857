import { Type } from 'typebox';
import type { Referral } from '../../connectors/contract/contentParts.ts';
import { OptionalContent, Text } from '../fields.ts';
import { limited, longText, name, url, wholeId } from './limits.ts';
import { definePart } from './part.ts';

const CLICK_CHARACTERS = 1024;

export const referralPart = definePart({
  field: 'referral',
  schema: OptionalContent(
    Type.Object(
      {
        adId: Text("The network's id of the ad or post."),
        url: Text('Page of the ad or post.'),
        headline: Text('Headline of the ad.'),
        body: Text('Text of the ad.'),
        clickId: Text("Id of the click (`ctwa_clid`), for Meta's Conversions API."),
        entryPoint: Text("The network's name of the place that was tapped, such as `ad`, `post` or `ctwa_ad`."),
        mediaUrl: Text('Image or video of the ad. Such a link expires.'),
      },
      { description: 'The ad or post that the sender tapped before writing.' },
    ),
  ),
  limit: (referral: Referral) => {
    const kept = limited(referral, {
      adId: wholeId,
      url,
      headline: name,
      body: longText,
      clickId: wholeClick,
      entryPoint: name,
      mediaUrl: url,
    });
    return Object.keys(kept).length === 0 ? undefined : kept;
  },
  texts: ({ headline, adId }) => [headline, adId],
  show: (referral) => ({ ...referral }),
});

/** A truncated id would be the id of no click. */
const wholeClick = (value: string) => (value !== '' && value.length <= CLICK_CHARACTERS ? value : undefined);
