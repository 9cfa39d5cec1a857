import { Type } from 'typebox';
import type { Choosing } from '../../connectors/contract/contentParts.ts';
import { OptionalContent, Text } from '../fields.ts';
import { limited, longText, name } from './limits.ts';
import { definePart } from './part.ts';

const RESPONSE_CHARACTERS = 16_384;

export const choicePart = definePart({
  field: 'choice',
  schema: OptionalContent(
    Type.Object(
      {
        kind: Type.Enum(['button', 'list', 'template', 'form'], {
          description: 'Kind of the message that the sender answered.',
        }),
        name: Text("The network's name of the form."),
        description: Text('Second line of the chosen row.'),
        response: Text('The answers in the form, as JSON.'),
      },
      { description: 'Present if the message answers buttons, a list, a template or a form.' },
    ),
  ),
  limit: (choice: Choosing) =>
    limited(choice, {
      kind: (kind) => kind,
      name,
      description: longText,
      // Cut JSON would be no JSON.
      response: (text) => (text.length <= RESPONSE_CHARACTERS ? text : undefined),
    }),
  show: (choice) => ({ ...choice }),
});
