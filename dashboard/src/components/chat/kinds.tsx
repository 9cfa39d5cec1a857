import type { Message } from '@switchboard/sdk/api';
import type { ReactNode } from 'react';
import { displayName } from '../../model/displayName.ts';
import type { NameOf } from '../../model/names.ts';
import { kindStrings } from '../../strings/messageKinds.ts';
import { Tag } from '../lamp.tsx';
import { Time } from '../time.tsx';

/* The parts of messages that networks add to texts, files and places. Links in them cannot be followed. */

/** Remarks above the content of a message, such as that its file opens once. */
export function Marks({ message }: { readonly message: Message }) {
  const { viewOnce, gif, videoNote, animated, mentionsAll, album, location, rawType } = message;
  const { marks } = kindStrings;
  const shown = [
    viewOnce && marks.viewOnce,
    gif && marks.gif,
    videoNote && marks.videoNote,
    animated && marks.animated,
    mentionsAll && marks.mentionsAll,
    album && marks.album,
    location?.live && marks.live,
    rawType !== undefined && marks.unsupported(rawType),
  ].filter((mark) => typeof mark === 'string');
  if (shown.length === 0) return null;
  return <p className="text-xs text-ink-faint italic wrap-anywhere">{shown.join(' · ')}</p>;
}

/** The part of a message below its text. */
export function Kind({ message, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  const { linkPreview, event, product, order, groupInvite, contacts, choice } = message;
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
          <Price amount={product.price} currency={product.currency} />
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
              {kindStrings.expires} <Time at={groupInvite.expiresAt} />
            </p>
          )}
        </Card>
      )}
      {contacts?.map(({ name, phoneNumbers }) => (
        <Card key={`${name} ${phoneNumbers.join()}`} title={displayName(name)}>
          <p>{phoneNumbers.map(nameOf).join(', ')}</p>
        </Card>
      ))}
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

function EventCard({ message, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  const { event, answers = [] } = message;
  if (event === undefined) return null;
  const { startsAt, endsAt, location, description, joinLink, canceled } = event;
  const place = [location?.name, location?.address].filter(Boolean).join(', ');
  return (
    <Card title={canceled ? kindStrings.canceled : undefined}>
      {startsAt !== undefined && (
        <p>
          <Time at={startsAt} />
          {endsAt !== undefined && (
            <>
              {' – '}
              <Time at={endsAt} />
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

function OrderCard({ order }: { readonly order: NonNullable<Message['order']> }) {
  const { title, orderId, itemCount, total, currency, items = [] } = order;
  return (
    <Card title={title ?? orderId ?? kindStrings.order}>
      {items.map(({ retailerId, quantity, price, currency: of }) => (
        <p key={retailerId}>
          {kindStrings.item(quantity, retailerId)} <Price amount={price} currency={of} />
        </p>
      ))}
      {items.length === 0 && itemCount !== undefined && <p>{kindStrings.items(itemCount)}</p>}
      <Price amount={total} currency={currency} />
    </Card>
  );
}

function Price({
  amount,
  currency = '',
}: {
  readonly amount: number | undefined;
  readonly currency?: string | undefined;
}) {
  if (amount === undefined) return null;
  return <span className="tabular-nums">{`${amount.toLocaleString('en')} ${currency}`.trim()}</span>;
}
