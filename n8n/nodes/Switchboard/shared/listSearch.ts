import type { IDataObject, ILoadOptionsFunctions, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';
import { path, readPage } from './transport.ts';

/* The lists of resource locators. Each call returns one page, and n8n asks for the next with `paginationToken`. */

const LIMIT = 50;

async function pageOf(
  context: ILoadOptionsFunctions,
  path: string,
  query: IDataObject,
  toItem: (entry: IDataObject) => INodeListSearchItems,
): Promise<INodeListSearchResult> {
  const { data, nextCursor } = await readPage(context, { path, query: { ...query, limit: LIMIT } });
  return { results: data.map(toItem), ...(nextCursor !== null && { paginationToken: nextCursor }) };
}

const cursorOf = (token: string | undefined): IDataObject => (token === undefined ? {} : { cursor: token });
const filterOf = (filter: string | undefined): IDataObject => (filter ? { q: filter } : {});
const includes = (text: string, filter = ''): boolean => text.toLowerCase().includes(filter.toLowerCase());

/** The session that is chosen in the same node, so that lists show what it can use. */
function chosenSession(context: ILoadOptionsFunctions): string | undefined {
  const value = context.getCurrentNodeParameter('sessionId', { extractValue: true });
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function inSession(context: ILoadOptionsFunctions): IDataObject {
  const sessionId = chosenSession(context);
  return sessionId === undefined ? {} : { sessionId };
}

export async function searchSessions(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const { results, ...more } = await pageOf(this, '/sessions', cursorOf(paginationToken), (entry) => {
    const label = entry['name'] ?? entry['phoneNumber'] ?? entry['sessionId'];
    return { name: `${label} (${entry['status']})`, value: String(entry['sessionId']) };
  });
  return { results: results.filter(({ name, value }) => includes(`${name} ${value}`, filter)), ...more };
}

/** Lists recent chats, or searches contacts and groups. */
export async function searchChats(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  if (!filter) {
    return pageOf(this, '/chats', { ...inSession(this), ...cursorOf(paginationToken) }, ({ chatId, name }) => ({
      name: name ? `${name} (${chatId})` : String(chatId),
      value: String(chatId),
    }));
  }
  const query = { ...inSession(this), ...filterOf(filter) };
  const [contacts, groups] = await Promise.all([
    pageOf(this, '/contacts', query, ({ phoneNumber, name }) => ({
      name: name ? `${name} (${phoneNumber})` : String(phoneNumber),
      value: String(phoneNumber),
    })),
    pageOf(this, '/groups', query, toGroup),
  ]);
  return { results: [...contacts.results, ...groups.results] };
}

const toGroup = ({ groupId, subject }: IDataObject): INodeListSearchItems => ({
  name: String(subject),
  value: String(groupId),
});

export function searchGroups(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  return pageOf(this, '/groups', { ...inSession(this), ...filterOf(filter), ...cursorOf(paginationToken) }, toGroup);
}

export async function searchTemplates(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const sessionId = chosenSession(this);
  if (sessionId === undefined) return { results: [] };
  const { results, ...more } = await pageOf(
    this,
    path`/sessions/${sessionId}/templates`,
    cursorOf(paginationToken),
    ({ name, language }) => ({ name: `${name} (${language})`, value: String(name) }),
  );
  return { results: results.filter(({ name }) => includes(name, filter)), ...more };
}

export async function searchWebhooks(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const { results, ...more } = await pageOf(this, '/webhooks/endpoints', cursorOf(paginationToken), (entry) => {
    const label = entry['description'] ?? entry['webhookUrl'] ?? entry['webhookId'];
    return { name: `${label} (${entry['breakerState']})`, value: String(entry['webhookId']) };
  });
  return { results: results.filter(({ name, value }) => includes(`${name} ${value}`, filter)), ...more };
}
