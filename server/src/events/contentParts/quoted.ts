import { Type } from 'typebox';
import { allMessageTypes } from '../../connectors/contract/content.ts';
import type { Quoted } from '../../connectors/contract/contentParts.ts';
import { Flag, OptionalContent, Text } from '../fields.ts';
import { digits, flag, limited, longText, wholeId } from './limits.ts';
import { definePart } from './part.ts';

export const quotedFields = {
  messageId: Text('Id of the quoted message (`msg_…`), if the session has it.'),
  statusId: Text('Id of the quoted status (`sts_…`), if the session has it.'),
  networkId: Text('Id of the quoted message on the network.'),
  from: Text('Phone number digits of its sender, or a placeholder of a person who hides the number.'),
  type: Type.Optional(
    Type.Enum(allMessageTypes, { description: 'Type of the quoted message, if the network reports it.' }),
  ),
  text: Text('Beginning of its text, caption or question, as the reply quotes it.'),
  isStatus: Flag('Present if the message replies to a status.'),
};

export const quotedPart = definePart({
  field: 'quoted',
  schema: OptionalContent(
    Type.Object(quotedFields, {
      description:
        'The message that this message replies to, as the reply describes it, even if the session does not have it.',
    }),
  ),
  limit: (quoted: Quoted) => {
    const kept = limited(quoted, {
      messageId: wholeId,
      statusId: wholeId,
      networkId: wholeId,
      from: digits,
      type: (type) => (allMessageTypes.includes(type) ? type : undefined),
      text: longText,
      isStatus: flag,
    });
    return kept.networkId === undefined ? undefined : kept;
  },
  show: ({ isStatus, ...quoted }) => ({ ...quoted, ...(isStatus === true && { isStatus }) }),
});
