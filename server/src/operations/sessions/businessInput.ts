import { type Static, Type } from 'typebox';
import type { BusinessProfileChange } from '../../connectors/contract/business.ts';
import { list, named, optional, orNull, strictPart, string } from '../../invoke/input/fields.ts';
import { HTTP_URL, VERTICAL } from '../../invoke/input/patterns.ts';

/* The input fields of a business profile. */

export const BusinessInput = strictPart(
  'Data of the business that owns the number. An empty text or list removes it.',
  {
    address: optional(string('Postal address.', { maxLength: 256 })),
    description: optional(string('Description of the business.', { maxLength: 512 })),
    email: optional(string('Email address for customers.', { maxLength: 128 })),
    websites: optional(
      list(Type.String({ pattern: HTTP_URL, maxLength: 256 }), 'Up to two http or https URLs.', { maxItems: 2 }),
    ),
    vertical: optional(
      string("The network's name of the trade, such as `RETAIL` or `EDU`.", { pattern: VERTICAL, maxLength: 50 }),
    ),
  },
);

const text = (description: string) => orNull(Type.String(), `${description}; null if there is none.`);

export const BusinessData = named('OwnBusinessProfile', {
  address: text('Postal address'),
  description: text('Description of the business'),
  email: text('Email address for customers'),
  websites: list(Type.String(), 'Websites.'),
  vertical: text("The network's name of the trade, such as `RETAIL`"),
});

export function businessChange(business: Static<typeof BusinessInput>): BusinessProfileChange {
  // The fields are the same, and those that were left out are missing.
  return Object.fromEntries(Object.entries(business).filter(([, value]) => value !== undefined));
}
