import { Type } from 'typebox';
import type { Order, OrderItem, Product } from '../../connectors/contract/contentParts.ts';
import { Amount, Count, Digits, OptionalContent, Text } from '../fields.ts';
import { count, currency, digits, finite, id, type Limits, limited, longText, name, url } from './limits.ts';
import { definePart } from './part.ts';

const ITEMS = 100;

const Currency = Text('Currency, such as `EUR`.');
const Seller = Type.Optional(Digits('Phone number digits of the seller.'));

export const productPart = definePart({
  field: 'product',
  schema: OptionalContent(
    Type.Object(
      {
        productId: Text("The network's id of the product."),
        retailerId: Text("The seller's own id of the product."),
        catalogId: Text("The network's id of the catalog."),
        title: Text('Name of the product.'),
        description: Text('Description of the product.'),
        price: Amount('Price, in units of the currency.'),
        currency: Currency,
        url: Text('Page of the product.'),
        seller: Seller,
      },
      { description: 'The product that a message shows or is about.' },
    ),
  ),
  limit: (product: Product) =>
    limited(product, {
      productId: id,
      retailerId: id,
      catalogId: id,
      title: name,
      description: longText,
      price: finite,
      currency,
      url,
      seller: digits,
    }),
  texts: ({ title, description, retailerId }) => [title, description, retailerId],
  show: (product) => ({ ...product }),
});

const itemLimits: Limits<OrderItem> = { retailerId: id, quantity: finite, price: finite, currency };

export const orderPart = definePart({
  field: 'order',
  schema: OptionalContent(
    Type.Object(
      {
        orderId: Text("The network's id of the order."),
        catalogId: Text("The network's id of the catalog."),
        title: Text('Title of the order.'),
        itemCount: Count('How many items were ordered.'),
        total: Amount('Total price, in units of the currency.'),
        currency: Currency,
        seller: Seller,
        items: Type.Optional(
          Type.Array(
            Type.Object({
              retailerId: Type.String({ description: "The seller's own id of the product." }),
              quantity: Type.Number({ description: 'How many of it were ordered.' }),
              price: Amount('Price of one, in units of the currency.'),
              currency: Currency,
            }),
            { description: 'The ordered products, if the network tells them.' },
          ),
        ),
      },
      { description: 'Only of messages of the type `order`.' },
    ),
  ),
  limit: (order: Order) =>
    limited(order, {
      orderId: id,
      catalogId: id,
      title: name,
      itemCount: count,
      total: finite,
      currency,
      seller: digits,
      items: (items) => items.slice(0, ITEMS).map((item) => limited(item, itemLimits)),
    }),
  texts: ({ title, items = [] }) => [title, ...items.map(({ retailerId }) => retailerId)],
  show: ({ items, ...order }) => ({
    ...order,
    ...(items !== undefined && { items: items.map((item) => ({ ...item })) }),
  }),
});
