import { type Static, type TObject, Type } from 'typebox';
import type { BusinessProfile, CatalogProduct } from '../../connectors/contract/account.ts';
import { invalidField } from '../../errors.ts';
import { boolean, integer, list, oneOf, optional, strictPart, string } from '../../invoke/input/fields.ts';
import { CURRENCY } from '../../invoke/input/patterns.ts';
import { ref } from '../../invoke/input/references.ts';
import type { Context } from '../../invoke/operation.ts';
import { pictureOf } from '../../operations/shared/pictures.ts';
import type { Simulation } from '../simulatedActions.ts';

/* Simulations of groups and accounts. */

export const groupSimulations = [
  'group_join_request',
  'group_join_withdraw',
  'group_picture',
  'group_settings',
  'community_create',
  'business_profile',
] as const;

type GroupAction = (typeof groupSimulations)[number];

export const isGroupSimulation = (action: string): action is GroupAction =>
  groupSimulations.some((one) => one === action);

export const groupSimulationText = [
  '`group_join_request` and `group_join_withdraw` (`groupId`, `from`) ask to join a group, and withdraw that. `group_picture` (`groupId`, `from`, and `mediaId` unless the picture is removed) and `group_settings` (`groupId`, `from`, `settings`) change a group. `community_create` (`from`, `subject`, `phoneNumbers`) creates a community with the session in it.',
  '`business_profile` (`from`, `business`) makes a number a business for this session, with a profile and a catalog.',
] as const;

const shortText = (what: string) => optional(string(what, { minLength: 1, maxLength: 2000 }));

const ProductInput = Type.Object(
  {
    productId: string('Id of the product, unique in the catalog.', { ...ref('other'), minLength: 1, maxLength: 100 }),
    name: string('Name of the product.', { minLength: 1, maxLength: 200 }),
    description: shortText('Description of the product.'),
    price: optional(integer('Price in thousandths of the currency.', { minimum: 0 })),
    currency: optional(string('Currency (ISO 4217).', { pattern: CURRENCY })),
  },
  { additionalProperties: false },
);

export const groupSimulationInput = {
  settings: optional(
    strictPart('Settings of the group that change.', {
      announce: optional(boolean('Only admins can send messages.')),
      locked: optional(boolean('Only admins can change the group.')),
      joinApproval: optional(boolean('Admins approve people who join by link.')),
      memberAdd: optional(oneOf(['admins', 'all'], 'People who can add members.')),
      disappearingSeconds: optional(
        integer('Seconds until messages disappear; 0 turns this off.', { minimum: 0, maximum: 31_536_000 }),
      ),
    }),
  ),
  business: optional(
    strictPart('Profile and catalog of the business.', {
      description: shortText('Description of the business.'),
      category: shortText('Category of the business.'),
      address: shortText('Postal address.'),
      email: shortText('Email address.'),
      websites: optional(list(Type.String({ maxLength: 500 }), 'Websites.', { maxItems: 2 })),
      collections: optional(
        list(
          Type.Object(
            {
              name: string('Name of the collection.', { minLength: 1, maxLength: 100 }),
              products: list(ProductInput, 'Products of the collection.', { maxItems: 100 }),
            },
            { additionalProperties: false },
          ),
          'Collections of the catalog.',
          { maxItems: 20 },
        ),
      ),
    }),
  ),
};

type Input = Static<TObject<typeof groupSimulationInput>> & {
  readonly mediaId?: string;
  readonly subject?: string;
};

/** The parts of a simulation that its operation reads from the input. */
interface Parts {
  readonly from: () => string;
  readonly group: () => Promise<string>;
  readonly phoneNumbers: () => string[];
}

export async function toGroupSimulation(
  ctx: Context<'media'>,
  action: GroupAction,
  { settings, business, mediaId, subject }: Input,
  { from, group, phoneNumbers }: Parts,
): Promise<Simulation> {
  switch (action) {
    case 'group_join_request':
    case 'group_join_withdraw':
      return { action, group: await group(), from: from() };
    case 'group_picture':
      return { action, group: await group(), from: from(), picture: await pictureOf(ctx, mediaId ?? null) };
    case 'group_settings':
      return { action, group: await group(), from: from(), settings: needed(action, 'settings', settings) };
    case 'community_create':
      return { action, from: from(), subject: needed(action, 'subject', subject), phoneNumbers: phoneNumbers() };
    case 'business_profile': {
      const { collections = [], ...profile } = needed(action, 'business', business);
      return {
        action,
        from: from(),
        profile: toProfile(profile),
        collections: collections.map(({ name, products }, index) => ({
          id: String(index + 1),
          name,
          products: products.map(toProduct),
        })),
      };
    }
  }
}

function needed<T>(action: GroupAction, field: string, value: T | undefined): T {
  if (value === undefined) throw invalidField(field, `is required for the action ${action}`, 'required');
  return value;
}

function toProfile(given: Omit<NonNullable<Input['business']>, 'collections'>): BusinessProfile {
  const { description = null, category = null, address = null, email = null, websites = [] } = given;
  return { description, category, address, email, websites, hours: null };
}

function toProduct({ productId, name, description, price, currency }: Static<typeof ProductInput>): CatalogProduct {
  return {
    id: productId,
    name,
    description: description ?? null,
    price: price ?? null,
    currency: currency ?? null,
    retailerId: null,
    url: null,
    imageUrl: null,
    isHidden: false,
  };
}
