import type { Message } from '@switchboard/sdk/api';
import { messageStrings } from '../../strings/chats.ts';
import { Tag } from '../lamp.tsx';

/** The choices of a message: buttons, a list, a link, a request or products. The link cannot be followed. */
export function Choices({ message: { interactive } }: { readonly message: Message }) {
  if (interactive === undefined) return null;
  const titles = titlesOf(interactive);
  return (
    <>
      {titles.length > 0 && (
        <ul aria-label={messageStrings.kinds.interactive} className="grid gap-1">
          {titles.map((title) => (
            <li key={title} className="rounded-lg border border-line-strong px-2.5 py-1 text-center wrap-anywhere">
              {title}
            </li>
          ))}
        </ul>
      )}
      {typeof interactive['footer'] === 'string' && (
        <p className="text-xs wrap-anywhere text-ink-faint">{interactive['footer']}</p>
      )}
    </>
  );
}

/** The name and language of a template. */
export function Template({ message: { template } }: { readonly message: Message }) {
  if (template === undefined) return null;
  return (
    <p>
      {messageStrings.kinds.template} <Tag>{`${template.name} ${template.language}`}</Tag>
    </p>
  );
}

/** The API returns choices as they were sent, in one of seven formats. */
function titlesOf(interactive: Readonly<Record<string, unknown>>): string[] {
  const { buttons, list, link, request, product, products, catalog } = interactive;
  const { requests, viewCatalog } = messageStrings;
  if (typeof request === 'string' && Object.hasOwn(requests, request))
    return [requests[request as keyof typeof requests]];
  if (catalog !== undefined) return [viewCatalog];
  const rows = isFields(list) ? list['rows'] : undefined;
  const items = isFields(products) ? products['items'] : undefined;
  return [buttons, rows, [link], [product], items]
    .filter((choices) => Array.isArray(choices))
    .flat()
    .filter(isFields)
    .map(({ title, url, section, retailerId }) =>
      (retailerId === undefined ? [title, url] : [section, retailerId])
        .filter((part) => typeof part === 'string')
        .join(': '),
    );
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
