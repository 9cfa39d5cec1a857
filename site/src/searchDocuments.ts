import { errors } from '../../server/src/errors.ts';
import type { Page } from './markdown.ts';
import type { OperationLine } from './openApi.ts';
import { addressOf } from './paths.ts';
import type { SearchDocument } from './searchDocument.ts';

/**
 * Lists the sections of all pages, the operations and the errors. The browser builds its index from them, because the
 * index itself is twice as large, even compressed.
 */
export function searchDocuments(pages: readonly Page[], operations: readonly OperationLine[]): SearchDocument[] {
  return [
    ...pages.flatMap(({ path, title, sections }) =>
      sections.map(({ id, heading, text, level }) => ({
        id: level === 1 ? addressOf(path) : `${addressOf(path)}#${id}`,
        page: title,
        heading,
        text: text.replaceAll(/\s+/g, ' ').trim(),
      })),
    ),
    ...operations.map(({ id, route, summary, description }) => ({
      id: `/docs#${id}`,
      page: 'API reference',
      heading: summary,
      text: `${route} ${description}`.replaceAll('`', ''),
    })),
    ...Object.entries(errors).map(([code, [, title]]) => ({
      id: `/docs/errors#${code}`,
      page: 'Errors',
      heading: code,
      text: title.replaceAll('`', ''),
    })),
  ];
}
