import type { MessageContent } from '../../contract/content.ts';
import type { Order, Referral } from '../../contract/contentParts.ts';

/* Parts of Meta's messages with fields, in the form of the interface. */

interface ReceivedOrder {
  readonly catalog_id?: string | undefined;
  readonly text?: string | undefined;
  readonly product_items: readonly {
    readonly product_retailer_id: string;
    readonly quantity: number | string;
    readonly item_price?: number | string | undefined;
    readonly currency?: string | undefined;
  }[];
}

export function orderOf({ catalog_id: catalogId, product_items: products }: ReceivedOrder): Order {
  const items = products.map(({ product_retailer_id: retailerId, quantity, item_price: price, currency }) => ({
    retailerId,
    quantity: Number(quantity),
    ...(price !== undefined && { price: Number(price) }),
    ...(currency !== undefined && { currency }),
  }));
  const currencies = new Set(items.map(({ currency }) => currency));
  const [currency] = currencies;
  const isPriced = currencies.size === 1 && currency !== undefined && items.every(({ price }) => price !== undefined);
  const total = items.reduce((sum, { quantity, price = 0 }) => sum + quantity * price, 0);
  return {
    ...(catalogId && { catalogId }),
    itemCount: items.length,
    // Cents, because sums of fractions are not exact.
    ...(isPriced && { total: Math.round(total * 100) / 100, currency }),
    items,
  };
}

interface Replies {
  readonly button?: object | undefined;
  readonly interactive?:
    | {
        readonly button_reply?: object | undefined;
        readonly list_reply?: { readonly description?: string | undefined } | undefined;
        readonly nfm_reply?:
          | { readonly name?: string | undefined; readonly response_json?: string | undefined }
          | undefined;
      }
    | undefined;
}

/** The kind of choice that a message is: of buttons, a list, a template or a form. */
export function choiceOf({ button, interactive }: Replies): Pick<MessageContent, 'choice'> {
  if (button !== undefined) return { choice: { kind: 'template' } };
  const { button_reply: pressed, list_reply: row, nfm_reply: form } = interactive ?? {};
  if (pressed !== undefined) return { choice: { kind: 'button' } };
  if (row !== undefined) return { choice: { kind: 'list', ...(row.description && { description: row.description }) } };
  if (form === undefined) return {};
  const { name, response_json: response } = form;
  return { choice: { kind: 'form', ...(name && { name }), ...(response && { response }) } };
}

interface Context {
  readonly referred_product?:
    | { readonly catalog_id?: string | undefined; readonly product_retailer_id?: string | undefined }
    | undefined;
}

/** The product that a message asks about. */
export function productOf(context: Context | undefined): Pick<MessageContent, 'product'> {
  const { catalog_id: catalogId, product_retailer_id: retailerId } = context?.referred_product ?? {};
  if (!catalogId && !retailerId) return {};
  return { product: { ...(catalogId && { catalogId }), ...(retailerId && { retailerId }) } };
}

interface ReceivedReferral {
  readonly source_url?: string | undefined;
  readonly source_id?: string | undefined;
  readonly source_type?: string | undefined;
  readonly headline?: string | undefined;
  readonly body?: string | undefined;
  readonly image_url?: string | undefined;
  readonly video_url?: string | undefined;
  readonly thumbnail_url?: string | undefined;
  readonly ctwa_clid?: string | undefined;
}

/** The ad or post before a message. Ads in statuses have no click id. */
export function referralOf(received: ReceivedReferral | undefined): Pick<MessageContent, 'referral'> {
  if (received === undefined) return {};
  const { source_id: adId, source_url: url, headline, body, ctwa_clid: clickId, source_type: entryPoint } = received;
  const mediaUrl = received.image_url ?? received.video_url ?? received.thumbnail_url;
  const referral: Referral = {
    ...(adId && { adId }),
    ...(url && { url }),
    ...(headline && { headline }),
    ...(body && { body }),
    ...(clickId && { clickId }),
    ...(entryPoint && { entryPoint }),
    ...(mediaUrl && { mediaUrl }),
  };
  return Object.keys(referral).length === 0 ? {} : { referral };
}
