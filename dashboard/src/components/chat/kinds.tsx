import type { Message } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { displayName } from '../../model/displayName.ts';
import type { NameOf } from '../../model/names.ts';
import { webLink } from '../../model/webLink.ts';
import { Tag } from '../lamp.tsx';
import { Time } from '../text/time.tsx';
import { kindStrings } from './kindStrings.ts';

/* The parts of messages that networks add to texts, files and places. Only the page of an ad can be opened. */

/** Remarks above the content of a message, such as that its file opens once. */
export function Marks({ message }: { readonly message: Message }) {
  const { viewOnce, animated, mentionsAll, album, location, rawType, awaited } = message;
  const { marks } = kindStrings;
  const shown = [
    viewOnce && marks.viewOnce,
    animated && marks.animated,
    mentionsAll && marks.mentionsAll,
    album && marks.album,
    location?.live && marks.live,
    rawType !== undefined && marks.unsupported(rawType),
    awaited && marks.awaited,
  ].filter((mark) => typeof mark === 'string');
  if (shown.length === 0) return null;
  return <p className="text-xs text-ink-faint italic wrap-anywhere">{shown.join(' · ')}</p>;
}

/** The part of a message below its text. */
export function Kind({ message, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  const { linkPreview, event, product, order, groupInvite, contacts, choice, referral } = message;
  return (
    <>
      {linkPreview !== undefined && (
        <Card title={linkPreview.title}>
          {linkPreview.description !== undefined && <p>{linkPreview.description}</p>}
          <p className="text-ink-faint">{linkPreview.url}</p>
        </Card>
      )}
      {event !== undefined && <EventCard message={message} nameOf={nameOf} />}
      {product !== undefined && (
        <Card title={product.title ?? product.retailerId}>
          {product.price !== undefined && <p className="font-medium">{priceText(product.price, product.currency)}</p>}
          {product.description !== undefined && <p>{product.description}</p>}
          {product.url !== undefined && <p className="text-ink-faint">{product.url}</p>}
        </Card>
      )}
      {order !== undefined && <OrderCard order={order} />}
      {groupInvite !== undefined && (
        <Card title={displayName(groupInvite.subject ?? '') || kindStrings.invite}>
          <p>{kindStrings.invite}</p>
          {groupInvite.expiresAt !== undefined && (
            <p>
              {kindStrings.expires} <Time at={groupInvite.expiresAt} as="minute" />
            </p>
          )}
        </Card>
      )}
      {contacts?.map(({ name, phoneNumbers }) => (
        <Card key={`${name} ${phoneNumbers.join()}`} title={displayName(name)}>
          <p>{phoneNumbers.map(nameOf).join(', ')}</p>
        </Card>
      ))}
      {referral !== undefined && (
        <Card title={referral.headline === undefined ? undefined : displayName(referral.headline)}>
          {referral.body !== undefined && <p>{referral.body}</p>}
          <p>{kindStrings.ad(referral.adId)}</p>
          {referral.url !== undefined && <PageLink url={referral.url} />}
        </Card>
      )}
      {choice !== undefined && (
        <p className="text-xs text-ink-faint">
          {kindStrings.chose[choice.kind]}
          {message.payload !== undefined && (
            <>
              {' '}
              <Tag>{message.payload}</Tag>
            </>
          )}
        </p>
      )}
    </>
  );
}

function Card({ title, children }: { readonly title: string | undefined; readonly children: ReactNode }) {
  return (
    <div className="rounded-lg border border-line-strong px-3 py-1.5 wrap-anywhere">
      {title !== undefined && title !== '' && <p className="font-medium">{title}</p>}
      <div className="grid gap-0.5 text-xs text-ink-soft">{children}</div>
    </div>
  );
}

/** A link as strangers wrote it. The page that it opens learns nothing about the dashboard. */
function PageLink({ url }: { readonly url: string }) {
  const link = webLink(url);
  if (link === undefined) return <p className="text-ink-faint">{url}</p>;
  return (
    <p>
      <a href={link} target="_blank" rel="noopener noreferrer" className="underline">
        {link}
      </a>
    </p>
  );
}

function EventCard({ message, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  const { event, answers = [] } = message;
  if (event === undefined) return null;
  const { startsAt, endsAt, location, description, joinLink, canceled } = event;
  const place = [location?.name, location?.address].filter(Boolean).join(', ');
  return (
    <Card title={canceled ? kindStrings.canceled : undefined}>
      {startsAt !== undefined && (
        <p>
          <Time at={startsAt} as="minute" />
          {endsAt !== undefined && (
            <>
              {' – '}
              <Time at={endsAt} as={isSameDay(startsAt, endsAt) ? 'clockMinute' : 'minute'} />
            </>
          )}
        </p>
      )}
      {place !== '' && <p>{place}</p>}
      {description !== undefined && <p>{description}</p>}
      {joinLink !== undefined && <p className="text-ink-faint">{joinLink}</p>}
      {answers.length > 0 && (
        <ul aria-label={kindStrings.answers}>
          {answers.map(({ from, answer }) => (
            <li key={from}>{kindStrings.answer[answer](nameOf(from))}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** In the time zone of the reader. */
const isSameDay = (one: string, other: string) => new Date(one).toDateString() === new Date(other).toDateString();

function OrderCard({ order }: { readonly order: NonNullable<Message['order']> }) {
  const { title, orderId, itemCount, total, currency, items = [] } = order;
  return (
    <Card title={title ?? orderId ?? kindStrings.order}>
      {items.map(({ retailerId, quantity, price, currency: of }) => (
        <p key={retailerId}>
          {kindStrings.item(quantity, retailerId)}
          {price !== undefined && kindStrings.each(priceText(price, of ?? currency))}
        </p>
      ))}
      {items.length === 0 && itemCount !== undefined && <p>{kindStrings.items(itemCount)}</p>}
      {total !== undefined && <p className="font-medium">{kindStrings.total(priceText(total, currency))}</p>}
    </Card>
  );
}

/** "EUR 4.50". A network may report something that is no currency. */
function priceText(amount: number, currency = ''): string {
  if (!/^[A-Z]{3}$/.test(currency)) return `${amount.toLocaleString('en')} ${currency}`.trim();
  return amount.toLocaleString('en', { style: 'currency', currency, currencyDisplay: 'code' });
}
