import type { proto } from 'baileys';
import type { Interactive, MessageContent } from '../../contract/content.ts';
import type { Choosing, EventDetails, EventPlace, Order, Product } from '../../contract/contentParts.ts';

/* Messages with fields: events, products, orders, invites, buttons and lists, in the form of the interface. */

type Field<T> = T | null | undefined;
type Content = Omit<MessageContent, 'media' | 'mentions'>;
/** Numbers of 64 bits are objects. */
type Long = Field<number | { toNumber(): number }>;

const BUTTONS = 20;
const ROWS = 100;
const TEXT_CHARACTERS = 1024;

/** Leaves out the fields without a value. */
function given<T extends object>(fields: { readonly [K in keyof T]: Field<T[K]> }): T {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(entries) as T;
}

const numberOf = (value: Long): number | undefined =>
  value === undefined || value === null ? undefined : Number(value);
/** Undefined for 0, which the protocol has where there is no value. */
const positive = (value: Long): number | undefined => numberOf(value) || undefined;
const msOf = (seconds: Long): number | undefined => {
  const value = positive(seconds);
  return value === undefined ? undefined : value * 1000;
};
const amountOf = (thousandths: Long): number | undefined => {
  const value = numberOf(thousandths);
  return value === undefined ? undefined : value / 1000;
};
const digitsOf = (jid: Field<string>): string | undefined => /^(\d+)(?::\d+)?@s\.whatsapp\.net$/.exec(jid ?? '')?.[1];

export function eventContent(m: Field<proto.Message.IEventMessage>): Content {
  const event = given<EventDetails>({
    description: m?.description,
    startsAt: msOf(m?.startTime),
    endsAt: msOf(m?.endTime),
    location: m?.location ? placeOf(m.location) : undefined,
    joinLink: m?.joinLink,
    isCanceled: m?.isCanceled || undefined,
    allowsExtraGuests: m?.extraGuestsAllowed || undefined,
  });
  return { type: 'event', text: m?.name ?? '', event };
}

function placeOf({ degreesLatitude, degreesLongitude, name, address }: proto.Message.ILocationMessage): EventPlace {
  const isPlace = Boolean(degreesLatitude) || Boolean(degreesLongitude); // 0, 0 is a place without coordinates
  return given<EventPlace>({
    latitude: isPlace ? degreesLatitude : undefined,
    longitude: isPlace ? degreesLongitude : undefined,
    name,
    address,
  });
}

export function productContent(m: Field<proto.Message.IProductMessage>): Content {
  const { product, catalog, body, businessOwnerJid } = m ?? {};
  const shown = given<Product>({
    productId: product?.productId,
    retailerId: product?.retailerId,
    title: product?.title ?? catalog?.title,
    description: product?.description ?? catalog?.description,
    price: product ? amountOf(product.salePriceAmount1000 ?? product.priceAmount1000) : undefined,
    currency: product?.currencyCode,
    url: product?.url,
    seller: digitsOf(businessOwnerJid),
  });
  return { type: 'product', text: body || shown.title || '', product: shown };
}

export function orderContent(m: Field<proto.Message.IOrderMessage>): Content {
  const order = given<Order>({
    orderId: m?.orderId,
    title: m?.orderTitle,
    itemCount: m?.itemCount,
    total: amountOf(m?.totalAmount1000),
    currency: m?.totalCurrencyCode,
    seller: digitsOf(m?.sellerJid),
  });
  return { type: 'order', text: m?.message || m?.orderTitle || '', order };
}

export function inviteContent(m: Field<proto.Message.IGroupInviteMessage>): Content {
  const text = m?.caption || m?.groupName || '';
  if (!m?.groupJid || !m.inviteCode) return { type: 'text', text };
  const { groupJid: networkId, inviteCode: code, groupName, inviteExpiration } = m;
  const expiresAt = msOf(inviteExpiration);
  return {
    type: 'group_invite',
    text,
    groupInvite: { networkId, code, ...(groupName && { subject: groupName }), ...(expiresAt && { expiresAt }) },
  };
}

