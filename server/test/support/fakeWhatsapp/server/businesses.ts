import type { BinaryNode } from 'baileys';
import { childOf, firstChild, stanza, textOf } from '../stanza.ts';
import { type Account, findAccount } from './account.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

/** A product in the catalog of a business. */
export interface FakeProduct {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** In thousandths. */
  readonly price?: number;
  readonly currency?: string;
  /** The name of its collection. */
  readonly collection?: string;
}

/** The profile of a business. */
export function answerBusinessQuery({ network, ask }: Query): Answer {
  const asked = ask && firstChild(ask);
  const account = findAccount(network, asked?.attrs['jid']);
  if (account?.profile.business === undefined) return [stanza('business_profile', {}, [])];
  return [stanza('business_profile', {}, [businessStanza(account)])];
}

/** A day's opening hours are `9:00-17:00`, `always` or `appointment`, in a field such as `mon`. */
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function businessStanza({ numberJid, profile }: Account): BinaryNode {
  const { category, timezone, ...fields } = profile.business ?? {};
  const lines = Object.entries(fields).filter(([name]) => !DAYS.includes(name));
  const days = Object.entries(fields).filter(([name]) => DAYS.includes(name));
  return stanza('profile', { jid: numberJid }, [
    ...lines.map(([name, value]) => stanza(name, {}, Buffer.from(value))),
    ...(category === undefined
      ? []
      : [stanza('categories', {}, [stanza('category', { id: '1' }, Buffer.from(category))])]),
    ...(days.length === 0 ? [] : [stanza('business_hours', { timezone }, days.map(dayStanza))]),
  ]);
}

function dayStanza([day, hours]: [string, string]): BinaryNode {
  if (hours === 'always') return stanza('business_hours_config', { day_of_week: day, mode: 'open_24h' });
  if (hours === 'appointment') return stanza('business_hours_config', { day_of_week: day, mode: 'appointment_only' });
  const [opens, closes] = hours.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    return String(hour * 60 + minute);
  });
  return stanza('business_hours_config', {
    day_of_week: day,
    mode: 'specific_hours',
    open_time: opens,
    close_time: closes,
  });
}

/** A page of products, or the collections. */
export function answerCatalogQuery({ network, ask }: Query): Answer {
  if (ask === undefined) throw new QueryError(400, 'bad-request');
  const account = findAccount(network, ask.attrs['jid'] ?? ask.attrs['biz_jid']);
  const { catalog } = account?.profile ?? {};
  if (catalog === undefined) throw new QueryError(404, 'item-not-found');
  if (ask.tag === 'collections') return [stanza('collections', {}, collectionStanzas(catalog))];
  const limit = Number(textOf(childOf(ask, 'limit')) ?? 10);
  const after = textOf(childOf(ask, 'after'));
  const start = after === undefined ? 0 : catalog.findIndex(({ id }) => cursorOf(id) === after) + 1;
  const page = catalog.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + limit < catalog.length;
  return [
    stanza('product_catalog', {}, [
      ...page.map(productStanza),
      ...(hasMore ? [stanza('paging', {}, [stanza('after', {}, Buffer.from(cursorOf(last.id)))])] : []),
    ]),
  ];
}

const cursorOf = (id: string) => `after-${id}`;

function collectionStanzas(catalog: readonly FakeProduct[]): BinaryNode[] {
  const named = catalog.filter(({ collection }) => collection !== undefined);
  return [...Map.groupBy(named, ({ collection }) => collection ?? '')].map(([name, products], index) =>
    stanza('collection', {}, [
      stanza('id', {}, Buffer.from(String(index + 1))),
      stanza('name', {}, Buffer.from(name)),
      ...products.map(productStanza),
    ]),
  );
}

function productStanza({ id, name, description, price, currency }: FakeProduct): BinaryNode {
  const fields = { id, name, description, price: price?.toString(), currency };
  return stanza('product', { is_hidden: 'false' }, [
    ...Object.entries(fields).flatMap(([tag, value]) =>
      value === undefined ? [] : [stanza(tag, {}, Buffer.from(value))],
    ),
    stanza('media', {}, [
      stanza('image', {}, [
        stanza('request_image_url', {}, Buffer.from(`https://media.example/${id}/small`)),
        stanza('original_image_url', {}, Buffer.from(`https://media.example/${id}`)),
      ]),
    ]),
    stanza('status_info', {}, [stanza('status', {}, Buffer.from('APPROVED'))]),
  ]);
}
