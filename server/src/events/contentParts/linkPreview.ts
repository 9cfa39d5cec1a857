import { Type } from 'typebox';
import type { LinkPreview } from '../../connectors/contract/contentParts.ts';
import { Flag, OptionalContent, Text } from '../fields.ts';
import { limited, linkText, longText, name } from './limits.ts';
import { definePart } from './part.ts';

export const linkPreviewPart = definePart({
  field: 'linkPreview',
  schema: OptionalContent(
    Type.Object({
      url: Type.String({ description: 'The link, as it occurs in the text.' }),
      title: Text('Title of the page.'),
      description: Text('Description of the page.'),
      hasImage: Flag('Present if a small picture goes out with it.'),
    }),
  ),
  limit: (preview: LinkPreview) =>
    limited(preview, { url: linkText, title: name, description: longText, thumbnail: () => undefined }),
  texts: ({ title }) => [title],
  show: ({ thumbnail, ...text }) => ({ ...text, ...(thumbnail !== undefined && { hasImage: true as const }) }),
});