/** An answer to buttons, a list, a template or a form. */
export function choiceContent(label: Field<string>, payload: Field<string>, choice: Choosing): Content {
  return { type: 'text', text: label ?? '', choice, ...(payload && { payload }) };
}

/** The answer to buttons of the newer kind, or to a form: its fields are JSON, with the id of the choice. */
export function formContent(m: Field<proto.Message.IInteractiveResponseMessage>): Content {
  const { name, paramsJson } = m?.nativeFlowResponseMessage ?? {};
  const { id } = fieldsOf(paramsJson);
  return choiceContent(m?.body?.text, typeof id === 'string' ? id : undefined, {
    kind: 'form',
    ...(name && { name }),
    ...(paramsJson && { response: paramsJson }),
  });
}

export function buttonsContent(m: Field<proto.Message.IButtonsMessage>): Content {
  const buttons = m?.buttons?.map(({ buttonId, buttonText }) => choiceOf(buttonId, buttonText?.displayText)) ?? [];
  return interactive(m?.contentText, { header: m?.text, footer: m?.footerText, buttons });
}

export function listContent(m: Field<proto.Message.IListMessage>): Content {
  const rows = (m?.sections ?? []).flatMap(({ title: section, rows: entries }) =>
    (entries ?? []).map(({ rowId, title, description }) => ({
      ...choiceOf(rowId, title),
      ...(description && { description: short(description) }),
      ...(section && { section: short(section) }),
    })),
  );
  const list = { title: short(m?.buttonText), rows: rows.slice(0, ROWS) };
  return interactive(m?.description, { header: m?.title, footer: m?.footerText, list });
}

export function templateContent(m: Field<proto.Message.ITemplateMessage>): Content {
  const template = m?.hydratedTemplate ?? m?.hydratedFourRowTemplate;
  if (!template && m?.interactiveMessageTemplate) return flowContent(m.interactiveMessageTemplate);
  const shown = (template?.hydratedButtons ?? []).map(({ quickReplyButton: reply, urlButton, callButton }) => ({
    ...choiceOf(reply?.id, reply?.displayText ?? urlButton?.displayText ?? callButton?.displayText),
    url: urlButton?.url,
  }));
  return interactive(template?.hydratedContentText, {
    header: template?.hydratedTitleText,
    footer: template?.hydratedFooterText,
    ...linkOrButtons(shown),
  });
}

export function flowContent(m: Field<proto.Message.IInteractiveMessage>): Content {
  const buttons = (m?.nativeFlowMessage?.buttons ?? []).map(({ name, buttonParamsJson }) => {
    const { id, display_text: title, url } = fieldsOf(buttonParamsJson);
    return { ...choiceOf(textOf(id) ?? name, textOf(title) ?? name), url: textOf(url) };
  });
  const around = { header: m?.header?.title, footer: m?.footer?.text };
  return interactive(m?.body?.text, { ...around, ...linkOrButtons(buttons) });
}

type Shown = { readonly id: string; readonly title: string; readonly url?: Field<string> };

/** One button that opens a URL is a link, as in a message that is sent. */
function linkOrButtons(shown: readonly Shown[]): Interactive {
  const [first] = shown;
  if (shown.length === 1 && first?.url) return { link: { title: first.title, url: first.url.slice(0, 2048) } };
  return { buttons: shown.map(({ id, title }) => ({ id, title })) };
}

const short = (text: Field<string>): string => (text ?? '').slice(0, TEXT_CHARACTERS);
const choiceOf = (id: Field<string>, title: Field<string>) => ({ id: short(id), title: short(title) });
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function interactive(
  body: Field<string>,
  {
    header,
    footer,
    buttons,
    list,
    link,
  }: { header?: Field<string>; footer?: Field<string> } & Omit<Interactive, 'header' | 'footer'>,
): Content {
  return {
    type: 'interactive',
    text: body || header || '',
    interactive: {
      ...(header && { header: short(header) }),
      ...(footer && { footer: short(footer) }),
      ...(buttons && { buttons: buttons.slice(0, BUTTONS) }),
      ...(list && { list }),
      ...(link && { link }),
    },
  };
}

/** The fields of a JSON object that somebody else wrote; none if it is no object. */
function fieldsOf(json: Field<string>): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json ?? '{}');
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
