import { Type } from 'typebox';
import type { CatalogProduct } from '../../connectors/contract/account.ts';
import { invalidField } from '../../errors.ts';
import {
  boolean,
  entries,
  integer,
  list,
  named,
  object,
  oneOf,
  optional,
  orNull,
  string,
} from '../../invoke/input/fields.ts';
import { PhoneNumberInput } from '../../invoke/input/phoneNumbers.ts';
import { defineOperation, type SessionContext } from '../../invoke/operation.ts';
import { OptionalSessionId } from '../shared/sessionFields.ts';

const BusinessNumber = PhoneNumberInput('Number of the business; it can be that of the session.');

const reading = {
  owner: { field: 'sessionId' },
  permission: 'contacts:read',
  scope: 'sessionId',
  effect: 'read',
  thirdPartyText: true,
  errors: [
    'not_found',
    'session_required',
    'session_not_connected',
    'not_supported',
    'recipient_not_on_network',
    'network_denied',
    'send_failed',
  ],
} as const;

const businessInput = { phoneNumber: BusinessNumber, sessionId: OptionalSessionId };
const BusinessDigits = string('Phone number digits of the business.');
const text = (description: string) => orNull(Type.String(), `${description}; null if there is none.`);

const BusinessProfile = named('ContactBusinessProfile', {
  description: text('Description'),
  category: text('Category'),
  address: text('Postal address'),
  email: text('Email address'),
  websites: list(Type.String(), 'Websites.'),
  hours: orNull(
    object({
      timeZone: text('Time zone, such as `Europe/Berlin`'),
      days: entries('Days on which it is open.', {
        day: oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], 'Day of the week.'),
        mode: oneOf(
          ['hours', 'always', 'appointment'],
          '`hours`: from `opens` to `closes`; `always`: around the clock; `appointment`: by appointment only.',
        ),
        opens: optional(integer('Minutes after midnight.', { minimum: 0, maximum: 1440 })),
        closes: optional(integer('Minutes after midnight.', { minimum: 0, maximum: 1440 })),
      }),
    }),
    'Opening hours; null if it shows none.',
  ),
});

export const getBusinessProfile = defineOperation({
  id: 'contacts.business_profile',
  route: 'GET /contacts/{phoneNumber}/business-profile',
  ...reading,
  summary: 'Get the business profile of a contact',
  description:
    'Get what a business shows about itself: description, category, address, opening hours and websites. Every call asks the network.',
  input: businessInput,
  output: object({
    phoneNumber: BusinessDigits,
    profile: orNull(BusinessProfile, 'Profile of the business; null if the number is not a business.'),
  }),
  example: { phoneNumber: '491707654321' },
  async run(ctx, input) {
    const { number, business } = await reachBusiness(ctx, input);
    const profile = await business.profile(number);
    if (profile === null) return { phoneNumber: number, profile };
    const { websites, hours, ...rest } = profile;
    return {
      phoneNumber: number,
      profile: {
        ...rest,
        websites: [...websites],
        hours: hours === null ? null : { timeZone: hours.timeZone, days: [...hours.days] },
      },
    };
  },
});

const product = {
  productId: string('Id of the product at the network.'),
  name: string('Name of the product.'),
  description: text('Description'),
  price: text('Price as a decimal number, such as `12.5`'),
  currency: text('Currency of the price (ISO 4217)'),
  retailerId: text("The business's own id of the product"),
  url: text('Page of the product'),
  imageUrl: text('Address of a picture, which expires'),
  hidden: boolean('Whether the business hides the product from customers.'),
};

export const getCatalog = defineOperation({
  id: 'contacts.catalog',
  route: 'GET /contacts/{phoneNumber}/catalog',
  ...reading,
  summary: 'List the products of a business',
  description: 'List the products in the catalog of a business, page by page. Every call asks the network.',
  input: {
    ...businessInput,
    limit: optional(integer('Number of products per page.', { minimum: 1, maximum: 50, default: 10 })),
    cursor: optional(
      string('`nextCursor` of the previous page. Leave it out for the first page.', { maxLength: 4000 }),
    ),
  },
  output: object({
    phoneNumber: BusinessDigits,
    data: entries('Products of this page.', product),
    nextCursor: orNull(Type.String(), 'Pass it as `cursor` to get the next page; null on the last page.'),
  }),
  example: { phoneNumber: '491707654321' },
  async run(ctx, input) {
    const { number, business } = await reachBusiness(ctx, input);
    const after = input.cursor === undefined ? null : networkCursor(input.cursor);
    const { products, next } = await business.catalog(number, input.limit ?? 10, after);
    return {
      phoneNumber: number,
      data: products.map(toProduct),
      nextCursor: next === null ? null : Buffer.from(`${CURSOR}${next}`).toString('base64url'),
    };
  },
});

export const listCollections = defineOperation({
  id: 'contacts.collections',
  route: 'GET /contacts/{phoneNumber}/catalog/collections',
  ...reading,
  summary: 'List the collections of a business',
  description: 'List the collections into which a business sorts its products. Every call asks the network.',
  input: businessInput,
  output: object({
    phoneNumber: BusinessDigits,
    data: entries('Collections.', {
      collectionId: string('Id of the collection at the network.'),
      name: string('Name of the collection.'),
      products: entries('Its products.', product),
    }),
  }),
  example: { phoneNumber: '491707654321' },
  async run(ctx, input) {
    const { number, business } = await reachBusiness(ctx, input);
    const collections = await business.collections(number);
    return {
      phoneNumber: number,
      data: collections.map(({ id, name, products }) => ({
        collectionId: id,
        name,
        products: products.map(toProduct),
      })),
    };
  },
});

async function reachBusiness({ liveSessions, session }: SessionContext, input: { phoneNumber: string }) {
  return { number: input.phoneNumber, business: await liveSessions.part(session, 'business') };
}

const CURSOR = 'catalog~';

/** @throws {AppError} `validation_failed` if it is not a cursor of this list */
function networkCursor(cursor: string): string {
  const content = Buffer.from(cursor, 'base64url').toString();
  if (!content.startsWith(CURSOR) || content.length === CURSOR.length)
    throw invalidField('cursor', 'is not a cursor of this list; pass `nextCursor` of the previous page');
  return content.slice(CURSOR.length);
}

function toProduct({ id, price, isHidden, ...rest }: CatalogProduct) {
  return { productId: id, ...rest, price: price === null ? null : String(price / 1000), hidden: isHidden };
}
