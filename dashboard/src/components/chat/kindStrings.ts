import { counted } from '../../strings/format.ts';

/** The kinds of messages that networks add to texts, files and places. */
export const kindStrings = {
  marks: {
    viewOnce: 'Opens once',
    gif: 'GIF',
    videoNote: 'Video note',
    animated: 'Animated',
    mentionsAll: 'Mentions everybody',
    album: 'Part of an album',
    live: 'Live location',
    unsupported: (kind: string) => `Unknown kind: ${kind}`,
    awaited: 'Not decrypted yet',
  },
  chose: {
    button: 'Pressed a button',
    list: 'Chose from a list',
    template: 'Answered a template',
    form: 'Filled in a form',
  },
  ad: (id = '') => (id === '' ? 'Came from an ad' : `Came from an ad: ${id}`),
  canceled: 'Canceled',
  answers: 'Answers',
  answer: {
    going: (name: string) => `${name} comes`,
    not_going: (name: string) => `${name} does not come`,
    maybe: (name: string) => `${name} may come`,
  },
  order: 'Order',
  item: (quantity: number, name: string) => `${quantity.toLocaleString('en')} × ${name}`,
  each: (price: string) => `, ${price} each`,
  total: (price: string) => `Total ${price}`,
  items: (count: number) => counted(count, 'item'),
  invite: 'Group invite',
  expires: 'Expires',
} as const;
