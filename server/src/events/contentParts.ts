import { type TSchema, Type } from 'typebox';

/* The schemas of the parts of `connectors/contract/contentParts.ts`, as events and the API show them. */

const messageContent = { 'x-message-content': true } as const;
const Content = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, ...messageContent });
const Flag = (description: string) => Type.Optional(Type.Literal(true, { description }));
const Text = (description: string) => Type.Optional(Type.String({ description }));
const Amount = (description: string) => Type.Optional(Type.Number({ description }));
const Moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const Count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

const Digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description });

/** The moving position of a location. */
export const LivePart = Type.Optional(
  Type.Object(
    {
      accuracyInMeters: Amount('How exact the position is.'),
      metersPerSecond: Amount('Speed of the sender.'),
      heading: Amount('Direction of the movement, in degrees clockwise from north.'),
      sequence: Count('Grows with every position of this message.'),
    },
    { description: 'Present if the sender shares a position that moves. A later position replaces it in the message.' },
  ),
);

export const contentPartSchemas = {
  linkPreview: Content(
    Type.Object({
      url: Type.String({ description: 'The link, as it occurs in the text.' }),
      title: Text('Title of the page.'),
      description: Text('Description of the page.'),
      hasImage: Flag('Present if a small picture goes out with it.'),
    }),
  ),
  viewOnce: Flag('Present if the file can be opened only once.'),
  gif: Flag('Present if the video plays like a GIF: in a loop, without sound.'),
  videoNote: Flag('Present if the video is a round video note.'),
  animated: Flag('Present if the sticker is animated.'),
  mentionsAll: Flag('Present if everybody in the group is mentioned.'),
  album: Type.Optional(
    Type.Object({
      albumId: Type.String({ description: 'The same for all files of the album.' }),
      images: Count('How many images the album has, if it is known.'),
      videos: Count('How many videos the album has, if it is known.'),
    }),
  ),
  contacts: Content(
    Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name on the contact card.' }),
        phoneNumbers: Type.Array(Digits('Phone number digits of the contact.')),
      }),
      { description: 'All cards of a message with several. `contact` then has the numbers of all of them.' },
    ),
  ),
  event: Content(
    Type.Object(
      {
        description: Text('Description of the event.'),
        startsAt: Moment('When it begins.'),
        endsAt: Moment('When it ends.'),
        location: Type.Optional(
          Type.Object({
            latitude: Amount('Degrees north (WGS 84).'),
            longitude: Amount('Degrees east (WGS 84).'),
            name: Text('Name of the place.'),
            address: Text('Postal address of the place.'),
          }),
        ),
        joinLink: Text('Link to its call.'),
        canceled: Flag('Present if it was canceled.'),
        extraGuests: Flag('Present if guests can bring others.'),
      },
      { description: 'Only of messages of the type `event`. The name is in `message`.' },
    ),
  ),
  product: Content(
    Type.Object(
      {
        productId: Text("The network's id of the product."),
        retailerId: Text("The seller's own id of the product."),
        catalogId: Text("The network's id of the catalog."),
        title: Text('Name of the product.'),
        description: Text('Description of the product.'),
        price: Amount('Price, in units of the currency.'),
        currency: Text('Currency, such as `EUR`.'),
        url: Text('Page of the product.'),
        seller: Type.Optional(Digits('Phone number digits of the seller.')),
      },
      { description: 'The product that a message shows or is about.' },
    ),
  ),
  order: Content(
    Type.Object(
      {
        orderId: Text("The network's id of the order."),
        catalogId: Text("The network's id of the catalog."),
        title: Text('Title of the order.'),
        itemCount: Count('How many items were ordered.'),
        total: Amount('Total price, in units of the currency.'),
        currency: Text('Currency, such as `EUR`.'),
        seller: Type.Optional(Digits('Phone number digits of the seller.')),
        items: Type.Optional(
          Type.Array(
            Type.Object({
              retailerId: Type.String({ description: "The seller's own id of the product." }),
              quantity: Type.Number({ description: 'How many of it were ordered.' }),
              price: Amount('Price of one, in units of the currency.'),
              currency: Text('Currency, such as `EUR`.'),
            }),
            { description: 'The ordered products, if the network tells them.' },
          ),
        ),
      },
      { description: 'Only of messages of the type `order`.' },
    ),
  ),
  groupInvite: Content(
    Type.Object(
      {
        networkGroupId: Type.String({ description: 'Address of the group at the network.' }),
        subject: Text('Name of the group.'),
        code: Type.String({ description: 'Code of the invite, which is only for the recipient.' }),
        expiresAt: Moment('When the invite expires.'),
      },
      { description: 'Only of messages of the type `group_invite`.' },
    ),
  ),
  choice: Content(
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
  rawType: Type.Optional(
    Type.String({
      description: "The network's name of this kind of message. Only of messages of the type `unsupported`.",
    }),
  ),
};
