import { STATUS_CODES } from 'node:http';
import { errors } from '../../server/src/errors.ts';
import type { Page } from './markdown.ts';
import type { OperationLine } from './openApi.ts';
import { addressOf } from './paths.ts';
import type { SearchDocument } from './searchDocument.ts';

const BACKGROUND = /^(?:decisions\/|performance$|migrating-)/;
const ABOUT_THE_CODE = /^(?:architecture|map-of-the-code|maintaining|glossary)$/;

/** Readers with a question about use rarely want notes, comparisons or the code. */
const weightOf = (path: string) => (BACKGROUND.test(path) ? 0.1 : ABOUT_THE_CODE.test(path) ? 0.5 : 1);

/**
 * Lists the sections of all pages, the operations and the errors. The browser builds its index from them, because the
 * index itself is twice as large, even compressed.
 */
export function searchDocuments(pages: readonly Page[], operations: readonly OperationLine[]): SearchDocument[] {
  return [
    ...pages.flatMap(({ path, title, sections }) =>
      sections.map(({ id, heading, keywords, text, level }) => ({
        id: level === 1 ? addressOf(path) : `${addressOf(path)}#${id}`,
        page: title,
        heading,
        text: text.replaceAll(/\s+/g, ' ').trim(),
        ...(keywords !== '' && { keywords }),
        weight: weightOf(path),
      })),
    ),
    ...operations.map(({ id, route, summary, description }) => ({
      id: `/docs#${id}`,
      page: 'API reference',
      heading: summary,
      text: `${route} ${description}`.replaceAll('`', ''),
      operation: id.replaceAll(/[._]/g, ' '),
    })),
    ...[...Map.groupBy(Object.values(errors), ([status]) => status)].map(([status, entries]) => ({
      id: `/docs/errors#status-${status}`,
      page: 'Errors',
      heading: `Error ${status} ${STATUS_CODES[status]}`,
      text: entries.map(([, title]) => title.replaceAll('`', '')).join('. '),
    })),
    ...Object.entries(errors).map(([code, [, title]]) => ({
      id: `/docs/errors#${code}`,
      page: 'Errors',
      heading: code,
      text: title.replaceAll('`', ''),
    })),
  ];
}
