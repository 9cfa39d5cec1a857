import { ApiError } from './businessNodes.ts';

// biome-ignore lint/suspicious/noExplicitAny: a request can contain anything
type Anything = any;

/** The catalog that is connected to the business account. Only one can be. */
export class FakeCatalog {
  readonly id = '194836987003835';
  readonly #products = new Set<string>();
  #isShown = true;

  add(...retailerIds: readonly string[]): void {
    for (const one of retailerIds) this.#products.add(one);
  }

  /** Hides it in the commerce settings of the number, as they are after its registration. */
  hide(): void {
    this.#isShown = false;
  }

  /**
   * "If none of the items matches a product from your product catalog, an error message is sent. Items without a match
   * are dropped":
   * https://developers.facebook.com/documentation/business-messaging/whatsapp/catalogs/sell-products-and-services/share-products
   *
   * Clients report 131009 with these details for an unknown product, for products of a catalog that is not connected,
   * and with others for a number that hides its catalog: docs/portfolio/TECHNICAL_DEEP_DIVE.md of
   * amitkssolanki/whatsapp-integration. It does not quote the details for a hidden catalog, so the text is ours.
   */
  requireProducts(retailerIds: readonly unknown[], catalogId: unknown = this.id): void {
    if (!this.#isShown) refuse('The catalog is disabled in the commerce settings of the number');
    if (catalogId !== this.id || !retailerIds.some((one) => this.#products.has(String(one))))
      refuse('Products not found in FB Catalog');
  }
}

/**
 * The types of interactive messages, with the name of their action:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/interactive-reply-buttons-messages
 * and its neighbors, .../business-scoped-user-ids, .../calling/user-call-permissions and .../catalogs/catalog-messages
 */
const actions: Readonly<Record<string, string | undefined>> = {
  button: undefined,
  list: undefined,
  cta_url: 'cta_url',
  request_contact_info: 'request_contact_info',
  call_permission_request: 'call_permission_request',
  product: undefined,
  product_list: undefined,
  catalog_message: 'catalog_message',
};

/**
 * Validates as the interactive object is documented: "Header: required for type product_list. You cannot set a header
 * if your interactive object is of product type. Body: optional for type product, required for other message types,
 * maximum 1024 characters. Footer: maximum 60 characters."
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/reference/whatsapp-business-phone-number/message-api,
 * as https://developer.cequens.com/reference/sending-product-message repeats it.
 */
export function requireInteractive({ type, header, body, footer, action }: Anything, catalog: FakeCatalog): void {
  if (!Object.hasOwn(actions, type) || action?.name !== actions[type]) invalid('interactive');
  requireText('body', body?.text, 1024, type === 'product' && body === undefined);
  requireText('footer', footer?.text, 60, footer === undefined);
  if (header?.type === 'text') requireText('header', header.text, 60);
  switch (type) {
    case 'product':
      if (header !== undefined) invalid('header');
      catalog.requireProducts([action.product_retailer_id], action.catalog_id ?? null);
      break;
    case 'product_list':
      if (header?.type !== 'text') invalid('header');
      requireSections(action.sections);
      catalog.requireProducts(productsIn(action.sections), action.catalog_id ?? null);
      break;
    case 'catalog_message': {
      if (header !== undefined) invalid('header');
      // The page about sharing products calls it optional. Meta refuses the message without it:
      // spec/fixtures/meta/v1/graph_error_131009.json of amitkssolanki/whatsapp-integration is its response.
      const { thumbnail_product_retailer_id: thumbnail } = action.parameters ?? {};
      if (thumbnail === undefined) refuse("action['parameters'] cannot be empty.");
      catalog.requireProducts([thumbnail]);
      break;
    }
  }
}

/**
 * "Array of section objects. Minimum of 1, maximum of 10. There is a minimum of 1 product per section and a maximum of
 * 30 products across all sections. Title: required if the message has more than one section, maximum 24 characters."
 * https://whatsapp.github.io/WhatsApp-Nodejs-SDK/api-reference/types/ActionObject and
 * https://socket.dev/npm/package/whatsapp-business/diff/1.5.1 repeat it.
 */
function requireSections(sections: Anything): void {
  if (!Array.isArray(sections) || sections.length < 1 || sections.length > 10) invalid('sections');
  for (const { title, product_items: items } of sections) {
    requireText('section title', title, 24, sections.length === 1 && title === undefined);
    if (!Array.isArray(items) || items.length < 1) invalid('product_items');
  }
  if (productsIn(sections).length > 30) invalid('product_items');
}

const productsIn = (sections: Anything): readonly unknown[] =>
  sections.flatMap(({ product_items: items }: Anything) =>
    items.map(({ product_retailer_id: retailerId }: Anything) => retailerId),
  );

function requireText(name: string, text: unknown, longest: number, isOptional = false): void {
  if (text === undefined && isOptional) return;
  if (typeof text !== 'string' || text === '' || text.length > longest) invalid(name);
}

function invalid(name: string): never {
  refuse(`Parameter value is not valid: ${name}`);
}

function refuse(details: string): never {
  throw new ApiError(400, 131_009, details);
}
